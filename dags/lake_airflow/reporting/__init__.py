"""The output of a run: its reports, summary, messages and costs."""
