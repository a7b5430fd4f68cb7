"""Specs in the form of other standards, for tools that read these."""
