"""Synthesis: from evidence and question to an answer, one module per family of modes, over any ChatModel."""
