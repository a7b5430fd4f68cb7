"""Rows of the lake for people and programs: a PySpark program and its frame."""
