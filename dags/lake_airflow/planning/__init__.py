"""What the DAGs of a domain do, as plain data: no Airflow in the plan."""
