"""Whether two questions mean the same: each is brought into one form, and the forms are compared."""
