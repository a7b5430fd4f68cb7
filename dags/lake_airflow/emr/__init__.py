"""Requests to EMR and its replies: requests, steps, clusters, logs."""
