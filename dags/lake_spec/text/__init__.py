"""What texts mean: SQL, times, globs, regular expressions, schedules."""
