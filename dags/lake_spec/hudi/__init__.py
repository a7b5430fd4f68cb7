"""Hudi's options, and what follows from them: the only place that spells them."""
