"""One EMR step: what it is asked for, its tables one beside the other, its report."""
