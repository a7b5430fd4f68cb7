"""The command line: what can be asked, and what `--help` says.

Imports every folder of `lake_local` but no module of `show` that needs Spark.
"""
