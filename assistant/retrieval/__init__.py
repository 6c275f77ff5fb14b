"""Hybrid search over the knowledge base: embedders, indexes and their fusion."""
