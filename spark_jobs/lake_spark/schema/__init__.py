"""Types and values: how they are read, widened and compared, as SQL."""
