"""Retrieval: embedders and hybrid search over any index."""
