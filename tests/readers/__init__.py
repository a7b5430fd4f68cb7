"""Tests of tables as engines without Hudi read them.

`playing` makes tables in Spark's environment, `reading` reads them in `.venv-readers`.
"""
