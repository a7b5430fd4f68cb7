"""Rows of tables, now or at another time: the PySpark program behind `show`.

Imports pyspark, `lake_spec` and `text`: it runs in Spark's environment, not in Airflow's.
"""
