"""Airflow on this machine, as MWAA would run it."""
