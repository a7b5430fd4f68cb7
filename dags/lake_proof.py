"""The DAG whose runs prove a release that was deployed: no other work hangs on it."""

from lake_airflow import build_proof

globals().update(build_proof())
