"""The command line of the lake on this machine."""
