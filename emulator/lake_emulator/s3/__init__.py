"""Objects of S3: bytes in files, an index in SQLite, S3's answers over HTTP.

Imports the standard library and nothing else of the emulator.
"""
