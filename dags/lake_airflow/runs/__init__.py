"""One DAG run: what it was asked for, its files on S3, what its tasks hand on."""
