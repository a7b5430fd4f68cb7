"""Contract of Airflow and Spark: run keys, leases, reports, folders, formats."""
