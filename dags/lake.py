"""The DAG that ends clusters which no run needs any more."""

from lake_airflow import build_reaper

globals().update(build_reaper())
