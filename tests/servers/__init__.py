"""Real servers for tests, each in a folder and on a free port of loopback."""
