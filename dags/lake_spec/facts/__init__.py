"""What follows from specs, for all who need it."""
