"""Current and history as pure functions of a key's events: contract section 3."""
