"""Rows of tables, now or at another time: the programs behind `show`.

`query` reads by Spark with Hudi, in Spark's environment; `readers` reads what is
published next to Hudi, in the environment of `.venv-readers`.
"""
