"""The Airflow DAGs of the file of this name in the current release: see current.json."""

from lake_current import dags_of

globals().update(dags_of(__file__))
