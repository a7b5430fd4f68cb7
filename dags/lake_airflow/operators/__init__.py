"""The tasks of a run, and the reaper: create a cluster, submit stages, end it, tell."""
