"""A full load by JDBC in the middle of the work, joined to a capture from before it.

The capture begins while work goes on and reads no row itself. Later each table is
pulled at a moment of its own, next to open transactions and further work; then it
takes its topic from the first event on, some tables a part of it before. Events from
before the load are replayed over rows that are newer, up to those that made them.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import Any, Dict, Iterator, List

from tests.loop.differences import differences
from tests.loop.kinds import comparable
from tests.loop.play import Loop, Size
from tests.loop.tables import DATABASE, LOADED_AT, Table
from tests.loop.workload import beside
from tests.spark.pulling import ConnectedLake, logging_in

BESIDE_START, BESIDE_LOAD = 30, 15
"""Steps of work next to the start of the capture, and next to each load."""

EARLY = 0.3
"""How many of the tables take changes before they are loaded."""

ATTEMPTS = 4
"""How often a load is begun that gives way to changes of its table."""


class SeamLoop(Loop):
    """A loop whose tables are loaded before the work of its middle phase."""

    has_load = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.root.mkdir(parents=True, exist_ok=True)
        secret = self.root / "database.json"
        self.connections[DATABASE] = logging_in(self.source.reader(), secret)
        self.since: Dict[str, int] = {}
        # What docs/sources/jdbc.md asks for until the load is there.
        self.work.moves_long_values = False

    @contextmanager
    def captured(self, size: Size) -> Iterator[None]:
        """Changes are captured until the block ends, beginning with one in between."""
        with ExitStack() as stack:
            with beside(self.work, BESIDE_START, settle=True):
                stack.enter_context(self.capture.running())
            yield

    def before_phase(self, phase: int, size: Size) -> None:
        if phase == size.phases // 2:
            for table in size.followed:
                self._load(table)
            self.work.moves_long_values = True

    def some_tables(self, size: Size) -> List[Table]:
        return super().some_tables(size) if self.lakes else []

    def _load(self, table: Table) -> None:
        place = f"{self.source.schema}.{table.name}"
        parallel = self.random.choice([1, 4])
        since = self.random.choice([LOADED_AT, self.source.now()])
        lake = self.follow(
            table,
            load_from=f"{{connection: {DATABASE}, table: {place}, parallel: {parallel}}}",
            load_effective_at=since.replace(microsecond=0),
        )
        if self.random.random() < EARLY:
            lake.done("incremental")
        with beside(self.work, BESIDE_LOAD):
            is_done = self._is_loaded(lake)
        for _ in range(1, ATTEMPTS):
            is_done = is_done or self._is_loaded(lake)
        assert is_done, f"{place}: not loaded, {ATTEMPTS} attempts"
        # A load knows no values of columns that are gone, and the audit does.
        self.source.shapes[table.name].begin()
        self.since[table.name] = comparable(self.source.now())

    @staticmethod
    def _is_loaded(lake: ConnectedLake) -> bool:
        """Load it; False if the pull broke off, as it does for changes of the table."""
        report = lake.run("full_load")
        if report.error is None:
            assert report.quarantined == 0, report.quarantined
            return True
        assert report.error["type"] == "PullFailed", report.error
        print(f"{lake.spec.source.load_from.table}: {report.error['message']}")
        return False

    def compare(self, table: Table) -> List[str]:
        """Current, and the history from the load on: what was before, no one knows."""
        lake, since = self.lakes[table.name], self.since[table.name]
        return differences(lake, self.source, table, 0, since)
