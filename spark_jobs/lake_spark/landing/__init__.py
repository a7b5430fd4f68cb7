"""Which landing files there are, and which a table has ingested."""
