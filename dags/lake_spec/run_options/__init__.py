"""What a run can be asked for: forms of DAGs, checks and arguments of steps, declared once."""
