"""The tasks of a run, and the reaper: create a cluster, submit stages, terminate it, report."""
