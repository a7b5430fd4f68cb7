"""Costs of runs: estimates, the ledger, prices."""
