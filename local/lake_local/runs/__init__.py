"""DAG runs of the state directory: their release, their start, their end, their logs.

Imports `stack` and what stands below it.
"""
