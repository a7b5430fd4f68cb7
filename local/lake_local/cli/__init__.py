"""The command line: its commands, options and help.

Imports every folder of `lake_local` but no module of `show` that needs Spark.
"""
