"""Measuring on labelled data, with the product's own functions: the ones a turn calls."""
