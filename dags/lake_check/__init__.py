"""Reads and judges specs: what a machine with Airflow or a desk does, and no step."""
