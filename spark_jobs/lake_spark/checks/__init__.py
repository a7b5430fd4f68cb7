"""Checks of whole tables: measured before a commit, judged, and kept as rows."""
