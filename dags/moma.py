"""DAGs of the domain moma: see tables/moma."""

from lake_airflow import build_domain

globals().update(build_domain("moma"))
