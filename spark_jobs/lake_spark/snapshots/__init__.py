"""Full copies of a table: which they are, whether they are whole, what they change."""
