"""A chat assistant that grounds every turn in the company's own documents."""

__version__ = "0.1.0"
