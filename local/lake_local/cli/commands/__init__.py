"""One module per command: its name, its words, its arguments, its deed."""
