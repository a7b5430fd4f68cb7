"""Landing files into the change log: exactly once, fully accounted."""
