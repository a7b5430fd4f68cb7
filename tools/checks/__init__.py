"""The tests of this checkout: which commands each choice of them runs, and running these."""
