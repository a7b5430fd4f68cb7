"""Wrong products: each mistake is one message with file, line and what to do."""

import pytest

from tests.unit.lake_desk.products.shop import DOMAIN, TABLE

ORDERS = "{{ current('shop.orders') }} AS o"
CUSTOMER = "{{ current('crm.customer') }} AS c"
AS_OF = "{{ as_of(history('crm.customer'), o.%s) }} AS c"
ID = "order_id: int"
FORMS = (
    "{{ current('domain.table') }}, {{ history('domain.table') }} or "
    "{{ as_of(history('domain.table'), alias.column) }}"
)
BY_ROW_ORDER = (
    "is not supported. Its result depends on the order of the rows, which differs each "
    "time: use min, max, max_by, or sort_array around a collected list. [unsupported-sql]"
)
BY_RUN = (
    "is not supported. Its result differs each time: use a column of an input. "
    "[unsupported-sql]"
)
SELF = "products read each other in a circle: shop.enriched -> shop.enriched"

MISTAKES = {
    "a misspelt column": (
        f"SELECT order_id,\n  o.custmer_id FROM {ORDERS}",
        f"{ID}, custmer_id: int",
        "sql:2: o has no column 'custmer_id'. Did you mean 'customer_id'? Columns: "
        "order_id, customer_id, region, ordered_at, amount, tags, at. [unknown-column]",
    ),
    "a misspelt table": (
        "SELECT order_id\nFROM {{ current('shop.order') }}",
        ID,
        "sql:2: unknown table 'shop.order'. Did you mean 'shop.orders'? Tables: "
        "shop.enriched, shop.orders. [unknown-input]",
    ),
    "an unknown alias": (
        f"SELECT order_id, x.name FROM {ORDERS}",
        f"{ID}, name: string",
        "sql:1: unknown table or alias 'x'. Tables of this SELECT: o. [unknown-column]",
    ),
    "a column of two tables": (
        f"SELECT order_id, at FROM {ORDERS}\nJOIN {CUSTOMER} ON c.customer_id = o.customer_id",
        f"{ID}, at: timestamp",
        "sql:1: 'at' is a column of o and c. Write one of: o.at, c.at. [ambiguous-column]",
    ),
    "a column of a subquery": (
        f"WITH t AS (SELECT order_id FROM {ORDERS})\nSELECT order_id, t.nope FROM t",
        f"{ID}, nope: int",
        "sql:2: t has no column 'nope'. Columns: order_id. [unknown-column]",
    ),
    "a table joined too late": (
        f"SELECT order_id FROM {ORDERS}\n"
        "JOIN {{ current('crm.region') }} AS r ON r.region_id = c.region_id\n"
        f"JOIN {CUSTOMER} ON c.customer_id = o.customer_id",
        ID,
        "sql:2: c.region_id is used before c is joined. Join that table first. "
        "[unknown-column]",
    ),
    "a reference of another tool": (
        "SELECT order_id FROM {{ ref('orders') }}",
        ID,
        f"sql:1: got \"{{{{ ref('orders') }}}}\". Write {FORMS}. [bad-reference]",
    ),
    "a table without its domain": (
        "SELECT order_id FROM {{ current('orders') }}",
        ID,
        "sql:1: got \"{{ current('orders') }}\". Name the domain too, as in "
        "current('shop.orders'). [bad-reference]",
    ),
    "a template": (
        f"SELECT order_id FROM {ORDERS}\n{{% if x %}}",
        ID,
        f"sql:2: got '{{%'. Templates are not supported. Write {FORMS}. [bad-reference]",
    ),
    "a table without reference": (
        "SELECT order_id FROM shop.orders",
        ID,
        "sql:1: reads 'shop.orders' without a reference. Write "
        "{{ current('shop.orders') }}, or history in place of current. [bad-reference]",
    ),
    "files without reference": (
        "SELECT order_id FROM parquet.`s3://lake/x`",
        ID,
        "sql:1: reads 'parquet.s3://lake/x' without a reference. Write "
        "{{ current('parquet.s3://lake/x') }}, or history in place of current. "
        "[bad-reference]",
    ),
    "a view's name": (
        f"SELECT o.order_id FROM {ORDERS} JOIN input_0 AS x ON x.order_id = o.order_id",
        ID,
        "sql:1: uses the name 'input_0'. Names of that form are reserved: choose "
        "another. [unsupported-sql]",
    ),
    "an open parenthesis": (
        f"SELECT order_id\nFROM {ORDERS}\nWHERE (order_id > 1",
        ID,
        "sql:3: expecting ) at '1'. Correct the SQL in this line or the one before. "
        "[invalid-sql]",
    ),
    "an open quote": (
        f"SELECT 'x FROM {ORDERS}",
        ID,
        "sql:1: a quote or a comment is not closed. Correct the SQL in this line or the "
        "one before. [invalid-sql]",
    ),
    "no SELECT": (
        f"INSERT INTO t SELECT order_id FROM {ORDERS}",
        ID,
        "sql:1: got INSERT where one SELECT is expected. Write one SELECT; WITH and "
        "UNION are part of it. [invalid-sql]",
    ),
    "two statements": (
        f"SELECT order_id FROM {ORDERS}; SELECT 1",
        ID,
        "sql:1: got SELECT, SELECT where one SELECT is expected. Write one SELECT; WITH "
        "and UNION are part of it. [invalid-sql]",
    ),
    "no text": (
        "",
        ID,
        "sql:1: got no statement where one SELECT is expected. Write one SELECT; WITH "
        "and UNION are part of it. [invalid-sql]",
    ),
    "the time of the run": (
        f"SELECT order_id, now() AS n FROM {ORDERS}",
        f"{ID}, n: timestamp",
        f"sql:1: NOW() {BY_RUN}",
    ),
    "random numbers": (
        f"SELECT order_id, rand() AS n FROM {ORDERS}",
        f"{ID}, n: double",
        f"sql:1: RAND() {BY_RUN}",
    ),
    "other code": (
        f"SELECT order_id, java_method('java.lang.System', 'gc') AS n FROM {ORDERS}",
        f"{ID}, n: string",
        f"sql:1: JAVA_METHOD('java.lang.System', 'gc') {BY_RUN}",
    ),
    "the first of rows without order": (
        f"SELECT order_id, first(o.region) AS r FROM {ORDERS} GROUP BY order_id",
        f"{ID}, r: string",
        f"sql:1: FIRST(o.region) {BY_ROW_ORDER}",
    ),
    "a misspelt function": (
        f"SELECT order_id, uper(region) AS r FROM {ORDERS}",
        f"{ID}, r: string",
        "sql:1: unknown function 'uper'. Did you mean 'upper'? Use a function of Spark "
        "3.5. [unsupported-sql]",
    ),
    "an order of rows": (
        f"SELECT order_id FROM {ORDERS}\nORDER BY order_id",
        ID,
        "sql:2: ORDER BY is not supported. Rows of a table have no order. Remove it, or "
        "use `storage.sort_by`. [unsupported-sql]",
    ),
    "some of the rows": (
        f"SELECT order_id FROM {ORDERS}\nLIMIT 3",
        ID,
        "sql:2: LIMIT is not supported. It may choose other rows each time. Use QUALIFY "
        "row_number() OVER (...) = 1, or remove it. [unsupported-sql]",
    ),
    "a sample": (
        f"SELECT order_id FROM {ORDERS} TABLESAMPLE (10 PERCENT)",
        ID,
        "sql:1: TABLESAMPLE is not supported. Its rows differ each time: remove it. "
        "[unsupported-sql]",
    ),
    "another program": (
        f"SELECT TRANSFORM(order_id) USING 'cat' AS (order_id) FROM {ORDERS}",
        ID,
        "sql:1: TRANSFORM ... USING is not supported. It runs another program: remove "
        "it. [unsupported-sql]",
    ),
    "an older version": (
        "SELECT order_id FROM {{ current('shop.orders') }} VERSION AS OF 1",
        ID,
        "sql:1: a version of a table is not supported. Each build reads the newest "
        "commit: remove it. [unsupported-sql]",
    ),
    "a pivot": (
        f"SELECT * FROM {ORDERS} PIVOT (sum(amount) FOR region IN ('a' AS order_id))",
        ID,
        "sql:1: PIVOT is not supported. Write CASE or FILTER in aggregates, and GROUP "
        "BY. [unsupported-sql]",
    ),
    "a parameter": (
        f"SELECT order_id FROM {ORDERS} WHERE order_id > :first",
        ID,
        "sql:1: the parameter :first is not supported. Nothing is filled in: write the "
        "value. [unsupported-sql]",
    ),
    "a setting in a text": (
        f"SELECT order_id FROM {ORDERS} WHERE region = '${{x}}'",
        ID,
        "sql:1: '${x}', which has '${', is not supported. Spark puts a setting there: "
        "write concat('$', '{...'). [unsupported-sql]",
    ),
    "an escape by number": (
        f"SELECT order_id\nFROM {ORDERS} WHERE region = 's\\u00fcd'",
        ID,
        "sql:2: the escape \\u00fc is not supported. Write the character itself. "
        "[unsupported-sql]",
    ),
    "USING": (
        f"SELECT order_id FROM {ORDERS} JOIN {CUSTOMER} USING (customer_id)",
        ID,
        "sql:1: USING is not supported. Write ON with both columns, as in ON "
        "c.customer_id = o.customer_id. [unsupported-sql]",
    ),
    "a column outside of the groups": (
        f"SELECT order_id, region FROM {ORDERS} GROUP BY order_id",
        f"{ID}, region: string",
        "sql:1: o.region is neither in GROUP BY nor in an aggregate. Add it to GROUP BY, "
        "or write for example max() around it. [unsupported-sql]",
    ),
    "a union of other columns": (
        f"SELECT order_id FROM {ORDERS} UNION ALL SELECT name, code FROM {CUSTOMER}",
        ID,
        "sql:1: UNION of 1 and 2 columns. Select as many columns on both sides. "
        "[unsupported-sql]",
    ),
    "a join of other types": (
        f"SELECT order_id FROM {ORDERS}\nJOIN {CUSTOMER} ON c.code = o.customer_id",
        ID,
        "sql:2: joins c.code (string) with o.customer_id (int). Cast one of the two, as "
        "in CAST(c.code AS int). [compared-types]",
    ),
    "another type than declared": (
        f"SELECT order_id, region FROM {ORDERS}",
        f"{ID}, region: int",
        "sql:1: 'region' is string in the SELECT and int in `columns`. Declare string, "
        "or write CAST(o.region AS int). [output-type]",
    ),
    "a type that loses digits": (
        f"SELECT order_id, amount FROM {ORDERS}",
        f"{ID}, amount: 'decimal(8,2)'",
        "sql:1: 'amount' is decimal(10,2) in the SELECT and decimal(8,2) in `columns`. "
        "Declare decimal(10,2), or write CAST(o.amount AS decimal(8,2)). [output-type]",
    ),
    "a column that is not declared": (
        f"SELECT order_id, region FROM {ORDERS}",
        ID,
        "sql:1: column 'region' of the SELECT is not declared. Declare it under "
        "`columns`, or remove it. [output-columns]",
    ),
    "a column that is not selected": (
        f"SELECT order_id FROM {ORDERS}",
        f"{ID}, region: string",
        "yml:6: columns.region: the SELECT has no such column. Add it to the SELECT, or "
        "remove it here. [output-columns]",
    ),
    "a column twice": (
        f"SELECT order_id, order_id FROM {ORDERS}",
        ID,
        "sql:1: the SELECT has two columns 'order_id'. Remove one, or give it another "
        "name by AS. [output-columns]",
    ),
    "a value without name": (
        f"SELECT order_id, upper(region) FROM {ORDERS}",
        ID,
        "sql:1: 'UPPER(o.region)' has no name. Give it one by AS. [output-columns]",
    ),
    "a join by time first": (
        f"SELECT c.region_id AS order_id FROM {AS_OF % 'at'}",
        ID,
        "sql:1: as_of(crm.customer) is not joined by ON. Write JOIN or LEFT JOIN "
        "{{ as_of(...) }} AS c ON c.key = a column before it. [bad-as-of]",
    ),
    "a join by time at a text": (
        f"SELECT order_id FROM {ORDERS}\n"
        f"LEFT JOIN {AS_OF % 'region'} ON c.customer_id = o.customer_id",
        ID,
        "sql:2: as_of(crm.customer) at o.region. It is string: name a date or timestamp "
        "column, or cast it before. [bad-as-of]",
    ),
    "a join by time at no column": (
        f"SELECT order_id FROM {ORDERS}\n"
        f"LEFT JOIN {AS_OF % 'ordered'} ON c.customer_id = o.customer_id",
        ID,
        "sql:2: o has no column 'ordered'. Did you mean 'ordered_at'? Columns: order_id, "
        "customer_id, region, ordered_at, amount, tags, at. [unknown-column]",
    ),
    "a join by time of no history": (
        "SELECT order_id FROM {{ as_of(current('crm.customer'), o.at) }}",
        ID,
        "sql:1: got \"{{ as_of(current('crm.customer'), o.at) }}\". as_of reads history: "
        "write history('crm.customer') in it. [bad-reference]",
    ),
    "itself": (
        "SELECT order_id FROM {{ current('shop.enriched') }}",
        ID,
        f"sql:1: {SELF}. Remove one of these references. [product-cycle]",
    ),
}


@pytest.mark.parametrize("sql, columns, message", MISTAKES.values(), ids=MISTAKES)
def test_a_wrong_text_is_one_message_with_its_line(shop, sql, columns, message):
    shop.product(sql, columns)
    assert shop.messages() == [f"shop/enriched.{message}"]


UNKNOWN = {
    "a table that is not joined so": (
        "crm.region: {title: none}",
        "crm.region: the SQL does not join crm.region by LEFT JOIN. Name a table that it "
        "joins so, or remove it.",
    ),
    "a misspelt column": (
        "crm.customer: {segmnt: none}",
        "crm.customer.segmnt: crm.customer has no column 'segmnt'. Did you mean "
        "'segment'? Columns: customer_id, name, segment, region_id, code, at.",
    ),
    "a value of another type": (
        "crm.customer: {region_id: none}",
        "crm.customer.region_id: got 'none'. Column 'region_id' is int: write a value of "
        "that type.",
    ),
}


@pytest.mark.parametrize("unknown, message", UNKNOWN.values(), ids=UNKNOWN)
def test_a_wrong_value_for_no_row_is_named_by_its_key(shop, unknown, message):
    join = f"LEFT JOIN {CUSTOMER} ON c.customer_id = o.customer_id"
    sql = f"SELECT order_id FROM {ORDERS} {join}"
    shop.product(sql, source=f", unknown: {{{unknown}}}")
    expected = f"shop/enriched.yml:4: source.unknown.{message} [bad-unknown]"
    assert shop.messages() == [expected]


LOST = {
    "an int of 33 bits": ("region_id: int", "region_id: 2147483648"),
    "underscores, which Spark does not read": ("region_id: int", "region_id: '1_0'"),
    "a decimal of too many digits": ("amount: 'decimal(4,2)'", "amount: 100"),
    "a decimal of too many places": ("amount: 'decimal(4,2)'", "amount: '1.005'"),
    "a date without hyphens": ("day: date", "day: '20260131'"),
}


@pytest.mark.parametrize("column, value", LOST.values(), ids=LOST)
def test_a_value_for_no_row_that_its_type_cannot_have_is_refused(shop, column, value):
    found = _unknown_of_a_column(shop, column, value)
    assert len(found) == 1 and found[0].endswith("of that type. [bad-unknown]")


KEPT = {
    "the lowest int": ("region_id: int", "region_id: -2147483648"),
    "the highest bigint": ("region_id: bigint", "region_id: 9223372036854775807"),
    "all digits of a decimal": ("amount: 'decimal(4,2)'", "amount: '-99.99'"),
    "a double with an exponent": ("share: double", "share: '1e-3'"),
    "a date": ("day: date", "day: '2026-01-31'"),
}


@pytest.mark.parametrize("column, value", KEPT.values(), ids=KEPT)
def test_a_value_for_no_row_that_its_type_has_is_accepted(shop, column, value):
    assert _unknown_of_a_column(shop, column, value) == []


def _unknown_of_a_column(shop, column, value):
    """The messages about a value for no row of a column of a joined table."""
    spec = TABLE.format("crm", "extra", "id", f"id: int, {column}", "")
    shop.put("crm/extra.yml", spec)
    join = "LEFT JOIN {{ current('crm.extra') }} AS e ON e.id = o.customer_id"
    sql = f"SELECT order_id FROM {ORDERS} {join}"
    shop.product(sql, source=f", unknown: {{crm.extra: {{{value}}}}}")
    return shop.messages()


def test_products_that_read_each_other_are_named_in_their_order(shop):
    shop.product("SELECT order_id\nFROM {{ current('shop.b') }}")
    for name, of in (("a", "enriched"), ("b", "a")):
        shop.put(
            f"shop/{name}.yml",
            f"name: {name}\ndescription: Another product of orders\nowner: shop-data\n"
            f"source: {{kind: product, from: shop.{of}}}\n"
            f"key: [order_id]\ncolumns: {{order_id: int}}\n",
        )
    assert shop.messages() == [
        "shop/a.yml:4: source.from: products read each other in a circle: shop.a -> "
        "shop.enriched -> shop.b -> shop.a. Remove one of these references. "
        "[product-cycle]"
    ]


def test_a_product_has_no_history(shop):
    shop.product(f"SELECT order_id FROM {ORDERS}")
    shop.put(
        "shop/more.yml",
        "name: more\ndescription: Another product of orders\nowner: shop-data\n"
        "source: {kind: product, sql: more.sql}\nkey: [order_id]\n"
        "columns: {order_id: int}\n",
    )
    shop.put("shop/more.sql", "SELECT order_id FROM {{ history('shop.enriched') }}")
    assert shop.messages() == [
        "shop/more.sql:1: shop.enriched is a product, which has no history. Read "
        "{{ current('shop.enriched') }}. [unknown-input]"
    ]


GRANTS = {
    "": "does not grant",
    "table_grants: [{to: [erp]}]\n": "does not grant",
    "table_grants: [{tables: [region], to: [shop]}]\n": "does not grant",
    "table_grants: [{tables: [region, customer], to: [erp, shop]}]\n": "",
    "table_grants: [{to: [shop]}]\n": "",
    "table_grants: [{tables: [custmer], to: [shop]}]\n": "unknown table: 'custmer'. Did",
    "table_grants: [{to: []}]\n": "table_grants[0].to: got []. List the domains whose",
}


@pytest.mark.parametrize("grants", GRANTS)
def test_a_table_of_another_domain_is_read_if_that_grants_it(shop, grants):
    shop.put("crm/_domain.yml", DOMAIN.format("crm") + grants)
    shop.product(f"SELECT customer_id AS order_id\nFROM {CUSTOMER}")
    found = shop.messages()
    assert len(found) == bool(GRANTS[grants])
    assert not found or GRANTS[grants] in found[0]
    if GRANTS[grants] == "does not grant":
        assert found[0] == (
            "shop/enriched.sql:2: crm does not grant crm.customer to shop. Write "
            "table_grants: [{tables: [customer], to: [shop]}] in crm/_domain.yml. "
            "[not-granted]"
        )


def test_an_input_must_declare_its_columns(shop):
    shop.put(
        "crm/loose.yml",
        "name: loose\ndescription: A table without columns\nowner: crm-data\n"
        "source: {kind: snapshot, path: crm/loose, files: x, format: {type: csv},"
        " snapshot_time: {pattern: '(.*)'}}\nkey: [id]\n",
    )
    shop.product("SELECT id AS order_id FROM {{ current('crm.loose') }}")
    assert shop.messages() == [
        "shop/enriched.sql:1: the columns of crm.loose are unknown. Declare `columns` in "
        "loose.yml. [unknown-input]"
    ]


def test_another_type_than_declared_is_named_at_the_key_of_its_column(shop):
    shop.put(
        "shop/totals.yml",
        "name: totals\ndescription: The totals of orders\nowner: shop-data\n"
        "source: {kind: product, from: shop.orders, derive: {y: upper(region)}}\n"
        "key: [order_id]\ncolumns:\n  order_id: string\n  y: int\n",
    )
    assert shop.messages() == [
        "shop/totals.yml:4: source.derive.y: 'y' is string in the SELECT and int in "
        "`columns`. Declare string, or write CAST(UPPER(orders.region) AS int). "
        "[output-type]",
        "shop/totals.yml:7: columns.order_id: 'order_id' is int in the SELECT and string "
        "in `columns`. Declare int, or write CAST(orders.order_id AS string). "
        "[output-type]",
    ]


FROM = {
    "an expression that is a query": (
        'derive: {y: "1 AS x FROM t"}',
        "derive.y: got '1 AS x FROM t'. Write one expression over the columns of `from`. "
        "[invalid-sql]",
    ),
    "a misspelt column": (
        "derive: {y: year(ordered)}",
        "derive.y: unknown column 'ordered'. Did you mean 'ordered_at'? Columns: "
        "order_id, customer_id, region, ordered_at, amount, tags, at. [unknown-column]",
    ),
    "a condition that is none": (
        "where: 'order_id >', derive: {y: year(at)}",
        "where: got 'order_id >': something is missing at '>'. Correct the SQL. "
        "[invalid-sql]",
    ),
    "a misspelt column of deduplicate": (
        "deduplicate: {by: [custmer_id], order_by: [at]}, derive: {y: year(at)}",
        "deduplicate.by: unknown column 'custmer_id'. Did you mean 'customer_id'? "
        "Columns: order_id, customer_id, region, ordered_at, amount, tags, at. "
        "[unknown-column]",
    ),
}


@pytest.mark.parametrize("keys, message", FROM.values(), ids=FROM)
def test_a_wrong_key_next_to_from_is_named(shop, keys, message):
    shop.put(
        "shop/totals.yml",
        "name: totals\ndescription: The totals of orders\nowner: shop-data\n"
        f"source: {{kind: product, from: shop.orders, {keys}}}\n"
        "key: [order_id]\ncolumns: {order_id: int, y: int}\n",
    )
    assert shop.messages() == [f"shop/totals.yml:4: source.{message}"]
