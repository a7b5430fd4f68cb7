"""Random histories in published tables, and what readers of each format find in them.

Hudi is the measure: at the newest commit and at each that is published, every reader must
find the columns, types and rows that Hudi finds as of that commit.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import Row

from lake_local.workspace import project
from lake_spark.storage.hudi_table import HudiTable, without_hudi_columns
from lake_spec.layout.published_tables import iceberg_location
from lake_spec.model import Maintenance, ReadableAs, TableType
from tests.oracle.playing import World
from tests.oracle.snapshots import SNAPSHOT_SPECS, SnapshotWorld
from tests.oracle.tables import SPECS
from tests.readers.same_text import row_texts

PROJECT = Path(__file__).resolve().parents[2]
LAYERS = ("changes", "current", "history")
NEWEST, LOGS, OWN_FILES = "newest", "log files", "duckdb hudi"
KEPT = Maintenance(compact_after=1, cluster_after=4, keep_commits=3)
"""So few that commits are cleaned, and leave what is published, while histories play."""

Found = List[Any]
"""The types of the columns, and the rows as sorted texts."""


@dataclass
class Outcome:
    """What differed, in words, and how many times a reader was compared."""

    differences: List[str] = field(default_factory=list)
    compared: int = 0
    commits: int = 0


def worlds(histories: int, seed: int, shared: int) -> Iterator[Any]:
    """Yield tables of random histories, feeds and snapshots in turn."""
    kinds = [(World, name) for name in SPECS]
    kinds += [(SnapshotWorld, name) for name in SNAPSHOT_SPECS]
    starts = range(0, histories, shared)
    for number, start in enumerate(starts):
        kind, name = kinds[number % len(kinds)]
        yield kind(name, seed, range(start, min(start + shared, histories)))


def play(spark: SparkSession, root: Path, world: Any, kind: TableType) -> Outcome:
    """Play a world in a published table; compare after its runs and after a reprocess."""
    played = world.play(spark, root, kind)
    lake = played.lake
    storage = replace(lake.spec.storage, readable_as=tuple(ReadableAs))
    lake.spec = replace(lake.spec, storage=storage, maintenance=KEPT)
    lake.domain = (lake.spec,)
    outcome = Outcome()
    wrong = played.mismatches()
    compare(spark, lake, outcome)
    wrong.update(played.reprocess())
    compare(spark, lake, outcome)
    outcome.differences += [f"history {n} {text}" for n, text in wrong.items()]
    return outcome


def compare(spark: SparkSession, lake: Any, outcome: Outcome) -> None:
    """Compare every reader with Hudi at every published commit."""
    run = lake.tables
    tables = {e: run.table(e) for e in LAYERS if run.table(e).has_data()}
    answers = read([table.path for table in tables.values()])
    for layer, table in tables.items():
        found = answers[table.path]
        own = found.pop(OWN_FILES)[NEWEST]
        found["spark iceberg"] = spark_iceberg(spark, table.path)
        outcome.differences += _of_commits(layer, table, found, lake)
        instants = sorted({i for each in found.values() for i in each} - {NEWEST})
        outcome.commits += len(instants)
        outcome.differences += _of_own_files(spark, layer, table, own, instants)
        outcome.compared += 1
        wanted = {each: _wanted(spark, table, each, found) for each in instants}
        wanted[NEWEST] = wanted[instants[-1]] if instants else None
        for reader, at in found.items():
            for instant, rows in at.items():
                outcome.compared += 1
                told = difference(*seen_by(reader, rows, wanted[instant]))
                if told:
                    where = f"{layer}, {reader}, commit {instant}"
                    outcome.differences.append(f"{where}: {told}")


def _of_own_files(
    spark: SparkSession, layer: str, table: HudiTable, own: Any, instants: Sequence[str]
) -> Iterator[str]:
    """Yield what DuckDB finds otherwise than Hudi in a table's own files.

    It finds LOGS where the newest commit is none that is published, for log files have it.
    """
    newest = max(each.instant for each in table.commits())
    if own == LOGS and newest not in instants:
        return
    told = difference(own, as_of(spark, table, newest))
    if told:
        yield f"{layer}, {OWN_FILES}, commit {newest}: {told}"


def _wanted(
    spark: SparkSession, table: HudiTable, instant: str, found: Dict[str, Any]
) -> Found:
    """Return what Hudi finds as of a commit.

    One compaction older than those that Hudi still reads is published as long as its
    files are the newest of a commit that is kept: there all readers must agree.
    """
    if table.keeps(instant):
        return as_of(spark, table, instant)
    return next(iter(found.values()))[instant]


def _of_commits(
    layer: str, table: HudiTable, found: Dict[str, Dict[str, Found]], lake: Any
) -> Iterator[str]:
    """Yield what is wrong with the commits that the formats offer."""
    committed = sorted(each.instant for each in table.commits())
    offered = {reader: sorted(set(at) - {NEWEST}) for reader, at in found.items()}
    first = next(iter(offered.values()))
    for reader, instants in offered.items():
        if instants != first or not set(instants) <= set(committed):
            yield f"{layer}, {reader}: offers {instants}, Hudi has {committed}"
    is_whole = layer == "changes" or lake.spec.storage.type is TableType.COPY_ON_WRITE
    if is_whole and first[-1:] != committed[-1:]:
        yield f"{layer}: offers {first}, the newest commit is {committed[-1]}"


def seen_by(reader: str, *found: Any) -> Sequence[Any]:
    """Return what was found without what a reader cannot show.

    pyiceberg 0.12 shows an empty list where a list of structs is null.
    """
    return [_without_empty(each) for each in found] if reader == "pyiceberg" else found


def _without_empty(found: Any) -> Any:
    """Return the rows without their empty lists of structs, as if these were null."""
    if found is None or isinstance(found, str):
        return found
    types, texts = found
    lists = {name for name, kind in types.items() if kind.startswith("array<struct<")}
    rows = [json.loads(text) for text in texts] if lists else []
    for row in rows:
        for name in lists.intersection(row):
            if row[name] == []:
                del row[name]
    kept = [json.dumps(row, sort_keys=True) for row in rows]
    return [types, sorted(kept) if lists else texts]


def difference(found: Any, wanted: Optional[Found]) -> str:
    """Return in words what differs; nothing where columns, types and rows are equal."""
    if wanted is None or isinstance(found, str):
        return str(found)
    if found[0] != wanted[0]:
        return f"columns {found[0]}, in Hudi {wanted[0]}"
    if found[1] == wanted[1]:
        return ""
    surplus = [each for each in found[1] if each not in wanted[1]]
    lacking = [each for each in wanted[1] if each not in found[1]]
    counts = f"{len(found[1])} rows, in Hudi {len(wanted[1])}"
    return f"{counts}; not in Hudi: {surplus[:2]}; lacking: {lacking[:2]}"


def as_of(spark: SparkSession, table: HudiTable, instant: str) -> Found:
    """Return what Hudi finds as of a commit."""
    reader = spark.read.format("hudi").option("as.of.instant", instant)
    return of_spark(reader.load(table.path))


def spark_iceberg(spark: SparkSession, path: str) -> Dict[str, Found]:
    """Return what Spark finds through Iceberg's own library, by commit."""
    path = iceberg_location(path)
    folder = Path(path[len("file://") :]) / "metadata"
    version = (folder / "version-hint.text").read_text(encoding="utf-8").strip()
    file = folder / f"v{version}.metadata.json"
    snapshots = json.loads(file.read_text(encoding="utf-8"))["snapshots"]
    found = {NEWEST: of_spark(spark.read.format("iceberg").load(path))}
    for each in snapshots:
        reader = spark.read.format("iceberg").option("snapshot-id", each["snapshot-id"])
        found[each["summary"]["lake.hudi-instant"]] = of_spark(reader.load(path))
    return found


def of_spark(rows: DataFrame) -> Found:
    """Return types and rows of a data frame, without Hudi's own columns."""
    rows = without_hudi_columns(rows)
    types = {each.name: each.dataType.simpleString() for each in rows.schema}
    instants = [name for name, kind in types.items() if kind == "timestamp"]
    shown = [
        F.unix_micros(name).alias(name) if name in instants else F.col(name)
        for name in types
    ]
    listed = [[_plain(value) for value in row] for row in rows.select(shown).collect()]
    return [types, row_texts(list(types), listed)]


def _plain(value: Any) -> Any:
    """Return a value of Spark as readers of Arrow have it."""
    if isinstance(value, Row):
        return {name: _plain(each) for name, each in value.asDict().items()}
    if isinstance(value, dict):
        return [(_plain(k), _plain(v)) for k, v in value.items()]
    return [_plain(each) for each in value] if isinstance(value, list) else value


def read(paths: Sequence[str]) -> Dict[str, Dict[str, Dict[str, Found]]]:
    """Return what the readers of `.venv-readers` find, by path, reader and commit."""
    return _answer("reading", paths)


def described(paths: Sequence[str]) -> Dict[str, Dict[str, Any]]:
    """Return the descriptions of table and columns, by path and reader."""
    return _answer("describing", paths)


def _answer(program: str, paths: Sequence[str]) -> Dict[str, Dict[str, Any]]:
    python = project.find().readers_python
    assert python.exists(), f"no {python}: run ./setup.sh --only readers"
    with tempfile.TemporaryDirectory(prefix="lake-readers-") as folder:
        asked, answer = Path(folder) / "paths.json", Path(folder) / "answer.json"
        asked.write_text(json.dumps(list(paths)), encoding="utf-8")
        subprocess.run(
            [str(python), "-m", f"tests.readers.{program}", str(asked), str(answer)],
            cwd=PROJECT,
            env={"PYTHONPATH": "dags:emulator:local:.", "TZ": "UTC"},
            check=True,
        )
        return json.loads(answer.read_text(encoding="utf-8"))
