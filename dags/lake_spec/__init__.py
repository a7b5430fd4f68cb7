"""Table specs: what they say, how they are read, and what is wrong with them."""
