"""What Airflow and Spark agree on: keys of runs, leases, reports, folders, formats."""
