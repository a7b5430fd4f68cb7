"""Values of a guarded table stay where its rows are: in landing, tables and quarantine.

People, with a canary in every column, are loaded and changed; then comes all that quotes
a value: bad rows, files that cannot be read, too many bad rows, a file without its header,
a surrogate key that is replaced, a table that another program changed, an error of a
library, lost keys of a scope, an erase. The same is played by a table that marks nothing,
which tells the canary everywhere: so the search sees it.
"""

from __future__ import annotations

from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Dict, List

import pytest

from lake_spec.model import Sensitivity, TableSpec
from lake_spark.step.application import STAGES
from tests.spark.erasing import ask
from tests.spark.lake import FEED_FILES, SNAPSHOTS, Lake, table

CANARY = "canary-7f3e"
PEOPLE = FEED_FILES + """  new_columns: refuse
columns:
  mail: string
  name: string
  born: date
  amount: {type: int, on_type_mismatch: quarantine}
  at: timestamp
key: [mail]
order_by: [at]
load_effective_at: "2020-01-01"
quality:
- {column: name, matches: "canary.*", on_fail: quarantine}
- {column: born, not_null: true, on_fail: warn}
quarantine: {min_rows: 3, max_share: 0.5}
history: {surrogate_key: {kind: deterministic}}
storage: {buckets: 1}
profile: weekly
"""
HEADER = "op,mail,name,born,amount,at\n"
OFFICES = SNAPSHOTS.replace('"^(.*)[.]csv$"', '"(2026-[0-9-]+)"') + """\
  scope: {column: boss}
  lost_share: 0.1
columns: {id: int, boss: string}
key: [id]
"""


def marked(spec: TableSpec, *names: str) -> TableSpec:
    """The spec with these columns marked as personal."""
    columns = [
        (
            name,
            replace(each, sensitivity=Sensitivity.PERSONAL if name in names else None),
        )
        for name, each in spec.columns
    ]
    return replace(spec, columns=tuple(columns))


def person(number: int, op: str = "U", **more: str) -> str:
    """A row with the canary in its texts."""
    row = {
        "mail": f"{number}@{CANARY}",
        "name": f"{CANARY} {number}",
        "born": "1990-01-01",
        "amount": "1",
        "at": f"2026-01-{number:02d} 00:00:00",
        **more,
    }
    return ",".join([op, *row.values()]) + "\n"


def played_people(lake: Lake) -> Dict[str, object]:
    """Play all that quotes a value; the report of each."""
    told = {}
    lake.land("load/1.csv", HEADER + "".join(person(n, "") for n in range(1, 9)))
    told["loaded"] = lake.run("full_load")
    lake.done("scd2")
    bad = person(10, amount=CANARY) + person(11, f"{CANARY} op")
    warned = person(12, born="") + person(9, at=f"{CANARY} time")
    many = "".join(person(n) for n in range(13, 20))
    lake.land("changes/1.csv", HEADER + bad + warned + many)
    told["bad rows"] = lake.run("incremental")
    lake.land("changes/2.csv", HEADER + f'U,"{CANARY}\n')
    told["bad file"] = lake.run("incremental")
    lake.land("changes/2.csv", person(20))  # its first row is taken for the header
    told["no header"] = lake.run("incremental")
    lake.land("changes/2.csv", HEADER + person(20))
    lake.land("changes/3.csv", HEADER + person(21, amount="x" + CANARY) * 9)
    told["too many"] = lake.run("incremental")
    lake.remove("changes/3.csv")
    lake.land("changes/4.csv", HEADER + person(14, name=f"{CANARY} b", at="2026-02-02"))
    lake.done("incremental", "scd2")
    lake.land("changes/5.csv", HEADER + person(14, name=f"{CANARY} b", at="2026-02-01"))
    lake.done("incremental")
    told["moved"] = lake.run("scd2")
    lake.overwrite("name", f"'{CANARY} changed'", "mail LIKE '3@%'")
    told["differs"] = lake.verify()
    lake.done("rebuild", "maintenance")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(STAGES, "fail", fail)
        told["library"] = lake.run("fail")
    return told


def fail(run) -> None:
    """Fail as a library does, which quotes what it was given."""
    try:
        int(f"{CANARY} number")
    except ValueError as error:
        raise RuntimeError(f"Caused by: {CANARY}") from error


def played_offices(lake: Lake) -> Dict[str, object]:
    """Lose the keys of one scope, and name it as empty while it has rows."""
    boss = f"{CANARY} boss"
    rows = "".join(f"{n},{boss}\n" for n in range(40))
    lake.land("2026-01-01.csv", f"id,boss\n{rows}")
    lake.done("full_load")
    lake.land("2026-01-02.csv", f"id,boss\n1,{boss}\n")
    return {"lost": lake.run("incremental")}


GUARDED = [True, pytest.param(False, marks=pytest.mark.nightly)]


@pytest.fixture(scope="module", params=GUARDED, ids=["guarded", "unmarked"])
def played(request, spark, tmp_path_factory):
    """What runs of both tables reported and printed, guarded or not."""
    root = tmp_path_factory.mktemp("told")
    people, offices = table(PEOPLE), table(OFFICES)
    if request.param:
        people, offices = marked(people, "mail", "name", "born"), marked(
            offices, "boss"
        )
    lake, printed = Lake(spark, root / "people", people), StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        told = played_people(lake)
        told.update(played_offices(Lake(spark, root / "offices", offices)))
    return request.param, lake, root, told, printed.getvalue()


def tellers(root) -> List[str]:
    """The objects that hold the canary, but for those of landing and next to tables."""
    return sorted(
        file.relative_to(root).as_posix()
        for file in root.rglob("*")
        if file.is_file() and not {"landing", "warehouse"} & set(file.parts)
        if CANARY.encode() in file.read_bytes()
    )


def test_reports_and_output_of_a_guarded_table_hold_no_value(played):
    guarded, _, root, told, printed = played
    assert {name: report.guarded for name, report in told.items()} == dict.fromkeys(
        told, guarded
    )
    leaks = [name for name, each in told.items() if CANARY in each.to_json()]
    if guarded:
        assert leaks == [] and tellers(root) == []
        assert [line for line in printed.splitlines() if CANARY in line] == []
        return
    assert sorted(leaks) == sorted({*told} - {"loaded", "moved"})
    assert len(tellers(root)) >= len(leaks)
    assert CANARY in printed and "LAKE tests.things" in printed


def test_messages_say_what_happened_without_the_value(played):
    guarded, lake, _, told, _ = played
    said = {
        name: (report.error or {}).get("message", "") for name, report in told.items()
    }
    where = "The whole message: " if guarded else ""
    value = "(not shown)" if guarded else CANARY
    (warned,) = [w for w in told["bad rows"].warnings if "Quarantined" in w]
    assert f"changes/1.csv record 1: amount: cannot be read as int: {value}" in warned
    assert f"record 2: unknown operation: {value}" in warned
    assert value in said["bad file"] and "line 2" in said["bad file"]
    assert value in said["no header"] and "lacks the column(s)" in said["no header"]
    assert value in said["too many"] and "quarantine.max_share" in said["too many"]
    assert value in said["differs"] and "name is" in said["differs"]
    assert "loses 39 of 40 keys of boss" in said["lost"] and value in said["lost"]
    assert value in said["library"] and where in said["library"]
    assert told["moved"].keys_moved and bool(told["moved"].moved_keys) is not guarded


def test_whole_messages_lie_next_to_a_guarded_table(played):
    guarded, lake, _, told, _ = played
    found = list((lake.root / "warehouse").rglob("messages/**/*.txt"))
    assert bool(found) is guarded
    if guarded:
        name = told["library"].whole_messages.removeprefix("file://")
        text = Path(name).read_text("utf-8")
        assert f"invalid literal for int() with base 10: '{CANARY} number'" in text
        assert "moved_key" in "".join(each.read_text("utf-8") for each in found)


def test_the_quarantine_has_the_reasons_with_their_values(played):
    _, lake, *_ = played
    rows = lake.tables.quarantine.read().select("lake_reason").collect()
    reasons = sorted(row.lake_reason for row in rows)
    assert f"amount: cannot be read as int: {CANARY}" in reasons
    assert f"unknown operation: {CANARY} op" in reasons


@pytest.mark.nightly
def test_an_erase_takes_the_whole_messages_too(played):
    guarded, lake, root, *_ = played
    request = ask(lake, {"mail": f"1@{CANARY}"})
    report = lake.run("erase", request_uri=request)
    assert report.error is None, report.error
    assert list((lake.root / "warehouse").rglob("messages/**/*.txt")) == []
    if guarded:
        assert CANARY not in report.to_json()
        assert tellers(root) == ["people/runs/erase/tests/request.json"]
