"""Who ends a step or cluster is noted once, out of the folders that hold reports."""

from __future__ import annotations

from lake_airflow.runs.ends import Ends
from lake_airflow.runs.files import RunFiles
from tests.unit.lake_airflow.specs import ENVIRONMENT

RUN = "sales_incremental/manual-1"


def test_the_first_note_of_each_stays(aws):
    ends = Ends(ENVIRONMENT, RUN, aws_conn_id=None)
    ends.note("s-1", by="scd2", why="it was late.")
    ends.note("s-1", "s-2", by="lake_reaper", why="it was old.")
    assert ends.why("s-1").startswith("Ended by scd2 at ")
    assert ends.why("s-9", "s-2").endswith(": it was old.")
    assert ends.why("s-9") is None


def test_no_note_lies_where_reports_are_looked_for(aws):
    Ends(ENVIRONMENT, RUN, aws_conn_id=None).note("j-1", by="lake_reaper", why="old")
    (name,) = RunFiles(ENVIRONMENT, RUN, aws_conn_id=None).names()
    assert name == "ended_j-1.json"
