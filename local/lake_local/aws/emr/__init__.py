"""EMR that runs its steps: clusters in memory and on disk, steps as processes."""
