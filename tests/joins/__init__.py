"""Random pairs of histories and facts, joined by products, against an oracle."""
