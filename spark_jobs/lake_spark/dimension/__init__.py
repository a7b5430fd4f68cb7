"""Two histories joined into one: versions of the pairs of their rows."""
