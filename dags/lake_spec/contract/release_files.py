"""Names of a release's files that steps are made of: docs/architecture.md."""

CODE = "lake.zip"
"""The packages lake_spark and lake_spec."""

PACKAGES = "boto3.zip"
"""boto3 and what it needs: no document of AWS says that a node has them."""

MAIN = "main.py"
"""The program of every step."""
