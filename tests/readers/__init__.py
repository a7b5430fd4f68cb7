"""Tests of tables as engines without Hudi read them, in `.venv-readers`."""
