"""Planted faults of data, which rules and checks must find, and clean runs without alarm."""
