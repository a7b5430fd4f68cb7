"""One EMR step: what it is asked for, its tables one next to the other, its report."""
