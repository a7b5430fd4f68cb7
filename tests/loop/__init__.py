"""Random work on real databases, captured into a lake and compared with them."""
