"""Random second snapshots after a valid first one: what stands then, and what may be deleted.

Each file is the second snapshot of a scope of its own, which the path names. Refused, it
leaves the scope's rows as they are. Ingested, each good record is the row of its key, and
a key that it lacks is gone, but where a record was bad: that may have been the key's. A key
whose records differ stays as it was.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, Dict, List, Optional, Tuple

from pyspark.sql import SparkSession

from tests.fuzz.comparison import same, says_what
from tests.fuzz.files import (
    COLUMNS,
    File,
    csv_text,
    random_file,
    random_names,
    random_rows,
)
from tests.fuzz.judge import ANY, Record, Table, Verdict, judge
from tests.fuzz.outcome import Outcome, failed_as_a_whole, plain
from tests.spark.lake import Lake, table

NAMES = [name for name in COLUMNS if name != "at"]
READS = Table("csv", {name: COLUMNS[name] for name in NAMES}, ("id",), null_text=("",))
KEYS = 14
"""How many keys the first snapshot of each scope has."""

Rows = Dict[int, Tuple[Any, ...]]


class Snapshots:
    """A table of snapshots, one scope for each random file."""

    name = "csv-snapshots"

    @property
    def spec(self):
        """The table's spec."""
        columns = "\n".join(f'  {name}: "{COLUMNS[name]}"' for name in NAMES)
        return table(f"""
source:
  kind: snapshot
  path: tests/things
  files: "**"
  format: {{type: csv, null_text: [""]}}
  snapshot_time: {{pattern: '/(\\d{{4}}-\\d{{2}}-\\d{{2}})'}}
  scope: {{column: region, pattern: '^region-(\\d+)/'}}
  new_columns: ignore
columns:
  region: string
{columns}
key: [region, id]
quarantine: {{max_share: 1.0}}
storage: {{buckets: 1}}
""")

    def play(
        self, spark: SparkSession, root: Path, seed: int, numbers: range
    ) -> Outcome:
        """Load the first snapshots, land the second ones, compare, remove, run again."""
        outcome = Outcome()
        lake = Lake(spark, root / "all", self.spec)
        firsts, files = {}, {}
        for number in numbers:
            random = Random(f"{seed}/{number}")
            first, files[number] = _first(random), _second(random)
            lake.land(f"region-{number}/2026-01-01.csv", first)
            verdict = judge(READS, "first.csv", first)
            firsts[number] = {
                each.row[0]: each.row for each in verdict.records if each.row
            }
        lake.done("full_load")
        for number, file in files.items():
            lake.land(f"region-{number}/2026-01-02{file.ending}", file.content)
        report = lake.run("incremental")
        if failed_as_a_whole(report):
            outcome.poisoned[numbers[0]] = f"the whole run fails: {report.error}"
            return outcome
        refused = {each["path"]: each["reason"] for each in report.set_aside}
        current = _by_region(lake)
        for number, file in files.items():
            reason = refused.get(f"region-{number}/2026-01-02{file.ending}")
            found = current.get(number, {})
            words = difference(file.verdict, firsts[number], found, reason)
            if words:
                outcome.wrong[number] = f"({file.made}): {words}"
        for path in refused:
            lake.remove(path)
        for stage in ("incremental", "scd2"):
            again = lake.run(stage)
            words = again.error or _changed(current, _by_region(lake))
            if words:
                words = f"{stage} after the bad files were removed: {words}"
                outcome.poisoned[numbers[0]] = words
        verified = lake.verify()
        if verified.error:
            outcome.wrong[numbers[0]] = f"verify: {verified.error}"
        return outcome


def _first(random: Random) -> bytes:
    rows = random_rows(random, 1, READS)
    while len(rows) < KEYS:
        rows += random_rows(random, len(rows) + 1, READS)
    return csv_text(random, rows[:KEYS], NAMES, ",").encode()


def _second(random: Random) -> File:
    """Half of them keep most keys, others lose some, many or all."""
    lost = random.choice((0, 0, 0, 1, 3, 7, 8, KEYS))
    keys = random.sample(range(1, KEYS + 1), KEYS - lost)
    file = random_file(random, 1, READS, random_names(random, NAMES), keys)
    return replace(file, verdict=judge(READS, "x" + file.ending, file.content))


def _by_region(lake: Lake) -> Dict[int, Rows]:
    found: Dict[int, Rows] = defaultdict(dict)
    for row in lake.current.select("region", *NAMES).collect():
        found[int(row[0])][row[1]] = tuple(map(plain, row[1:]))
    return found


def _changed(before: Dict[int, Rows], after: Dict[int, Rows]) -> str:
    """What a run that had nothing to do changed, in words; '' if it changed nothing."""
    for region in sorted(before.keys() | after.keys()):
        one, other = before.get(region, {}), after.get(region, {})
        if not _same_rows(one, other):
            return f"region {region} was {one!r:.400} and is {other!r:.400}"
    return ""


def difference(
    verdict: Verdict, first: Rows, found: Rows, refused: Optional[str]
) -> str:
    """What is wrong with the scope's rows, in words; '' if they are right."""
    rows = [each for each in verdict.records if each.row is not None]
    good = {each.row[0]: each for each in rows if each.row[0] is not ANY}
    # A key about which the contract does not decide may be any key, or bad.
    any_key = any(each.row[0] is ANY for each in rows)
    bad = any_key or any(each.row is None or each.either for each in verdict.records)
    lost = [key for key in first if key not in good]
    loses_too_much = 2 * len(lost) > len(first)
    if refused:
        if not _same_rows(first, found):
            return f"refused ({refused}), and the rows changed"
        may = verdict.must_refuse or verdict.may_refuse
        may = may or any_key or not good or (lost and (bad or loses_too_much))
        right = may and says_what(refused)
        return "" if right else f"refused: {refused[:300]}"
    must = verdict.must_refuse or ("" if verdict.records else "it has no record")
    if not bad and loses_too_much:
        must = must or f"{len(lost)} of {len(first)} keys are lost"
    if must:
        return f"not refused, but {must}"
    known = found if not any_key else {k: v for k, v in found.items() if k in good}
    return _rows_differ(good, first, known, bad, _torn(rows))


def _torn(rows: List[Record]) -> Dict[int, bool]:
    """Keys with good records that differ, and whether the contract decides that they do."""
    told: Dict[int, List[Record]] = defaultdict(list)
    for each in rows:
        if each.row[0] is not ANY:
            told[each.row[0]].append(each)
    return {
        key: not any(each.either or any(v is ANY for v in each.row) for each in records)
        for key, records in told.items()
        if any(not same(records[0].row, each.row) for each in records[1:])
    }


def _rows_differ(
    good: Dict[int, Any], first: Rows, found: Rows, bad: bool, torn: Dict[int, bool]
) -> str:
    """The scope's rows after an ingested snapshot; a bad record may be any key's."""
    for key, record in good.items():
        is_before = found.get(key) == first.get(key)
        if torn.get(key) and not is_before:
            return f"key {key} has records that differ, and is {found.get(key)!r}"[:600]
        kept = is_before and (record.either or bad or key in torn)
        if not kept and not (key in found and same(record.row, found[key])):
            return f"key {key} is {record.row!r}, in the lake {found.get(key)!r}"[:600]
    for key in found.keys() - good.keys():
        if not bad:
            return f"key {key} is lost and still there"
        if found[key] != first.get(key):
            return f"key {key} comes from nowhere: {found[key]!r}"[:600]
    return ""


def _same_rows(one: Rows, other: Rows) -> bool:
    return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
