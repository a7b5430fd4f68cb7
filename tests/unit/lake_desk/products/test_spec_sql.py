"""The one door for SQL of specs: what comes in is judged, and what runs is written from it."""

import json

import pytest

from lake_check.parsing.loader import load_lake
from lake_desk.products.findings import Findings
from lake_desk.products.plans import with_plans
from lake_desk.products.spec_sql import written
from lake_desk.products.sql_tree import parse
from lake_spec.model import Expression
from tests.unit.lake_desk.products.shop import plan_of

KEYS = """\
name: enriched
description: Orders with more about them
owner: shop-data
source:
  kind: product
  from: shop.orders
  where: {where}
  derive: {{region: {derive}}}
key: [order_id]
columns: {{order_id: int, region: string}}
"""
FILE = "SELECT order_id FROM {{ current('shop.orders') }} AS o\n"
SUBQUERY = (
    "a subquery is not supported. Write the join in a SQL file: `sql` in place of "
    "`from`. [unsupported-sql]"
)
SETTING = "Spark puts a setting there: write concat('$', '{...'). [unsupported-sql]"
COMMENT = "Remove it; the spec's own comments begin with #. [unsupported-sql]"


def of_keys(shop, derive="region", where="order_id > 0"):
    """What `validate` says of a product of keys, without its file."""
    text = KEYS.format(derive=json.dumps(derive), where=json.dumps(where))
    shop.put("shop/enriched.yml", text)
    return [each.partition("yml:")[2] for each in shop.messages()]


def of_check(shop, sql):
    """What `validate` says of a condition of a check, without its file."""
    text = (shop.tables / "shop/orders.yml").read_text()
    shop.put(
        "shop/orders.yml",
        f"{text}checks:\n- kind: expression\n  sql: {json.dumps(sql)}\n",
    )
    return [each.partition("yml:")[2] for each in shop.messages()]


def of_file(shop, sql, columns="order_id: int"):
    """What `validate` says of a product of a SQL file, without its file."""
    shop.product(sql, columns)
    return [each.partition("shop/enriched.")[2] for each in shop.messages()]


@pytest.mark.parametrize(
    "sql",
    [
        "(SELECT max(to_json(struct(*))) FROM hr.salaries)",
        "(SELECT max(value) FROM text.`/etc/passwd`)",
        "(SELECT max(id) FROM parquet.`s3://lake/x`)",
        "CAST(EXISTS (SELECT 1 FROM hr.salaries) AS string)",
        "CAST(region IN (SELECT name FROM crm.customer) AS string)",
        "(WITH a AS (SELECT 1 AS id) SELECT max(id) FROM a)",
        "CAST((VALUES (1)) AS string)",
    ],
)
def test_a_derived_column_reads_no_table(shop, sql):
    assert of_keys(shop, derive=sql) == [f"8: source.derive.region: {SUBQUERY}"]


def test_a_condition_of_keys_reads_no_table(shop):
    found = of_keys(shop, where="EXISTS (SELECT 1 FROM hr.salaries)")
    assert found == [f"7: source.where: {SUBQUERY}"]


NESTED = "id > 0 /* /*+ */ AND reflect('java.lang.System', 'exit') -- */"


@pytest.mark.parametrize(
    "sql, message",
    [
        (
            "order_id > 0 -- always",
            f"the comment '-- always' is not supported. {COMMENT}",
        ),
        (
            "order_id /* the key */ > 0",
            f"the comment '/* the key */' is not supported. {COMMENT}",
        ),
        (
            "/*+ BROADCAST(x) */ order_id > 0",
            "the hint '/*+ BROADCAST(x) */' is not supported. Remove it. [unsupported-sql]",
        ),
        (
            "region > r'${env:HOME}'",
            f"'${{env:HOME}}', which has '${{', is not supported. {SETTING}",
        ),
        ("`${x}` > 0", f"'${{x}}', which has '${{', is not supported. {SETTING}"),
        (
            r"region > '\q'",
            r"the escape \q is not supported. Write the character itself. [unsupported-sql]",
        ),
        (
            r"region > 'a\0'",
            r"the escape \0 is not supported. Write the character itself. [unsupported-sql]",
        ),
        (
            "amount > 1.50BD",
            "the number 1.50BD is not supported. Write CAST('1.5' AS decimal(2,1)), with "
            "your digits. [unsupported-sql]",
        ),
    ],
)
def test_what_two_parsers_may_read_in_two_ways_is_refused_everywhere(
    shop, sql, message
):
    assert f"11: checks[0].sql: {message}" in of_check(shop, sql)
    derived = of_keys(
        shop,
        derive=f"CAST({sql.replace('-- always', '-- always' + chr(10))} AS string)",
    )
    assert any(message in each for each in derived)


def test_a_comment_that_hides_a_call_is_refused(shop):
    found = of_check(shop, NESTED)
    assert any("the comment" in each and "is not supported" in each for each in found)


def test_a_sql_file_may_have_comments_that_end_where_they_seem_to(shop):
    text = f"-- it's the orders\n/* all\nof them */ {FILE}-- ${{x}} FROM hr.salaries"
    assert of_file(shop, text) == []
    assert "salaries" not in plan_of(shop).sql and "--" not in plan_of(shop).sql


@pytest.mark.parametrize(
    "comment, message",
    [
        (
            "/* /* */ */",
            "sql:2: the comment '/* /* */ */' has the begin of another one. Spark may end "
            "it elsewhere: write each line of it after --. [unsupported-sql]",
        ),
        (
            "-- /*+ MERGE(o) */\n/*+ MERGE(o) */",
            "sql:3: the hint '/*+ MERGE(o) */' is not supported. Remove it. [unsupported-sql]",
        ),
    ],
)
def test_other_comments_of_a_sql_file_are_refused(shop, comment, message):
    assert message in of_file(shop, f"{FILE}{comment}\nWHERE order_id > 0")


@pytest.mark.parametrize(
    "sql",
    [
        # A query of a WITH does not know itself, nor those after it, nor those elsewhere.
        "WITH salaries AS (SELECT * FROM salaries) SELECT order_id FROM salaries",
        "WITH a AS (SELECT * FROM salaries), salaries AS (SELECT 1 AS order_id) "
        "SELECT order_id FROM a",
        "SELECT s.order_id FROM (WITH salaries AS (SELECT 1 AS id) SELECT id FROM salaries)"
        " AS t JOIN salaries AS s ON s.id = t.id",
        "SELECT order_id FROM salaries",
        "SELECT (SELECT max(id) FROM salaries) AS order_id",
    ],
)
def test_a_name_of_another_query_is_no_reference(shop, sql):
    message = (
        "sql:1: reads 'salaries' without a reference. Write {{ "
        "current('domain.salaries') }}, or history in place of current. [bad-reference]"
    )
    assert of_file(shop, sql) == [message]


@pytest.mark.parametrize(
    "sql",
    [
        f"WITH a AS ({FILE}), b AS (SELECT * FROM a) SELECT a.order_id FROM a, b",
        f"WITH a AS ({FILE}) SELECT order_id FROM (SELECT * FROM a) AS t WHERE EXISTS "
        "(SELECT 1 FROM a WHERE a.order_id = t.order_id)",
        f"WITH a AS (WITH b AS ({FILE}) SELECT * FROM b) SELECT order_id FROM a",
        f"WITH a AS ({FILE}) SELECT order_id FROM a UNION ALL SELECT order_id FROM a",
    ],
)
def test_queries_of_a_with_are_read_by_those_after_them(shop, sql):
    assert of_file(shop, sql) == []


def test_a_reference_in_another_place_is_no_input(shop):
    sql = "SELECT {{ current('crm.region') }} AS order_id\nFROM {{ current('shop.orders') }}"
    message = (
        "sql:1: does not read crm.region where its reference stands. Write it after FROM "
        "or JOIN. [bad-reference]"
    )
    assert of_file(shop, sql) == [message]


@pytest.mark.parametrize(
    "call, message",
    [
        ("hr.mask(region)", "the function hr.mask(region) is not supported"),
        (
            "hr.tools.reflect(region)",
            "the function hr.tools.reflect(region) is not supported",
        ),
        ("`reflect`('java.lang.System', 'exit')", "REFLECT"),
        ("try_reflect('java.lang.System', 'exit')", "TRY_REFLECT"),
        ("read_files('s3://lake/x')", "unknown function 'read_files'"),
        ("from_avro(region, 'x')", "unknown function 'from_avro'"),
        ("ai_query('x', region)", "unknown function 'ai_query'"),
        ("input_file_name()", "is not supported"),
        ("identifier('region')", "unknown function 'identifier'"),
    ],
)
def test_functions_are_those_of_spark_by_their_names_alone(shop, call, message):
    found = of_file(
        shop,
        f"SELECT order_id, {call} AS region FROM {{{{ current('shop.orders') }}}} AS o",
        "order_id: int, region: string",
    )
    assert found and any(message in each for each in found), found


@pytest.mark.parametrize(
    "call",
    [
        "region RLIKE '(a+)+$'",
        "regexp_replace(region, '(?i)(?:a|A)*$', '') = ''",
        "size(split(region, '(,+)+')) = 1",
    ],
)
def test_a_regular_expression_that_takes_hours_is_refused(shop, call):
    (found,) = of_check(shop, call)
    assert "is not supported. Its quantifiers can match one text in too many" in found


@pytest.mark.parametrize("text", [r"r'\p{L}+'", "'[a-z&&[^b]]++'", "'^[A-Z]{2}'"])
def test_others_are_accepted_also_where_only_java_reads_them(shop, text):
    assert of_check(shop, f"region RLIKE {text}") == []


@pytest.mark.parametrize("call", ["date_trunc()", "map('a')"])
def test_a_function_without_its_arguments_is_a_fault_of_the_spec(shop, call):
    (found,) = of_check(shop, f"{call} = 1")
    assert "the SQL cannot be parsed. Correct the SQL. [invalid-sql]" in found


TEXTS = {
    r"'a\'b\\c'": r"'a\'b\\c'",
    r"r'\d+'": r"'\\d+'",
    '"it\'s"': r"'it\'s'",
    "'ü;--/*'": "'ü;--/*'",
    r"'a\%b\_'": r"'a\\%b\\_'",
}


@pytest.mark.parametrize("text, said", TEXTS.items())
def test_a_condition_runs_as_it_is_written_from_the_tree(shop, text, said):
    assert of_check(shop, f"region = {text}") == []
    domains = with_plans(list(load_lake(shop.tables).domains.values()), shop.tables)
    (check,) = (c for d in domains for t in d.tables for c in t.checks)
    assert isinstance(check, Expression) and check.sql == f"region = {text}"
    assert check.written == f"`region` = {said}"


@pytest.mark.parametrize(
    "sql, fault",
    [
        ("SELECT /*+ MERGE(a) */ 1", "unexpected '/*+ MERGE(`a`) */ 1'"),
        ("SELECT @a", "unexpected"),
        ("SELECT reflect('a', 'b')", "it calls REFLECT"),
        ("SELECT abs(a) FROM salaries", "it reads 'salaries'"),
        ("SELECT a FROM text.`/etc/passwd`", "it reads '/etc/passwd'"),
        ("SELECT hr.abs(a)", "it calls abs"),
        ("SELECT * FROM range(5)", "it calls RANGE"),
        ("SELECT LATERAL (SELECT 1)", "it calls SELECTLATERAL"),
        ("SELECT _f(a)", "it calls _F"),
        ("SELECT unix_timestamp()", "it calls CURRENT_TIMESTAMP"),
        ("SELECT regexp_replace(a, b)", "an argument may be missing"),
        (
            "SELECT to_char(a, '99')",  # whose format would be lost
            "Argument 'format' is not supported for expression 'ToChar' when targeting",
        ),
    ],
)
def test_what_was_overlooked_does_not_get_out(sql, fault):
    found = Findings()
    written(parse(sql)[0], ("input_0",), found)
    (only,) = found
    assert only.message.startswith(
        f"the SQL cannot be passed on to Spark as it is read: {fault}"
    )
