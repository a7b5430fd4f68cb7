"""Parsing and quoting of texts: SQL, times, globs, regular expressions, schedules."""
