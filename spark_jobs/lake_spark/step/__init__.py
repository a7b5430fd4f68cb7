"""One EMR step: what it is asked for, its tables side by side, its report."""
