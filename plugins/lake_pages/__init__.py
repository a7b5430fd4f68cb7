"""The lake's pages in Airflow: state of all tables, runs, and the site, read from S3."""
