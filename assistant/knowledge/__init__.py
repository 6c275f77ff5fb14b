"""Documents in: parsers, chunking, metadata, incremental sync. Knows nothing of stores but their protocol."""
