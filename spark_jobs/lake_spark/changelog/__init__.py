"""The change log: its columns, the table's versions of them, and retracted files."""
