"""The inputs of tests/found: landing files lead to the rows, or the message, that stand there."""

from __future__ import annotations

import json
import shutil
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Dict, List

import pytest
from pyspark.sql import DataFrame, Row

from lake_spec.state.report import Report
from lake_check.parsing.loader import load_domain
from tests.kinds import some_by_day
from tests.spark.lake import DOMAIN, Lake

FOUND = Path(__file__).resolve().parents[2] / "found"
NAMES = sorted(each.parent.name for each in FOUND.glob("*/things.yml"))
AT_NIGHT = set("""
A1 A1b A2 A2t A3 A3-both A3-manifest A3-marker A3-two-parts-of-a-number A3f-parts A5
A5-all-lost A5-declared A5-first A5j A6 A6i B1-is_current B1-valid_from B1-version_key
B2-lake_2_note B2-lake_key B2-lake_seen B3-map-keys B4 E-big E-bz2 E-dup-json E-half E-nanos
E-time E-trunc E-utf16 N1-two-json N10-numbers N11-partition-value N12-empty-parquet
N13-binary-as-text N2-double-name N3-date N4-nested-text N6-readd N8-header N_empty
U1-record-index-keys absent-fields bug_01 bug_02 bug_03 bug_04 bug_05 bug_06 bug_07 bug_08
bug_09 bug_10 bug_11 bug_12 bug_13 bug_14 bug_15 bug_16 checksum-of-gzip checksum-of-zstd
codec-brotli compressed-as-xz csv-empty-or-null csv-escape deletes-told-by-a-column
encoding-byte-stream-split encoding-byte-stream-split-of-numbers gzip-without-ending
json-array json-over-lines key-changed-in-place map-by-path map-in-envelope null-type-nested
null-type-parquet offset-coded offset-in-name payload-null repeated-keys repeated-keys-later
variant-parquet zstd-long-window zstd-skippable-frame zstd-skippable-frame-behind
""".split())
"""Cases of a kind that another case shows by day, or that tests of its reader alone do."""
assert AT_NIGHT < set(NAMES)


@pytest.mark.parametrize("name", some_by_day(NAMES, set(NAMES) - AT_NIGHT))
def test_an_input_leads_to_the_rows_or_the_message_that_stand_there(
    spark, tmp_path, name
):
    case = FOUND / name
    expected = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    lake = lake_of(spark, tmp_path, case)
    reports = play(lake, case)

    refused = expected.get("refused", [])
    failed = [each for each in reports if each.error]
    assert bool(failed) == bool(refused), [words_of(each) for each in failed]
    if refused:
        assert any(
            all(piece in words for piece in refused)
            for each in failed
            for words in words_of(each)
        ), [words_of(each) for each in failed]
    compare(lake, expected, reports)
    if failed:
        recovered = remove_refused_and_run_again(lake, failed)
        assert not any(each.error for each in recovered), recovered
        compare(lake, {**expected, **expected.get("recovered", {})}, reports)


def lake_of(spark, root: Path, case: Path) -> Lake:
    """A lake of the case's table, nothing landed yet."""
    specs = root / "specs" / "tests"
    specs.mkdir(parents=True)
    (specs / "_domain.yml").write_text(DOMAIN)
    shutil.copy(case / "things.yml", specs / "things.yml")
    return Lake(spark, root / "lake", load_domain("tests", specs.parent).tables[0])


def play(lake: Lake, case: Path) -> List[Report]:
    """Land and run arrival by arrival; the reports of all stages."""
    reports: List[Report] = []
    arrivals = sorted(filter(Path.is_dir, case.iterdir()), key=lambda each: each.name)
    for number, folder in enumerate(arrivals):
        for file in sorted(filter(Path.is_file, folder.rglob("*"))):
            lake.land(str(file.relative_to(folder)), file.read_bytes())
        stages = (
            ("incremental", "scd2") if number else ("full_load", "incremental", "scd2")
        )
        reports += [lake.run(stage) for stage in stages]
    return reports


def remove_refused_and_run_again(lake: Lake, failed: List[Report]) -> List[Report]:
    """What the message asks a user for; the reports of the runs after it."""
    for path in {each["path"] for report in failed for each in report.set_aside}:
        lake.remove(path)
    stages = ("incremental", "scd2") if lake.tables.log.has_data() else ("full_load",)
    return [lake.run(stage) for stage in stages]


def words_of(report: Report) -> List[str]:
    """Every message that says why the stage failed."""
    told = [f"{each['path']}: {each['reason']}" for each in report.set_aside]
    return told + ([report.error["message"]] if report.error else [])


def compare(lake: Lake, expected: Dict[str, Any], reports: List[Report]) -> None:
    """The tables, the quarantine and the warnings against what must be true."""
    for layer in ("current", "history"):
        if layer in expected:
            assert rows_of(lake, layer, expected[layer]) == in_order(expected[layer])
    wanted = expected.get("quarantined")
    if isinstance(wanted, int):
        assert sum(each.quarantined for each in reports) == wanted
    elif wanted is not None:
        kept = lake.tables.quarantine.read().collect()
        found = [{"record": r.lake_record, "reason": r.lake_reason} for r in kept]
        assert in_order(found) == in_order(wanted)
    for name in ("tombstones", "messages", "ignored"):
        if name in expected:
            assert sum(getattr(each, name) for each in reports) == expected[name]
    warnings = [words for each in reports for words in each.warnings]
    if "warned" in expected:
        assert any(
            all(p in words for p in expected["warned"]) for words in warnings
        ), warnings


def rows_of(lake: Lake, layer: str, wanted: List[Dict[str, Any]]) -> List[Any]:
    """The layer's rows with the columns that are compared, as JSON has them."""
    if not getattr(lake.tables, layer).has_data():
        return []
    table: DataFrame = getattr(lake, layer)
    names = list(wanted[0]) if wanted else lake.spec.key
    return in_order([plain(row) for row in table.select(*names).collect()])


def plain(value: Any) -> Any:
    """The value as expected.json writes it: exact numbers and times as text."""
    if isinstance(value, Row):
        return {name: plain(each) for name, each in value.asDict().items()}
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, datetime):
        return value.isoformat() + "Z"
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, Decimal):
        return format(value, "f")
    return value.isoformat() if isinstance(value, date) else value


def in_order(rows: List[Any]) -> List[Any]:
    """The rows in an order that depends on nothing but them."""
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))
