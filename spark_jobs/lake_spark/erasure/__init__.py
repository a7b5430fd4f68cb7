"""A subject's key leaves everything that a table keeps: contract section 8."""
