"""`sql` and `show` by DuckDB: what their programs are asked, by the objects of a state."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
from dataclasses import replace
from types import SimpleNamespace

import pytest

from lake_emulator.s3.store import ObjectStore
from lake_local.cli import completion, programs, query
from lake_local.cli.commands import show, sql, try_product
from lake_local.cli.parser import parse
from lake_local.cli.programs import NeedsSpark
from lake_local.errors import BadRequest, LakeLocalError
from lake_local.show.query import CHANGED, NEEDS_HUDI, REFUSED
from lake_local.workspace.project import find
from lake_local.workspace.specs import specs_of
from lake_local.workspace.state_dir import StateDirectory

T1 = "20260101000000000"
COMMIT = f".hoodie/timeline/{T1}_{T1}.commit"
BASE = f"a_0-1-2_{T1}.parquet"
INDEX = f".hoodie/metadata/.hoodie/timeline/{T1}_{T1}.commit"


@pytest.fixture(scope="module")
def specs():
    return specs_of(find(), None)


@pytest.fixture
def home(tmp_path):
    """A state whose artists have a current and a history, and a change log half begun."""
    found = StateDirectory.at(tmp_path / "home")
    found.create()
    store = ObjectStore(found.root / "s3", lambda _: True)
    for path in (
        *(f"artists/current/{name}" for name in (COMMIT, BASE, INDEX)),
        f"artists/history/{COMMIT}",
        f"artists/changes/.hoodie/timeline/{T1}.inflight",
    ):
        store.put("lake", f"warehouse/moma/{path}", [path.encode()])
    yield found  # as while a run is under way, the store stays open
    store.close()


def test_a_query_is_given_the_files_of_the_tables_that_it_mentions(home, specs):
    asked = sql.question(home, specs, "SELECT 1 FROM MOMA.Artists_History")
    assert set(asked["tables"]) == {"moma.artists", "moma.artists_history"}
    assert "moma.loans_changes" in asked["known"]
    files = asked["tables"]["moma.artists"]["files"]
    assert set(files) == {COMMIT, BASE}  # Hudi's own indexes are left out
    assert open(files[BASE]).read() == f"artists/current/{BASE}"
    history = asked["tables"]["moma.artists_history"]
    assert (history["table"], history["layer"]) == ("moma.artists", "history")


def test_a_table_without_a_completed_commit_says_what_loads_it(home, specs):
    asked = sql.question(home, specs, None)
    assert set(asked["tables"]) == {"moma.artists", "moma.artists_history"}
    assert asked["empty"]["moma.artists_changes"] == (
        "moma.artists has no changes yet. Land files (./run_locally.sh put) and load"
        " them: ./run_locally.sh run moma_full_load"
    )
    assert "no quarantined rows" in asked["empty"]["moma.artists_quarantine"]


def test_without_a_lake_both_commands_say_what_makes_one(tmp_path):
    for words in (["sql"], ["sql", "SELECT 1"], ["show", "moma.artists"]):
        args = parse([*words, "--state-dir", str(tmp_path / "none")])
        with pytest.raises(BadRequest, match="no lake in .*run_locally.sh demo"):
            args.run(args)
    assert not (tmp_path / "none").exists()


def test_a_query_is_an_argument_a_file_or_standard_input(tmp_path, monkeypatch):
    file = tmp_path / "report.sql"
    file.write_text("SELECT 'é'", encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.StringIO("SELECT 3"))
    assert sql.text_of(str(file)) == "SELECT 'é'"
    assert sql.text_of("-") == "SELECT 3"
    assert sql.text_of("SELECT 4") == "SELECT 4"
    assert sql.text_of(None) is None
    for given in ("", str(tmp_path / "none.sql")):
        with pytest.raises(BadRequest):
            sql.text_of(given)


def test_people_get_few_rows_and_programs_all():
    assert sql.limit_of(None, "table") == 20
    assert sql.limit_of(None, "table", has_query=False) == 0
    assert sql.limit_of(None, "csv") == 0
    assert sql.limit_of(0, "table") == 0
    with pytest.raises(BadRequest, match="--limit: got -1"):
        sql.limit_of(-1, "csv")


@pytest.mark.parametrize(
    "argv, engine",
    [
        ((), "duckdb"),
        (("--engine", "spark"), "spark"),
        (("--valid-at", "2016-04-01"), "duckdb"),
        (("--as-of", "2026-01-01"), "spark"),
        (("--between", "2026-01-01", "2026-01-02"), "spark"),
        (("--through", "delta"), None),
    ],
)
def test_duckdb_reads_unless_spark_alone_can(argv, engine):
    assert show.engine_of(parse(["show", "moma.artists", *argv])) == engine


@pytest.mark.parametrize(
    "argv, message",
    [
        (("--engine", "duckdb", "--as-of", "2026-01-01"), "reads the newest commit"),
        (("--engine", "spark", "--through", "delta"), "that reader has no engine"),
    ],
)
def test_an_engine_that_cannot_answer_is_refused(argv, message):
    with pytest.raises(BadRequest, match=message):
        show.engine_of(parse(["show", "moma.artists", *argv]))


@pytest.fixture
def shown(home, monkeypatch):
    """Run `show` where DuckDB's program ends so: what Spark is asked instead."""
    asked = []
    monkeypatch.setattr(query, "answer", lambda *_: asked.append(_[2]) or True)

    def shown(by_duckdb, *argv):
        monkeypatch.setattr(programs, "by_duckdb", by_duckdb)
        args = parse(
            ["show", "moma.artists", *argv, "--state-dir", str(home.root)],
        )
        args.run(args)
        return [each.table for each in asked]

    return shown


def needs_spark(*_):
    raise NeedsSpark("moma.artists is merge-on-read")


def test_log_files_are_read_by_spark_unless_duckdb_was_asked_for(shown, capsys):
    assert shown(lambda *_: None) == []
    with pytest.raises(NeedsSpark):
        shown(needs_spark, "--engine", "duckdb")
    assert shown(needs_spark) == ["moma.artists"]
    assert "moma.artists is merge-on-read: Spark reads it" in capsys.readouterr().err


@pytest.fixture
def program(home, tmp_path, monkeypatch):
    """Run a program of readers that ends with these codes in turn; count its questions."""
    monkeypatch.setattr("lake_local.workspace.project.require_readers", lambda _: None)

    def program(*codes):
        left, questions = list(codes), []
        monkeypatch.setattr(programs, "run", lambda *_: (left.pop(0), "its words"))
        ours = SimpleNamespace(readers_python="python", root=tmp_path)
        programs.by_duckdb(home, ours, "m", lambda: questions.append(1) or {})
        return len(questions)

    return program


def test_tables_are_listed_anew_where_files_were_taken_away(program, home):
    assert program(CHANGED, CHANGED, 0) == 3
    with pytest.raises(LakeLocalError, match="changed the tables while they were read"):
        program(CHANGED, CHANGED, CHANGED)
    assert not list(home.root.glob("show-*"))


@pytest.mark.parametrize(
    "code, error", [(REFUSED, BadRequest), (NEEDS_HUDI, NeedsSpark)]
)
def test_what_a_program_refuses_is_told_in_its_words(program, code, error):
    with pytest.raises(error, match="its words"):
        program(code)


def test_names_of_tables_are_completed():
    args = SimpleNamespace(tables=None)
    assert completion.complete_table("moma.a", args) == ["moma.artists"]
    assert completion.complete_sql("SELECT 1 FROM moma.artists_", args) == [
        f"SELECT 1 FROM moma.artists_{layer}"
        for layer in ("changes", "history", "quarantine")
    ]
    assert completion.complete_sql("mo", args) == []
    assert completion.complete_table("", SimpleNamespace(tables="/none")) == []


def test_the_shell_is_given_them(tmp_path):
    found = tmp_path / "found"
    line = "./run_locally.sh show moma.l"
    asked = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line))}
    asked.update(COMP_TYPE="9", _ARGCOMPLETE_IFS=" ")
    script = str(find().root / "run_locally.sh")
    subprocess.run(
        ["bash", "-c", '"$0" 8>"$1" 9>/dev/null', script, str(found)],
        env={**os.environ, **asked},
        check=True,
    )
    assert found.read_text().split() == ["moma.loans"]


PRODUCT = """
name: known_artists
description: Artists of a nationality
owner: museum-data
source: {kind: product, from: moma.artists, where: nationality IS NOT NULL}
key: [constituent_id]
columns: {constituent_id: int, nationality: string}
storage: {buckets: 1}
"""


@pytest.fixture
def product(tmp_path):
    """A product of the artists, in a copy of the museum's tables."""
    tables = tmp_path / "tables"
    shutil.copytree(find().tables, tables)
    (tables / "moma" / "known_artists.yml").write_text(PRODUCT)
    specs = specs_of(find(), tables)
    return specs, try_product.product_of(specs, "moma.known_artists")


def test_a_product_is_tried_in_duckdbs_words_on_its_inputs(home, product):
    specs, spec = product
    asked = try_product.question(home, specs.environment.warehouse, spec)
    (view,) = asked["views"]
    assert set(asked["views"][view]["files"]) == {COMMIT, BASE}
    assert asked["views"][view]["table"] == "moma.artists"
    assert asked["views"][view]["layer"] == "current"
    assert "`" not in asked["sql"] and view in asked["sql"]
    assert (asked["key"], asked["time_joins"]) == (["constituent_id"], [])
    assert asked["columns"] == {"constituent_id": "int", "nationality": "string"}


def test_a_product_without_loaded_inputs_says_what_loads_them(tmp_path, product):
    specs, spec = product
    empty = StateDirectory.at(tmp_path / "empty")
    ObjectStore(empty.root / "s3", lambda _: True).close()
    with pytest.raises(BadRequest, match="moma.artists has no current yet"):
        try_product.question(empty, specs.environment.warehouse, spec)


def test_a_name_of_no_product_is_met_with_the_nearest(product):
    specs, _ = product
    with pytest.raises(BadRequest, match="Did you mean 'moma.known_artists'"):
        try_product.product_of(specs, "moma.known_artist")


def test_what_duckdb_cannot_say_is_refused(home, product, monkeypatch):
    specs, spec = product
    plan = replace(spec.source.plan, sql="SELECT * FROM input_0 TABLESAMPLE (")
    told = replace(spec, source=replace(spec.source, plan=plan))
    with pytest.raises(BadRequest, match="DuckDB has no SQL for it: .*_products"):
        try_product.question(home, specs.environment.warehouse, told)
