"""Proves a deployment: one cluster, real steps on three small tables, and what they left.

`python infra/acceptance.py ENVIRONMENT` asks, does it, and removes what it made.
"""
