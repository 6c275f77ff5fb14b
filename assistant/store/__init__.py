"""Everything that is kept: conversations, events, documents and the search indexes, in SQLite or PostgreSQL."""
