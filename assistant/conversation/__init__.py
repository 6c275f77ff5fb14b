"""The conversation: the sequence of a turn, live turns, and standalone questions."""
