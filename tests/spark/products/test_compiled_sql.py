"""What a desk compiles is what Spark understands: the same rows and types as the text.

Spark runs the text of each product, with names of views for references, and the SQL of
its plan, on the same rows.
"""

from decimal import Decimal

import pytest

from lake_spec.text.sql_references import find_references
from lake_check.parsing.loader import load_lake
from lake_desk.products.plans import check_products
from lake_desk.products.spark_functions import AGGREGATES, FUNCTIONS
from tests.unit.lake_desk.products.shop import Shop

ORDERS = "{{ current('shop.orders') }} AS o"
CUSTOMER = "{{ current('crm.customer') }} AS c"
ROWS = {
    "input_0": (
        "order_id int, customer_id int, region string, ordered_at timestamp, "
        "amount decimal(10,2), tags array<string>, at timestamp",
        "(1, 7, 'north, ', timestamp'2026-01-31 23:59:59.5', 10.55, array('b', 'a'),"
        " timestamp'2026-02-01'), "
        "(2, 7, NULL, timestamp'2024-02-29 00:00:00', -3.10, array(),"
        " timestamp'2026-02-02'), "
        "(3, 9, 'süd', NULL, NULL, NULL, timestamp'2026-02-03')",
    ),
    "input_1": (
        "customer_id int, name string, segment string, region_id int, code string, "
        "at timestamp",
        "(7, 'Ann', 'x', 3, '12', timestamp'2026-01-01'), "
        "(8, 'Bo', NULL, 4, 'q', timestamp'2026-01-01')",
    ),
}
EXPRESSIONS = {
    "year(ordered_at)": "int",
    "date_trunc('month', ordered_at)": "timestamp",
    "to_date(ordered_at)": "date",
    "date_format(ordered_at, 'yyyy-MM-dd HH:mm')": "string",
    "date_add(to_date(ordered_at), 3)": "date",
    "add_months(to_date(ordered_at), 1)": "date",
    "datediff(to_date(at), to_date(ordered_at))": "int",
    "months_between(at, ordered_at)": "double",
    "ordered_at + INTERVAL 1 DAY 2 HOURS": "timestamp",
    "weekofyear(ordered_at)": "int",
    "dayofweek(ordered_at)": "int",
    "last_day(ordered_at)": "date",
    "extract(HOUR FROM ordered_at)": "int",
    "unix_timestamp(ordered_at)": "bigint",
    "to_timestamp('2026-01-02 03:04', 'yyyy-MM-dd HH:mm')": "timestamp",
    "upper(trim(region))": "string",
    "substring(region, 2, 3)": "string",
    "substring_index(region, ',', 1)": "string",
    "split(region, ',')": "array<string>",
    "regexp_extract(region, '([a-z]+)', 1)": "string",
    "regexp_replace(region, 'o', '0')": "string",
    "concat_ws('-', region, 'x')": "string",
    "region || 'x'": "string",
    "lpad(region, 9, '*')": "string",
    "length(region)": "int",
    "instr(region, 'o')": "int",
    "region LIKE 'n%'": "boolean",
    "region RLIKE '^n'": "boolean",
    "md5(region)": "string",
    "sha2(region, 256)": "string",
    "amount / 3": "decimal(14,6)",
    "order_id / 2": "double",
    "order_id DIV 2": "bigint",
    "order_id % 2": "int",
    "amount * order_id": "decimal(21,2)",
    "round(amount, 1)": "decimal(10,1)",
    "floor(amount)": "decimal(9,0)",
    "abs(amount)": "decimal(10,2)",
    "greatest(order_id, customer_id)": "int",
    "pmod(order_id, -2)": "int",
    "coalesce(region, 'none')": "string",
    "nvl(amount, 0)": "decimal(12,2)",
    "nullif(region, 'süd')": "string",
    "if(amount > 0, 'in', 'out')": "string",
    "CASE WHEN amount > 0 THEN 1 WHEN amount IS NULL THEN NULL ELSE 0 END": "int",
    "CASE order_id WHEN 1 THEN 'one' ELSE 'more' END": "string",
    "amount IS DISTINCT FROM 10.55": "boolean",
    "amount <=> NULL": "boolean",
    "order_id BETWEEN 2 AND 3": "boolean",
    "order_id IN (1, 3)": "boolean",
    "NOT (order_id = 1 OR region IS NULL)": "boolean",
    "CAST(amount AS string)": "string",
    "CAST(region AS int)": "int",
    "try_cast(region AS int)": "int",
    "size(tags)": "int",
    "tags[0]": "string",
    "element_at(tags, -1)": "string",
    "array_contains(tags, 'a')": "boolean",
    "sort_array(tags)": "array<string>",
    "transform(tags, t -> concat(t, region))": "array<string>",
    "filter(tags, t -> t > 'a')": "array<string>",
    "named_struct('a', order_id, 'b', region).b": "string",
    "map('k', order_id)['k']": "int",
    "conv('ff', 16, 10)": "string",
    "hash(region)": "int",
    "from_json('{\"a\": 1}', 'a int').a": "int",
    "get_json_object('{\"a\": 1}', '$.a')": "string",
    "1.5": "decimal(2,1)",
    "1e3": "double",
    "1L": "bigint",
    "'a''b'": "string",
    "'tab\\tand \\\\ and ü'": "string",
}
QUERIES = {
    f"SELECT region AS a, count(*) AS n, count(DISTINCT order_id) AS d, sum(amount) AS s,"
    f" avg(amount) AS v, max(at) AS m, min_by(order_id, at) AS f,"
    f" sum(order_id) FILTER (WHERE amount > 0) AS p, bool_or(amount > 0) AS b,"
    f" sort_array(collect_list(order_id)) AS l FROM {ORDERS} GROUP BY region"
    " HAVING count(*) > 0": "a: string, n: bigint, d: bigint, s: 'decimal(20,2)', "
    "v: 'decimal(14,6)', m: timestamp, f: int, p: bigint, b: boolean, l: array<int>",
    f"SELECT order_id, name, row_number() OVER w AS r, lag(amount, 1, 0) OVER"
    " (PARTITION BY o.customer_id ORDER BY o.at DESC NULLS FIRST) AS g,"
    " sum(amount) OVER (PARTITION BY o.customer_id ORDER BY o.at ROWS BETWEEN"
    f" UNBOUNDED PRECEDING AND CURRENT ROW) AS s FROM {ORDERS} LEFT JOIN {CUSTOMER}"
    " ON c.customer_id = o.customer_id"
    " WINDOW w AS (PARTITION BY o.customer_id ORDER BY o.at)": (
        "order_id: int, name: string, r: int, g: 'decimal(12,2)', s: 'decimal(20,2)'"
    ),
    f"WITH big AS (SELECT * FROM {ORDERS} WHERE amount > 0)\n"
    f"SELECT customer_id, 'o' AS k FROM big UNION ALL SELECT c.customer_id, 'c' FROM"
    f" {CUSTOMER} WHERE NOT EXISTS (SELECT 1 FROM big WHERE big.customer_id ="
    " c.customer_id)": "customer_id: int, k: string",
    f"SELECT order_id, p, t FROM {ORDERS} LATERAL VIEW OUTER posexplode(tags) e AS p, t": (
        "order_id: int, p: int, t: string"
    ),
    f"SELECT o.* FROM {ORDERS} LEFT ANTI JOIN {CUSTOMER} ON c.customer_id = o.customer_id": (
        "order_id: int, customer_id: int, region: string, ordered_at: timestamp, "
        "amount: 'decimal(10,2)', tags: array<string>, at: timestamp"
    ),
}


@pytest.fixture(scope="module")
def views(spark):
    """The views of both inputs, with a few rows."""
    for name, (columns, values) in ROWS.items():
        names = ", ".join(each.split(" ")[0] for each in columns.split(", "))
        rows = spark.sql(f"SELECT * FROM VALUES {values} AS t({names})")
        fields = [each.split(" ", 1) for each in columns.split(", ")]
        typed = [rows[n].cast(kind).alias(n) for n, kind in fields]
        rows.select(*typed).createOrReplaceTempView(name)
    yield spark
    for name in ROWS:
        spark.catalog.dropTempView(name)


def compiled(folder, sql, columns):
    """The SQL of a product's plan, which must be sound."""
    shop = Shop(folder)
    shop.product(sql, columns)
    key = columns.split(":")[0]
    text = (shop.tables / "shop/enriched.yml").read_text()
    shop.put("shop/enriched.yml", text.replace("key: [order_id]", f"key: [{key}]"))
    lake = load_lake(shop.tables)
    checked = check_products(list(lake.domains.values()), shop.tables)
    assert checked.diagnostics == []
    return checked.plans["shop.enriched"].sql


def compared(spark, sql, plan):
    """The rows of the plan, which are those of the text, and the types."""
    text, made = spark.sql(find_references(sql).sql), spark.sql(plan)
    assert made.dtypes == text.dtypes
    rows = sorted(map(repr, made.collect()))
    assert rows == sorted(map(repr, text.collect())) and rows
    return made


def test_expressions_mean_what_they_say(views, tmp_path):
    named = {f"e{number}": each for number, each in enumerate(EXPRESSIONS)}
    selects = ", ".join(f"{each} AS {name}" for name, each in named.items())
    sql = f"SELECT order_id, {selects} FROM {ORDERS}"
    types = "".join(f", {n}: '{EXPRESSIONS[each]}'" for n, each in named.items())
    made = compared(views, sql, compiled(tmp_path, sql, f"order_id: int{types}"))
    found = dict(made.dtypes[1:])
    assert {each: found[name] for name, each in named.items()} == EXPRESSIONS


@pytest.mark.parametrize("sql", QUERIES)
def test_queries_mean_what_they_say(views, tmp_path, sql):
    compared(views, sql, compiled(tmp_path, sql, QUERIES[sql]))


def test_qualify_keeps_the_rows_of_its_condition(views, tmp_path):
    first = "QUALIFY row_number() OVER (PARTITION BY customer_id ORDER BY at) = 1"
    sql = f"SELECT customer_id, amount FROM {ORDERS} {first}"
    columns = "customer_id: int, amount: 'decimal(10,2)'"
    rows = views.sql(compiled(tmp_path, sql, columns)).collect()
    assert {tuple(each) for each in rows} == {(7, Decimal("10.55")), (9, None)}


def test_the_functions_are_those_of_spark(spark):
    registry = spark._jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry
    names = spark._jvm.scala.collection.JavaConverters.setAsJavaSet(
        registry.functionSet()
    )
    identifier = spark._jvm.org.apache.spark.sql.catalyst.FunctionIdentifier
    found = {each.funcName() for each in names if each.funcName()[0].isalpha()}
    assert FUNCTIONS == found
    groups = {
        name: registry.builtin().lookupFunction(identifier(name)).get().getGroup()
        for name in found
    }
    assert AGGREGATES == {name for name in found if groups[name] == "agg_funcs"}
