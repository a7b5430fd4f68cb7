"""The report of a table as an object of its run, for everyone who may see runs."""

from __future__ import annotations

from lake_spec.state.report import Report
from lake_spark.tables import whole_messages
from lake_spark.tables.table_run import TableRun


def put_report(run: TableRun, report: Report) -> None:
    """Put the report, and before it what it leaves out of a guarded table."""
    whole_messages.put(run, report)
    uri = report.uri(run.environment.runs)
    run.store.write(uri, report.to_json().encode())
