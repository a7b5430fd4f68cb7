"""What a command works on: the checkout and its tools, the specs, the state directory.

Imports `lake_spec`, `errors` and psutil.
"""
