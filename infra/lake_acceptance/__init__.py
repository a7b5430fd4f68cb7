"""Proves a deployment: one cluster, real steps on three small tables, and what they left.

`./run_locally.sh acceptance ENVIRONMENT` asks, does it, and removes what it made.
"""

import os

# Airflow's own words about its connections are no part of the report.
os.environ.setdefault("AIRFLOW__LOGGING__LOGGING_LEVEL", "ERROR")
