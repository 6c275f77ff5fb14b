"""Language models and what answers like one; each vendor behind one module."""
