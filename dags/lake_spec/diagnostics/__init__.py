"""What is wrong, where, and what to do."""
