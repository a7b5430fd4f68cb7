"""Costs of runs: the ledger, prices."""
