"""One module per command: its name, its help, its arguments, what it does.

Imports `onboard`, `runs`, `stack` and what stands below them; of `cli` only `query`.
"""
