"""The second wall: SQL of a spec reads the views that it is given, in Spark's own reading."""

import pytest

from lake_spark.errors import UndeclaredInput
from lake_spark.storage import spec_sql
from lake_spark.storage.session import session_for_few_rows

FEW = ("the session of the step", "the session for few rows")


@pytest.fixture(scope="module", params=FEW)
def lake(request, spark, tmp_path_factory):
    """A session with a view `input_0`, and with what is not declared: views and a file."""
    session = spark if request.param == FEW[0] else session_for_few_rows(spark)
    secrets = tmp_path_factory.mktemp("files") / "secret.txt"
    secrets.write_text("secret\n")
    rows = session.range(3).selectExpr("id", "array(id) AS ids")
    rows.createOrReplaceTempView("input_0")
    rows.createOrReplaceTempView("salaries")
    rows.createOrReplaceGlobalTempView("input_0")
    yield session, str(secrets)
    for name in ("input_0", "salaries"):
        session.catalog.dropTempView(name)
    session.catalog.dropGlobalTempView("input_0")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM input_0",
        "SELECT 1 AS id",
        "SELECT * FROM VALUES (1), (2) AS t(id)",
        "WITH a AS (SELECT id FROM input_0), b AS (SELECT * FROM a) SELECT a.id FROM a"
        " JOIN b ON a.id = b.id WHERE a.id IN (SELECT id FROM b)",
        "SELECT id, i FROM input_0 LATERAL VIEW explode(ids) t AS i",
        "SELECT id FROM input_0 UNION ALL SELECT max(id) FROM input_0 AS x",
        "SELECT id, (SELECT max(id) FROM input_0 AS x WHERE x.id = y.id) AS m"
        " FROM input_0 AS y",
    ],
)
def test_the_views_and_rows_of_the_text_are_read(lake, text):
    session, _ = lake
    assert spec_sql.select(session, text, ("input_0",), "shop.orders").count() > 0


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM salaries",
        "SELECT * FROM global_temp.input_0",
        "SELECT id, (SELECT max(id) FROM salaries) AS m FROM input_0",
        "SELECT id FROM input_0 WHERE EXISTS (SELECT 1 FROM salaries s WHERE s.id = 1)",
        "SELECT id FROM input_0 WHERE id IN (SELECT s.id + 1 FROM salaries s)",
        "WITH salaries AS (SELECT * FROM salaries) SELECT * FROM salaries",
        "WITH a AS (SELECT * FROM salaries) SELECT id FROM input_0 JOIN a USING (id)",
        "SELECT t.m FROM input_0, LATERAL (SELECT max(s.id) AS m FROM salaries s) AS t",
        "TABLE salaries",
        "SELECT id FROM IDENTIFIER('sala' || 'ries')",
        "SELECT * FROM range(5)",
        "CREATE TEMPORARY VIEW made AS SELECT 1 AS id",
        "SET spark.sql.runSQLOnFiles=true",
        "SHOW TABLES",
    ],
)
def test_all_else_is_refused_before_it_runs(lake, text):
    session, _ = lake
    with pytest.raises(UndeclaredInput, match="shop.orders: its SQL reads what"):
        spec_sql.select(session, text, ("input_0",), "shop.orders")
    assert not session.catalog.tableExists("made")
    assert session.conf.get("spark.sql.runSQLOnFiles") == "false"


def test_a_name_is_never_that_of_a_file(lake):
    session, secrets = lake
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        spec_sql.select(session, f"SELECT * FROM text.`{secrets}`", (), "shop.orders")
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        session.sql(f"SELECT * FROM text.`{secrets}`")


def test_no_setting_is_put_into_a_text(lake):
    session, _ = lake
    (row,) = session.sql("SELECT r'${env:HOME} ${spark.app.name}' AS a").collect()
    assert row.a == "${env:HOME} ${spark.app.name}"


@pytest.mark.parametrize(
    "text", ["id > 0", "id IS NULL OR size(filter(ids, i -> i > 1)) = 1"]
)
def test_a_condition_is_of_one_row(lake, text):
    spec_sql.check_condition(lake[0], text, "shop.orders: positive")


@pytest.mark.parametrize(
    "text",
    [
        "id > (SELECT max(id) FROM input_0)",
        "EXISTS (SELECT 1 FROM salaries)",
        "id IN (WITH a AS (SELECT id FROM salaries) SELECT * FROM a)",
        "id > 0 FROM salaries",
    ],
)
def test_a_condition_reads_no_table(lake, text):
    with pytest.raises(UndeclaredInput, match="shop.orders: positive: its SQL reads"):
        spec_sql.check_condition(lake[0], text, "shop.orders: positive")


def test_a_condition_does_not_leave_its_parentheses(lake):
    with pytest.raises(Exception, match="PARSE_SYNTAX_ERROR"):
        spec_sql.check_condition(lake[0], "true), true) OR ((false", "shop.orders")
