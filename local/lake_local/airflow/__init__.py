"""Airflow on this machine, as MWAA would run it: its settings, processes, REST interface.

Imports `workspace` and what stands below it; Airflow itself is reached over HTTP and argv.
"""
