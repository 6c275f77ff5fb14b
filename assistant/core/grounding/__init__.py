"""How a sentence is tied to evidence: alignment, figures, denial, verdicts; what citations are made of."""
