"""One table in one stage: its places, its settings, its erased keys, its catalogue entry."""
