"""Table specs out of what a source says of itself: a database's catalogue, or files."""
