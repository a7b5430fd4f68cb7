"""Profiles of tables: what the columns of current have, measured in two passes."""
