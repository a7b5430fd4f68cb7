"""What a command needs up: the emulator and Airflow, started, locked, found and stopped.

Imports `airflow`, `aws`, `workspace` and what stands below them.
"""
