"""What is asked of EMR and what it says: requests, steps, clusters, logs."""
