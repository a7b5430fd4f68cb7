"""Table specs: what they say, how they are read, and what is wrong with them."""

VERSION = "0.1.0"
"""The project's version: of `--version`, of releases and of the changelog."""
