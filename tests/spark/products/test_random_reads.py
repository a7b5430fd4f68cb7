"""Whatever SQL a spec has: its inputs are what Spark's plan reads, or it is refused.

Texts are made at random, some of them hostile: tables without a reference, files, names of
other queries, calls of Java, comments within comments, hints, settings, texts that look like
references. For an accepted one Spark's own plan says which views it reads.
"""

import os
import random
import re
from dataclasses import replace

import pytest
from pyspark.errors import AnalysisException

from lake_spec.model import Layer
from lake_check.parsing.loader import load_lake
from lake_desk.products.compiler import compile_product
from lake_desk.products.conditions import compile_condition
from lake_desk.products.inputs import Tables
from lake_spark.storage import spec_sql
from tests.unit.lake_desk.products.shop import Shop

FAST, NIGHTLY = 100, 1500
REFERENCES = {
    "{{ current('shop.orders') }}": "order_id",
    "{{ current('crm.customer') }}": "customer_id",
}
HOSTILE_TABLES = (
    *(
        "salaries",
        "hr.salaries",
        "`salaries`",
        "input_0",
        "INPUT_1",
        "text.`/etc/passwd`",
    ),
    *("parquet.`/tmp`", "IDENTIFIER('salaries')", "range(3)", "TABLE salaries"),
    *("global_temp.salaries", "spark_catalog.default.salaries", "'salaries'"),
)
TEXTS = (
    *("'x'", "'it''s'", r"'it\'s --'", '"/* x"', r"r'\d'", "r'${env:HOME}'", "'*/'"),
    *(r"r'\'", "'{{ current(''crm.region'') }}'", "';'", "'a' 'b'", "'ü\n'", r"'\\'"),
)
HOSTILE_VALUES = (
    *("reflect('java.lang.System', 'getenv')", "hr.mask(1)", "`reflect`('a', 'b')"),
    *("(TABLE salaries)", "input_file_name()", "${spark.app.name}", ":x"),
    *("(SELECT max(id) FROM salaries)", "EXISTS (SELECT 1 FROM salaries)"),
    *("1) FROM salaries --", "1 /* /* */ + (SELECT 1 FROM salaries) -- */"),
)
SPACES = (*([" "] * 40), "\n", "\t", " -- x\n", " /* y */ ", " --\\\n", " /**/ ")
HOSTILE_SPACES = (" /* /* */ ", " /*+ MERGE(x) */ ", " /* -- */ */ ", " # x\n")
ELSE = r"(?<!Local)(?<!OneRow)Relation\b|\bRange\b|Command|(?i:reflect|java_method)"
"""What no accepted text has in Spark's plan: files, tables, commands, calls of Java."""
NAMES = ("a", "b", "salaries", "orders", "input_9")


class Texts:
    """Random texts of one seed."""

    def __init__(self, seed):
        self._random = random.Random(seed)
        self._count = 0

    def _is(self, share):
        return self._random.random() < share

    def space(self):
        return self._random.choice(HOSTILE_SPACES if self._is(0.004) else SPACES)

    def spaced(self, *words):
        return "".join(f"{self.space()}{each}" for each in words)

    def alias(self):
        self._count += 1
        return f"t{self._count}"

    def source(self, depth, names):
        """What stands after FROM, with its alias, and a column of it."""
        alias, choice = self.alias(), self._random.random()
        if choice < 0.05:
            return self._random.choice(HOSTILE_TABLES), "order_id"
        if choice < 0.25 and names:
            return f"{self._random.choice(names)} AS {alias}", f"{alias}.order_id"
        if choice < 0.4 and depth:
            query = self.query(depth - 1, names)
            return f"({query}) AS {alias}", f"{alias}.order_id"
        if choice < 0.45:
            return f"VALUES (1), (2) AS {alias}(order_id)", f"{alias}.order_id"
        table, column = self._random.choice(list(REFERENCES.items()))
        return f"{table} AS {alias}", f"{alias}.{column}"

    def value(self, column, depth, names=()):
        choice = self._random.random()
        if choice < 0.03:
            return self._random.choice(HOSTILE_VALUES)
        if choice < 0.15 and depth:
            source, inner = self.source(depth - 1, names)
            return self.spaced("(SELECT", f"max({inner})", "FROM", source, ")")
        if choice < 0.3:
            return f"length({self._random.choice(TEXTS)})"
        if choice < 0.4:
            return f"coalesce({column}, {self.value(column, 0, names)})"
        return column

    def condition(self, column, depth, names=()):
        value, other = (self.value(column, depth, names) for _ in range(2))
        return self.spaced(value, self._random.choice(("<", "=", "<=>")), other)

    def query(self, depth, names=()):
        named, queries = list(names), []
        for _ in range(self._random.choice((0, 0, 1, 2)) if depth else 0):
            name = self._random.choice(NAMES)
            of = named + [name] if self._is(0.1) else named
            queries.append(f"{name} AS ({self.query(depth - 1, of)})")
            named.append(name)
        source, column = self.source(depth, named)
        words = ["WITH " + ", ".join(queries)] if queries else []
        words += ["SELECT", f"{self.value(column, depth, named)} AS order_id", "FROM"]
        words += [source]
        if self._is(0.3):
            joined, other = self.source(depth, named)
            words += ["JOIN", joined, "ON", f"{other} = {column}"]
        if self._is(0.3):
            words += ["WHERE", self.condition(column, depth, named)]
        if self._is(0.1) and depth:
            words += ["UNION ALL", f"({self.query(depth - 1, named)})"]
        return self.spaced(*words)


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    """The specs of a lake, and its views, with some that no spec declares."""
    shop = Shop(tmp_path_factory.mktemp("lake"))
    shop.product("SELECT order_id FROM {{ current('shop.orders') }}")
    shop.put(
        "shop/some.yml",
        "name: some\ndescription: Some of the orders\nowner: shop-data\n"
        "source: {kind: product, from: shop.orders}\n"
        "key: [order_id]\ncolumns: {order_id: int}\n",
    )
    domains = load_lake(shop.tables).domains.values()
    specs = {t.full_name: t for domain in domains for t in domain.tables}
    tables = Tables(domains)
    made = ["order_id", "customer_id", "region_id", "id"]
    rows = spark.sql(f"SELECT * FROM VALUES (1, 2, 3, 4) AS t({', '.join(made)})")
    views = [f"input_{number}" for number in range(40)] + ["salaries"]
    for view in views:
        rows.createOrReplaceTempView(view)
    rows.createOrReplaceGlobalTempView("salaries")
    yield spark, specs, tables
    for view in views:
        spark.catalog.dropTempView(view)
    spark.catalog.dropGlobalTempView("salaries")


def read_by(spark, text):
    """What Spark's plan of a text reads, as the plan is printed."""
    plan = spark.sql(text)._jdf.queryExecution().analyzed().toString()
    assert not re.search(ELSE, plan), plan
    return set(re.findall(r"View \(`([^,]*)`,", plan))


def judged(spark, spec, sql, tables):
    """Compile a product; if it is accepted, compare its inputs with Spark's plan."""
    plan = compile_product(spec, sql, tables).plan
    if plan is None:
        return False
    views = [each.view for each in plan.inputs]
    where = f"{sql or spec.source}\n{plan.sql}"
    try:
        found = read_by(spark, plan.sql)
    except AnalysisException as error:
        assert not re.search("TABLE_OR_VIEW|ROUTINE", str(error)), where
        return False
    assert found == set(views), where
    spec_sql.select(spark, plan.sql, views, where)
    return True


def accepted(lake, seed):
    """Make a text of each kind; return how many are accepted, all of which are judged."""
    spark, specs, tables = lake
    texts = Texts(seed)
    whole = f"SELECT CAST(q.order_id AS int) AS order_id FROM ({texts.query(2)}) AS q"
    value, condition = texts.value("order_id", 1), texts.condition("order_id", 1)
    derive = (("order_id", f"CAST({value} AS int)"),)
    some = specs["shop.some"]
    some = replace(some, source=replace(some.source, where=condition, derive=derive))
    count = judged(spark, specs["shop.enriched"], whole, tables)
    count += judged(spark, some, "", tables)
    columns = tables.columns("shop.orders", Layer.CURRENT)
    written, faults = compile_condition(condition, columns, ("checks", 0, "sql"))
    if not faults:
        count += 1
        where = f"{condition}\n{written}"
        spec_sql.check_condition(spark, written, where)
        assert read_by(spark, f"SELECT ({written}) AS a FROM input_0") == {
            "input_0"
        }, where
    return count


def check(lake, seeds):
    count = 0
    for seed in seeds:
        print(f"seed {seed}")  # which pytest shows of a failed test
        count += accepted(lake, seed)
    assert count > len(seeds), f"{count} texts were accepted"


def test_inputs_are_what_sparks_plan_reads(lake):
    check(lake, range(FAST))


@pytest.mark.nightly
def test_inputs_are_what_sparks_plan_reads_of_many_texts(lake):
    first = int(os.environ.get("READS_SEED") or random.SystemRandom().randrange(10**9))
    print(f"seeds from {first} on; READS_SEED={first} repeats them")
    check(lake, range(first, first + NIGHTLY))
