"""The programs behind `sql` and `show`, on tables whose files lie as Hudi leaves them.

`shop.orders` has two commits and a half one: the first wrote the keys 1 and 2, the second 2
and 3 with a new column, the third is not completed. Of `shop.orders_changes` one path is
retracted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

from lake_spec.hudi.layout import HUDI_COLUMNS

from lake_local.show.readers import BATCH
from lake_local.show.request import Request
from tests.readers.spark_words import WORDS

PROJECT = Path(__file__).resolve().parents[2]
T1, T2, T3 = (f"2026010{day}000000000" for day in (1, 2, 3))
MAY = datetime(2016, 5, 12, tzinfo=timezone.utc)
TYPES = {
    "id": "int",
    "amount": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
    "since": {"type": "long", "logicalType": "timestamp-micros"},
    "note": "string",
    "_hoodie_is_deleted": "boolean",
}
OLD = pa.schema(
    [
        ("id", pa.int32()),
        ("amount", pa.decimal128(9, 2)),
        ("since", pa.timestamp("us", "UTC")),
    ]
)
NEW = OLD.append(pa.field("note", pa.string()))
LOG = pa.schema([("lake_path", pa.string()), ("lake_op", pa.string())])


class Folder:
    """A layer of a table, written file by file."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: dict[str, str] = {}

    def add(self, path: str) -> Path:
        file = self.root / str(len(self.files))
        self.files[path] = str(file)
        return file

    def commit(self, instant: str, types: dict, state: str = "") -> None:
        fields = [{"name": n, "type": ["null", kind]} for n, kind in types.items()]
        schema = {"type": "record", "name": "rows", "fields": fields}
        said = {"extraMetadata": {"schema": json.dumps(schema)}}
        name = f"{instant}.inflight" if state else f"{instant}_{instant}.commit"
        self.add(f".hoodie/timeline/{name}").write_text(json.dumps(said))

    def rows(self, group: str, instant: str, schema: pa.Schema, rows: list) -> None:
        table = pa.Table.from_pylist(rows, schema)
        for name in HUDI_COLUMNS:
            table = table.append_column(name, pa.array([instant] * len(rows)))
        path = f"{group}_0-1-2_{instant}.parquet"
        with open(self.add(path), "wb") as to:
            parquet.write_table(table, to)


def row(key, note="", **more):
    return {"id": key, "amount": Decimal("1.50"), "since": MAY, "note": note, **more}


MODULE = (sys.executable, "-m")
ONE_THREAD = (
    *(sys.executable, "-c"),
    """
import duckdb, runpy, sys
connect = duckdb.connect
duckdb.connect = lambda config: connect(config={**config, "threads": 1})
runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
""",
)
"""What runs a program; by one thread DuckDB reads no later rows meanwhile."""


def of(files, table, layer="current"):
    return {"files": files, "table": table, "layer": layer}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    orders = Folder(tmp_path_factory.mktemp("orders"))
    old = {name: TYPES[name] for name in ("id", "amount", "since")}
    orders.commit(T1, old)
    orders.rows("a", T1, OLD, [row(1)])
    orders.rows("b", T1, OLD, [row(2)])
    orders.commit(T2, TYPES)
    orders.rows("b", T2, NEW, [row(2, note=None), row(3, note="new")])
    orders.commit(T3, TYPES, "inflight")
    orders.rows("b", T3, NEW, [row(4)])
    changes = Folder(tmp_path_factory.mktemp("changes"))
    for instant, found in (
        (T1, [("x", "upsert"), ("y", "upsert")]),
        (T2, [("x", "retract")]),
        (T3, [("x", "upsert")]),
    ):
        changes.commit(instant, {"lake_path": "string", "lake_op": "string"})
        rows = [{"lake_path": path, "lake_op": op} for path, op in found]
        changes.rows(f"g{instant}", instant, LOG, rows)
    emptied = Folder(tmp_path_factory.mktemp("emptied"))
    emptied.commit(T1, TYPES)
    merged = Folder(tmp_path_factory.mktemp("merged"))
    merged.commit(T1, TYPES)
    merged.rows("a", T1, NEW, [row(1)])
    merged.add(f".a_{T1}.log.1_0-1-2").touch()
    broken = {**orders.files, f"c_0-1-2_{T1}.parquet": "/not/there"}
    return {
        "shop.orders": of(orders.files, "shop.orders"),
        "shop.orders_changes": of(changes.files, "shop.orders", "changes"),
        "shop.emptied": of(emptied.files, "shop.emptied"),
        "shop.merged": of(merged.files, "shop.merged"),
        "shop.broken": of(broken, "shop.broken"),
    }


@pytest.fixture
def ask(tables, tmp_path):
    """Ask the program: its exit code, its output, its error."""

    def ask(sql, how="csv", limit=0, leave=("shop.broken",), program=MODULE):
        question = {
            "sql": sql,
            "format": how,
            "limit": limit,
            "tables": {n: each for n, each in tables.items() if n not in leave},
            "empty": {"shop.customers": "shop.customers has no current yet. Run it."},
            "known": [*tables, "shop.customers"],
        }
        file = tmp_path / "question.json"
        file.write_text(json.dumps(question))
        done = subprocess.run(
            [*program, "lake_local.show.sql", file, tmp_path / "log"],
            env={**os.environ, "PYTHONPATH": f"{PROJECT}/local:{PROJECT}/dags"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode in (0, 2, 3), (tmp_path / "log").read_text()
        return done.returncode, done.stdout, done.stderr.strip()

    return ask


def test_rows_are_those_of_the_newest_commit_in_its_columns(ask):
    assert ask("SELECT * FROM shop.orders ORDER BY id") == (
        0,
        "id,amount,since,note\n"
        "1,1.50,2016-05-12T00:00:00Z,\n"
        "2,1.50,2016-05-12T00:00:00Z,\n"
        "3,1.50,2016-05-12T00:00:00Z,new\n",
        "",
    )


def test_names_are_found_however_they_are_written(ask):
    for name in ("SHOP.Orders", '"shop"."orders"', "shop . orders"):
        assert ask(f"SELECT count(*) AS n FROM {name};")[1] == "n\n3\n"


def test_tables_are_joined_and_named_in_subqueries(ask):
    sql = """
    WITH few AS (SELECT id FROM shop.orders WHERE note IS NULL)
    SELECT sum(id) AS s, (SELECT count(*) FROM shop.orders_changes) AS n FROM few
    """
    assert ask(sql)[1] == "s,n\n3,2\n"


def test_retracted_rows_of_a_change_log_are_no_rows(ask):
    rows = ask("SELECT lake_path, lake_op FROM shop.orders_changes ORDER BY 1")[1]
    assert rows.split() == ["lake_path,lake_op", "x,upsert", "y,upsert"]


def test_a_table_whose_rows_are_all_gone_has_its_columns(ask):
    assert ask("FROM shop.emptied") == (0, "id,amount,since,note\n", "")


def test_people_get_a_table_and_are_told_what_a_limit_cut_off(ask):
    code, shown, words = ask("SELECT id, since, note FROM shop.orders", "table", 2)
    assert (code, shown.splitlines()) == (
        0,
        [
            "id  since                note",
            "--  -------------------  ----",
            " 1  2016-05-12 00:00:00  null",
            " 2  2016-05-12 00:00:00  null",
        ],
    )
    assert words == "only the first 2 rows; --limit 0 shows all"


def test_programs_get_json(ask):
    rows = json.loads(ask("SELECT * FROM shop.orders ORDER BY id DESC", "json", 1)[1])
    assert rows == [
        {"id": 3, "amount": 1.5, "since": "2016-05-12T00:00:00Z", "note": "new"}
    ]


def test_without_a_query_the_tables_are_listed(ask):
    assert ask(None, "table")[1].splitlines() == [
        "table                rows  columns",
        "-------------------  ----  -----------------------",
        "shop.emptied            0  id, amount, since, note",
        "shop.merged          null  null",
        "shop.orders             3  id, amount, since, note",
        "shop.orders_changes     2  lake_path, lake_op",
    ]


def test_tables_that_a_query_does_not_name_are_not_opened(ask):
    assert ask("SELECT id FROM shop.orders LIMIT 1", leave=())[:2] == (0, "id\n1\n")


def test_a_file_that_a_run_took_away_meanwhile_ends_as_changed(ask):
    assert ask("FROM shop.broken", leave=()) == (3, "", "")


def test_rows_in_log_files_are_refused_with_who_reads_them(ask):
    code, shown, words = ask("SELECT * FROM shop.merged")
    assert (code, shown) == (2, "")
    assert words == (
        "shop.merged is merge-on-read, and has changes in log files that no compaction"
        " has merged yet. To compact: ./run_locally.sh run shop_maintenance. To read it by"
        " Spark: ./run_locally.sh show shop.merged --engine spark"
    )


@pytest.mark.parametrize(
    "sql, message",
    [
        ("FROM orders", "no table 'orders'. Did you mean shop.orders?"),
        ("FROM shop.order", "no table 'shop.order'. Did you mean shop.orders or "),
        ("FROM shp.orders", "no table 'shp.orders'. Did you mean shop.orders"),
        ("FROM zoo.x", "no table 'zoo.x'. Without a query, this command lists"),
        ("FROM shop.customers", "shop.customers has no current yet. Run it."),
    ],
)
def test_a_table_that_is_not_there_is_met_with_what_there_is(ask, sql, message):
    code, shown, words = ask(sql)
    assert (code, shown) == (2, "") and words.startswith(message)


@pytest.mark.parametrize(
    "sql",
    [
        "SHOW TABLES",
        "SHOW ALL TABLES",
        "FROM (SHOW TABLES)",
        "DESCRIBE",
        "FROM information_schema.tables",
        "FROM PG_CATALOG.pg_tables",
    ],
)
def test_duckdbs_lists_are_refused_with_where_the_lakes_is(ask, sql):
    code, shown, words = ask(sql)
    assert (code, shown) == (2, "")
    assert words.endswith("Without a query, this command lists the tables.")


def test_a_table_is_described(ask):
    assert ask("DESCRIBE shop.orders")[1].splitlines()[1].startswith("id,INTEGER")


def test_json_of_two_columns_of_one_name_is_refused(ask):
    sql = "SELECT 1 AS a, 2 AS a"
    code, shown, words = ask(sql, "json")
    assert (code, shown) == (2, "") and "the name 'a'" in words
    assert words.endswith("name them by AS.")
    assert ask(sql) == (0, "a,a\n1,2\n", "")


def test_an_interval_is_a_text_also_within_a_list(ask):
    months = "INTERVAL '14 months 3 days 4 hours'"
    rows = ask(f"SELECT {months} AS i, [{months}] AS l", "json")[1]
    text = "14 months 3 days 4:00:00"
    assert json.loads(rows) == [{"i": text, "l": [text]}]


@pytest.mark.parametrize(
    "value",
    [
        "'12000-01-01'::TIMESTAMP",
        "'inf'::DATE",
        "'2020-01-01 00:00:00.123456789'::TIMESTAMP_NS",
    ],
)
def test_a_time_that_python_does_not_know_is_refused_by_its_column(ask, value):
    code, shown, words = ask(f"SELECT 1 AS id, {value} AS at")
    assert (code, shown) == (2, "") and words.startswith("column 'at' has a time")
    assert ask(f"SELECT CAST({value} AS VARCHAR) AS at")[0] == 0


BAD = 5 * BATCH
"""The row at which a query fails: far enough for the first rows to be written."""
FAILS = f"CASE WHEN id = {BAD} THEN 'bad' ELSE '1' END::INT"


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A table of more than one batch."""
    folder = Folder(tmp_path_factory.mktemp("many"))
    folder.commit(T1, {"id": "int"})
    ids = [{"id": each} for each in range(BAD + 1)]
    folder.rows("a", T1, pa.schema([("id", pa.int32())]), ids)
    return folder.files


@pytest.mark.parametrize("removed", [False, True], ids=["bad-row", "removed-file"])
@pytest.mark.parametrize("program", ["sql", "show"])
def test_rows_that_end_too_early_are_called_incomplete(
    monkeypatch, tables, many, ask, show, program, removed
):
    """An old file that is gone meanwhile is that of a run which cleans."""
    gone = {f"a_0-1-2_{int(T1) - 1}.parquet": "/not/there"} if removed else {}
    monkeypatch.setitem(tables, "shop.many", of({**many, **gone}, "shop.many"))
    if program == "sql":
        code, shown, words = ask(
            f"SELECT id, {FAILS} AS n FROM shop.many", program=ONE_THREAD
        )
    else:
        code, shown, words = show(
            "shop.many", program=ONE_THREAD, order=(), where=f"{FAILS} = 1"
        )
    assert code == 2 and BATCH < len(shown.splitlines()) < BAD
    reason = "a run removed files" if removed else "Conversion Error: Could not convert"
    assert words.startswith(
        f"the output is incomplete, use none of it: {reason}"
    ), words
    assert len(words.splitlines()) == 1


@pytest.mark.parametrize("program", ["sql", "show"])
def test_files_that_go_before_a_row_is_written_end_as_changed(
    monkeypatch, tables, many, ask, show, program
):
    gone = {f"a_0-1-2_{int(T1) - 1}.parquet": "/not/there"}
    monkeypatch.setitem(tables, "shop.many", of({**many, **gone}, "shop.many"))
    last = 2 * BAD
    if program == "sql":
        found = ask(f"SELECT id, {FAILS} AS n FROM shop.many", limit=last)
    else:
        where = f"{FAILS} = 1"
        found = show("shop.many", order=(), where=where, limit=last)
    assert found == (3, "", "")


def test_a_mistake_is_shown_where_it_is(ask):
    code, _, words = ask("SELECT *\nFRM shop.orders")
    assert code == 2 and "Traceback" not in words
    assert words.splitlines()[-2:] == ["LINE 2: FRM shop.orders", " " * 12 + "^"]
    code, _, words = ask("SELECT idd FROM shop.orders")
    assert code == 2 and 'Candidate bindings: "id"' in words
    code, _, words = ask("SELECT CAST(note AS INT) FROM shop.orders WHERE id = 3")
    assert code == 2 and "Could not convert string 'new' to INT32" in words


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "SELECT 1; SELECT 2",
        "CREATE TABLE t AS SELECT 1",
        "COPY (SELECT 1) TO 'x.csv'",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO 'x.csv'",
        "SET enable_external_access = true",
        "ATTACH 'x.db'",
        "INSTALL spatial",
    ],
)
def test_what_is_no_query_is_refused(ask, tmp_path, sql):
    before = {each.name for each in tmp_path.iterdir()}
    code, shown, words = ask(sql or ";")
    assert (code, shown) == (2, "")
    assert "one query is answered, and nothing is written" in words
    assert {each.name for each in tmp_path.iterdir()} <= before | {
        "question.json",
        "log",
    }


@pytest.mark.parametrize(
    "source",
    [
        "read_text('{secret}')",
        "read_csv('{secret}')",
        "read_parquet('{folder}/*')",
        "glob('{folder}/*')",
        "read_text('http://127.0.0.1:9/')",
        "sniff_csv('{secret}')",
        "query('COPY (SELECT 1) TO ''{folder}/x.csv''')",
    ],
)
def test_a_query_reads_no_other_file_and_no_network(ask, tmp_path, source):
    secret = tmp_path / "secret.csv"
    secret.write_text("a\nhidden\n")
    named = source.format(secret=secret, folder=tmp_path)
    for sql in (f"FROM {named}", f"FROM {named}, shop.orders"):
        code, shown, words = ask(sql)
        assert (code, shown) == (2, "") and "hidden" not in words
    assert not (tmp_path / "x.csv").exists()


def test_variables_of_the_program_are_no_tables(ask):
    assert ask("FROM asked")[2].startswith("no table 'asked'")


@pytest.fixture
def show(tables, tmp_path):
    """Ask the program of `show` for a layer's files: its exit code, output and error."""

    def show(name="shop.orders", layer="current", program=MODULE, **asked):
        request = Request(
            *(name, layer, "s3://lake"),
            **{"order": ("id",), "format": "csv", "columns": ("id",), **asked},
            files=tables[name]["files"],
        )
        file = tmp_path / "requests.json"
        file.write_text(json.dumps({"requests": [asdict(request)]}))
        done = subprocess.run(
            [*program, "lake_local.show.readers", file, tmp_path / "log"],
            env={**os.environ, "PYTHONPATH": f"{PROJECT}/local:{PROJECT}/dags"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout, done.stderr.strip()

    return show


def test_show_reads_the_same_files(show):
    assert show() == (0, "id\n1\n2\n3\n", "")
    assert show(where="note IS NULL", count=True) == (0, "2\n", "")
    columns = ("id", "_hoodie_commit_time")
    assert show(columns=columns, where="id = 3")[1].split()[1] == f"3,{T2}"
    changes = show("shop.orders_changes", "changes", columns=("lake_path",), order=())
    assert sorted(changes[1].split()) == ["lake_path", "x", "y"]


def test_show_writes_parquet_and_no_other_file(show, tmp_path):
    file = tmp_path / "rows.parquet"
    assert show(format="parquet", output=str(file), limit=2)[0] == 0
    assert parquet.read_table(file)["id"].to_pylist() == [1, 2]
    secret = f"id IN (SELECT 1 FROM read_text('{tmp_path}/question.json'))"
    code, shown, words = show(where=secret)
    assert (code, shown) == (2, "") and "Permission Error" in words


@pytest.mark.parametrize(
    "name, asked, code, message",
    [
        ("shop.orders", {"where": "idd = 1"}, 2, "--where 'idd = 1': Binder Error"),
        (
            "shop.orders",
            {"where": "note::INT > 1", "format": "table"},
            2,
            "Conversion Error",
        ),
        ("shop.merged", {}, 4, "shop.merged is merge-on-read"),
        ("shop.broken", {}, 3, ""),
    ],
)
def test_what_show_cannot_answer_ends_with_the_reason(show, name, asked, code, message):
    found, shown, words = show(name, **asked)
    assert (found, shown) == (code, "") and words.startswith(message)


@pytest.fixture
def made(tables, tmp_path):
    """Ask the program of `try-product` for the rows of a SQL over `shop.orders`."""

    def made(sql, views=MappingProxyType({}), **asked):
        question = {
            "name": "shop.product",
            "sql": sql,
            "views": {
                "input_0": tables["shop.orders"],
                "input_1": tables["shop.emptied"],
                **views,
            },
            "columns": {"id": "bigint", "note": "string"},
            "key": ["id"],
            "time_joins": [],
            "format": "csv",
            "limit": 0,
            **asked,
        }
        file = tmp_path / "question.json"
        file.write_text(json.dumps(question))
        done = subprocess.run(
            [sys.executable, "-m", "lake_local.show.product", file, tmp_path / "log"],
            env={**os.environ, "PYTHONPATH": f"{PROJECT}/local:{PROJECT}/dags"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout, done.stderr.strip()

    return made


def test_rows_of_a_product_come_with_types_number_and_matches(made):
    sql = """
    SELECT a.id, a.note, b.id IS NULL AS without FROM input_0 AS a
    LEFT JOIN input_0 AS b ON b.id = a.id AND b.id > 1
    """
    joins = [["shop.orders", "without"]]
    code, shown, words = made(sql, time_joins=joins)
    assert (code, shown.split()) == (0, ["id,note", "1,", "2,", "3,new"])
    assert words.splitlines() == [
        "column  declared  made by DuckDB",
        "------  --------  --------------",
        "id      bigint    INTEGER",
        "note    string    VARCHAR",
        "",
        "shop.product: 3 row(s)",
        "shop.orders: 1 of 3 row(s) without a match (33.3%)",
    ]


def test_rows_of_one_key_are_told(made):
    words = made("SELECT 1 AS id, note FROM input_0")[2]
    assert words.endswith("the key (id) has 2 row(s) too many")


@pytest.mark.parametrize("key", [["id"], ["id", "note"]])
def test_rows_without_a_key_are_told_apart(made, key):
    sql = "SELECT NULL AS id, 'a' AS note UNION ALL FROM (VALUES (1, 'a'), (1, 'a'))"
    words = made(sql, key=key)[2].splitlines()
    assert words[-2:] == [
        f"the key ({', '.join(key)}) is NULL in 1 row(s)",
        f"the key ({', '.join(key)}) has 1 row(s) too many",
    ]


def test_a_product_names_the_table_that_hudi_alone_reads(made, tables):
    views = {"input_1": tables["shop.merged"]}
    code, _, words = made("SELECT id, note FROM input_1", views)
    assert code == 4 and words.startswith("shop.merged is merge-on-read")
    assert "run shop_maintenance" in words


@pytest.mark.parametrize("spark, sql, value", WORDS, ids=[each[0] for each in WORDS])
def test_duckdb_makes_of_its_words_what_spark_makes_of_its_own(spark, sql, value):
    assert duckdb.sql(sql).fetchall() == [(value,)]


def test_a_product_of_no_rows_has_no_share(made):
    joins = [["shop.orders", "none"]]
    words = made("SELECT id, note, true AS none FROM input_1", time_joins=joins)[2]
    assert words.endswith("shop.orders: 0 of 0 row(s) without a match (0.0%)")


@pytest.mark.parametrize(
    "sql, message",
    [
        ("SELECT id FROM input_0", "shop.product: its SQL makes no column 'note'."),
        ("SELECT spark_only(id) FROM input_0", "shop.product: DuckDB does not run its"),
        ("SELECT * FROM read_text('question.json')", "shop.product: DuckDB does not"),
    ],
)
def test_a_product_that_duckdb_cannot_make_is_refused(made, sql, message):
    code, shown, words = made(sql)
    assert (code, shown) == (2, "") and words.startswith(message)
