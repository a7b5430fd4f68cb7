"""Column lineage: the columns that each column's values come from, from specs alone."""
