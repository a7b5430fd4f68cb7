"""Many runs of small tables in one application, measured and compared with the oracle."""
