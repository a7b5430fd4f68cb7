"""The lake of tests of products: orders, customers with their history, products of both.

Orders, customers and regions come as feeds; the plans of the products are compiled from
their SQL, as a release has them.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, List, Sequence

from pyspark.sql import SparkSession

from lake_spec.model import FileTable, ProductTable, TableSpec, TableType
from lake_check.parsing.loader import load_domain
from lake_desk.products.parts import PLAIN
from lake_desk.products.plans import with_plans
from tests.spark.lake import DOMAIN, Lake

SHARED = """
name: {name}
description: A table of the test of products
owner: test-team
"""
STORAGE = "storage: {buckets: 1}\n"
FEED = """
source:
  kind: feed
  path: {domain}/{name}
  format: {{type: csv}}
  operation: {{column: op}}
"""
FILES = {
    "orders": """
columns: {order_id: int, buyer: int, ordered_at: timestamp, amount: int, seen_at: timestamp}
key: [order_id]
order_by: [seen_at]
""",
    "customer": """
columns: {id: int, segment: string, region: string, since: timestamp}
key: [id]
order_by: [since]
effective_at: since
""",
    "region": """
columns: {code: string, title: string, since: timestamp}
key: [code]
order_by: [since]
""",
}
HEADERS = {
    "orders": "op,order_id,buyer,ordered_at,amount,seen_at\n",
    "customer": "op,id,segment,region,since\n",
    "region": "op,code,title,since\n",
    "address": "op,id,city,since\n",
}
PRODUCTS = {
    "enriched": """
columns: {order_id: int, ordered_at: timestamp, amount: int, segment: string}
key: [order_id]
source:
  kind: product
  sql: enriched.sql
  unknown: {tests.customer: {segment: Unknown}}
""",
    "by_segment": """
columns: {segment: string, orders: bigint, amount: bigint}
key: [segment]
source: {kind: product, sql: by_segment.sql}
""",
    "by_buyer": """
columns: {buyer: int, orders: bigint, last_order: timestamp}
key: [buyer]
source: {kind: product, sql: by_buyer.sql}
""",
    "by_way": """
columns: {order_id: int, segment: string, title: string}
key: [order_id]
source: {kind: product, sql: by_way.sql}
""",
    "versions": """
columns: {id: int, valid_from: timestamp, valid_to: timestamp, segment: string}
key: [id, valid_from]
source: {kind: product, sql: versions.sql}
""",
    "latest": """
columns: {order_id: int, buyer: int}
key: [order_id]
source: {kind: product, sql: latest.sql}
""",
}
SQL = {
    "enriched": """
SELECT o.order_id, o.ordered_at, o.amount, c.segment
FROM {{ current('tests.orders') }} AS o
LEFT JOIN {{ as_of(history('tests.customer'), o.ordered_at) }} AS c ON c.id = o.buyer
""",
    "by_segment": """
SELECT e.segment, count(*) AS orders, sum(e.amount) AS amount
FROM {{ current('tests.enriched') }} AS e GROUP BY e.segment
""",
    "by_buyer": """
SELECT o.buyer, count(*) AS orders, max(o.ordered_at) AS last_order
FROM {{ current('tests.orders') }} AS o WHERE o.buyer IS NOT NULL GROUP BY o.buyer
""",
    "by_way": """
SELECT o.order_id, c.segment, r.title
FROM {{ current('tests.orders') }} AS o
JOIN {{ current('tests.customer') }} AS c ON c.id = o.buyer
LEFT JOIN {{ current('tests.region') }} AS r ON r.code = c.region
""",
    "versions": """
SELECT c.id, c.valid_from, c.valid_to, c.segment
FROM {{ history('tests.customer') }} AS c WHERE NOT c.is_deleted
""",
    "latest": """
SELECT order_id, buyer FROM (
  SELECT order_id, buyer,
    row_number() OVER (PARTITION BY buyer ORDER BY ordered_at DESC, order_id) AS n
  FROM {{ current('tests.orders') }}
) AS numbered WHERE n = 1
""",
}


def specs_of(
    files: Dict[str, str], sql: Dict[str, str], **others: Dict[str, str]
) -> Sequence[TableSpec]:
    """The specs of a domain `tests`, and of others that it reads, as releases have them.

    A table without a source is a feed, and one without storage has one bucket. The text
    `_domain` is about the domain itself.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        domains = {**others, "tests": {"_domain": DOMAIN, **files}}
        for domain, texts in domains.items():
            (root / domain).mkdir()
            for name, text in texts.items():
                if name != "_domain":
                    kind = "" if "source:" in text else FEED
                    text = (SHARED + kind).format(domain=domain, name=name) + text
                    text += "" if "storage:" in text else STORAGE
                (root / domain / f"{name}.yml").write_text(text)
        for name, text in sql.items():
            (root / "tests" / f"{name}.sql").write_text(text)
        planned = with_plans([load_domain(each, root) for each in domains], root)
        return [table for domain in planned for table in domain.tables]


@lru_cache(maxsize=None)
def all_specs() -> Sequence[TableSpec]:
    """The specs of all tables and products of the tests."""
    return specs_of({**FILES, **PRODUCTS}, SQL)


class Stall:
    """The lakes of tables and products, below one folder."""

    def __init__(
        self,
        spark: SparkSession,
        root: Path,
        names: Sequence[str],
        specs: Sequence[TableSpec] = (),
    ) -> None:
        self.root, self._spark = root, spark
        known = specs or all_specs()
        self._open(
            [
                each
                for each in known
                if isinstance(each, FileTable) or each.name in names
            ]
        )
        self._files = len(list(root.rglob("landing/**/*.csv")))

    def _open(self, specs: Sequence[TableSpec]) -> None:
        self.lakes = {
            spec.name: Lake(
                self._spark,
                self.root,
                spec,
                [each for each in specs if each.domain == spec.domain],
            )
            for spec in specs
        }

    def redefine(self, name: str, **changes: Any) -> Lake:
        """Change settings of one table from now on; its lake."""
        specs = {each: lake.spec for each, lake in self.lakes.items()}
        specs[name] = replace(specs[name], **changes)
        self._open(list(specs.values()))
        return self.lakes[name]

    def replan(self, name: str, **changes: Any) -> Lake:
        """Change the plan of a product from now on; its lake."""
        source = self.lakes[name].spec.source
        plan = replace(source.plan, **changes)
        return self.redefine(name, source=replace(source, plan=plan))

    def take(self, **rows: str) -> None:
        """Land rows of tables, as HEADERS name them, and bring the tables up to them."""
        self._files += 1
        for name, text in rows.items():
            if text:
                lake = self.lakes[name]
                lake.land(f"changes/{self._files}.csv", HEADERS[name] + text)
                lake.done("incremental", "scd2")

    def store_as(self, kind: TableType) -> None:
        """Store all tables so from now on; as plain Parquet the products alone."""
        plain = kind is TableType.PARQUET
        for name, lake in list(self.lakes.items()):
            if plain and not isinstance(lake.spec, ProductTable):
                continue
            self.redefine(name, storage=replace(lake.spec.storage, type=kind))
            if plain:
                plan = lake.spec.source.plan
                inputs = [replace(e, is_plain=e.is_product) for e in plan.inputs]
                because = plan.whole_because or PLAIN
                self.replan(name, inputs=tuple(inputs), whole_because=because)

    def rows(self, name: str, *columns: str) -> List[tuple]:
        """The rows of a product as texts, in the order of their columns."""
        names = columns or [column for column, _ in self.lakes[name].spec.columns]
        texts = [f"CAST({each} AS string)" for each in names]
        found = self.lakes[name].current.selectExpr(*texts).collect()
        return sorted((tuple(row) for row in found), key=str)
