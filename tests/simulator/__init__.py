"""Runs of the DAGs' own operators in a simulated Airflow and EMR, with faults."""
