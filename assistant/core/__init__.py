"""The pure core: values in, values out. No clock, no randomness, no input or output, no async."""
