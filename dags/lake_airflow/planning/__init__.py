"""The plans of a domain's DAGs, as plain data without Airflow."""
