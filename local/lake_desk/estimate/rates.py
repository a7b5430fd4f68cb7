"""What an estimate rests on: each constant with its unit and where it comes from.

"Result" is one of benchmarks/results/calibration.json, "decision" one of docs/decisions. What
says "assumed" was not measured. docs/estimates.md explains how each was derived.
"""

from __future__ import annotations

MILLION = 1_000_000
MIB = 1024 * 1024

# Seconds of a stage, whatever the table: results 3 and 4, by the lines through them.
FIXED_INGEST = 2.4
FIXED_HISTORY = 2.5

# Core seconds for a million rows.
SCAN = 0.8  # of the log, looked through for affected keys: results 4 and 5
FOLD = 114.0  # deliveries, sorted and folded: results 4 and 5, 2,000 and 10,000 keys
LOAD = 27.0  # keys with one delivery into log and current: docs/estimates.md
LOAD_HISTORY = 15.0  # the same into history
WRITE = 4.6  # the part of either that writes files, as Parquet's of result 1: assumed
REWRITE = 11.6  # read, merged and written again: result 9, 23 s for two such tables

# Bytes. Listed of a lake of the generator's rows: docs/estimates.md.
ROW_BYTES = 84.0  # a row in current and in the log, zstd
VERSION_BYTES = 19.0  # a row of history takes so many more
FOOTER = 9_000  # a Parquet file's schema and statistics of columns
APPENDED = 3.8  # a row in a log file of a bucket, against one in Parquet
LEFT = 2.0  # a delivery that is left for history, against a row
READ_AGAIN = 2.3  # how often what was left is read by a stage: result 3
READ_LOG = 0.93  # bytes read of the log for each that it has: results 2 and 3a

# Requests and objects. Listed, or as the code writes them.
TIMELINE = 3  # of a commit: requested, inflight, completed
NEW_TABLE = 2  # the table's properties and the mark of its partition
TOLD = 2  # the list of inputs and the report
MARKER = 1  # of a file that is written; assumed: so many for Spark's own, renamed
GETS_OF_FILE = 2  # assumed: its footer, its columns
PART = 64 * MIB  # assumed: of a multipart upload
SPLIT, LEAST_SPLIT = 128 * MIB, 4 * MIB  # of what Spark reads: its defaults

LATENCY = 0.1  # assumed, seconds: AWS states 0.1 to 0.2 for small objects
MOST_LEFT = 200_000  # keys whose deliveries are left: MOST_KEYS of affected_keys.py

START = 9 * 60 + 2 * 30
"""Seconds of a run outside its stages, as in docs/cost.md: its cluster, and an"""
