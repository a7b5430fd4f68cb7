"""EMR that runs its steps: clusters in memory and on disk, steps as processes.

Imports `s3`, `runtimes` and `faults` of the emulator, and botocore's model of EMR.
"""
