"""Current and history, brought up to the change log: only the keys that it touched."""
