"""Continuous runs over the tables of a lake, played round by round."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List, Sequence

from lake_spec.model import TableSpec
from lake_spec.state.report import Report
from lake_spark.step.continuous import MicroBatches
from lake_spark.storage.object_store import FolderStore
from lake_spark.tables.table_run import TableRun
from tests.spark.lake import environment_in

RUN = "tests_continuous/1"


class Batches(MicroBatches):
    """The rounds of one continuous run below a folder; a number is counted for each."""

    def __init__(
        self, spark: Any, root: Path, tables: Sequence[TableSpec], **more: Any
    ) -> None:
        self.root, self.number = root, 0
        environment = environment_in(root)

        def table_run(spec: TableSpec) -> TableRun:
            report = Report(RUN, "test", "tests", spec.name, "continuous", "pyspark")
            return TableRun(
                *(spark, FolderStore(), spec, environment, report),
                domain_tables=tuple(tables),
                **more,
            )

        super().__init__(tables, table_run, at_once=2)

    def next_round(self) -> "str | None":
        """Play the next round; why there must be no other one."""
        self.number += 1
        return self.round(self.number)

    def reports(self) -> Dict[str, Report]:
        """The reports so far, by table."""
        return {each.spec.name: each.rounds.report for each in self._tables}

    def ended(self) -> List[Report]:
        """The reports of the run that ends here."""
        for each in self._tables:
            each.rounds.end()
        return list(self.reports().values())

    def told(self, table: str) -> str:
        """The report of a table as it stands next to the run."""
        return (self.root / "runs" / RUN / "continuous" / f"{table}.json").read_text()


def ask_to_stop(root: Path) -> None:
    """What another run of the domain does that waits for this one."""
    stop = root / "runs" / RUN / "stop"
    stop.parent.mkdir(parents=True, exist_ok=True)
    stop.write_text('{\n "by": "tests_reprocess/2"\n}')
