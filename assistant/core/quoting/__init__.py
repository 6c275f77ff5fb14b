"""How a question is answered by quotation alone: blocks, relevance, composition; what the extractive model says."""
