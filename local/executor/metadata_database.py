"""How Airflow on this machine connects to its SQLite database."""

CONNECT_ARGS = {"timeout": 60}  # seconds
"""Writers wait for each other: after the default of 5 s, a busy machine answers marks and
deletions in Airflow's pages with "Database error". Airflow itself asks for a write-ahead
log, so readers wait for nobody."""

CONNECT_ARGS_ASYNC = dict(CONNECT_ARGS)  # Airflow adds to the other one
