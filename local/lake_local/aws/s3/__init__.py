"""S3 objects on disk: a small index in SQLite, the bytes as plain files."""
