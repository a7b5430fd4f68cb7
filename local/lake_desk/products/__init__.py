"""Products compiled at a desk: their SQL checked against specs, and made into plans."""
