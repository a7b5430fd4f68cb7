"""What sets this checkout up and checks it, for setup.sh and run_tests_locally.sh.

It runs before anything is installed: Python 3.11 or newer, and its standard library alone.
"""
