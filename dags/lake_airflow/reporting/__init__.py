"""What a run tells: its reports, its summary, its messages, its costs."""
