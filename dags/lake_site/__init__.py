"""The lake's site: static pages of domains, tables, columns and runs.

`render` is pure: specs, summaries of runs and ledger entries in, files by path out.
`collect` reads these from S3 or a folder, `write` puts the files there.
"""
