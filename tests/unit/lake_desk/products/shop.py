"""A lake of two domains for products: orders of a shop, customers of a CRM."""

from pathlib import Path

from lake_check.parsing.loader import load_lake
from lake_desk.products.plans import check, with_plans
from lake_spec.model import ProductPlan

DOMAIN = """\
name: {0}
description: The data of the {0}, as it is
owner: {0}-data
"""
GRANTS = "table_grants: [{to: [shop, crm]}]\n"
TABLE = """\
name: {1}
description: The rows of the table {1}
owner: {0}-data
source: {{kind: feed, path: {0}/{1}, format: {{type: json}}}}
key: [{2}]
order_by: [at]
columns: {{{3}, at: timestamp}}
{4}
"""
TABLES = (
    (
        "shop",
        "orders",
        "order_id",
        "order_id: int, customer_id: int, region: string, ordered_at: timestamp, "
        "amount: 'decimal(10,2)', tags: 'array<string>'",
        "",
    ),
    (
        "crm",
        "customer",
        "customer_id",
        "customer_id: int, name: string, segment: string, region_id: int, code: string",
        "history: {open_end: 9999-12-31}",
    ),
    ("crm", "region", "region_id", "region_id: int, title: string", ""),
    ("crm", "loose", "id", "id: int", ""),
)
ENRICHED = """\
name: enriched
description: Orders with the customer of their time
owner: shop-data
source: {kind: product, sql: enriched.sql}
key: [order_id]
columns:
  order_id: int
  segment: string
"""
ENRICHED_SQL = """\
SELECT o.order_id, c.segment
FROM {{ current('shop.orders') }} AS o
LEFT JOIN {{ as_of(history('crm.customer'), o.ordered_at) }} AS c
  ON c.customer_id = o.customer_id
"""


class Shop:
    """The specs of the lake below a folder."""

    def __init__(self, root: Path) -> None:
        self.tables = root / "tables"
        for domain in ("shop", "crm"):
            self.put(f"{domain}/_domain.yml", DOMAIN.format(domain) + GRANTS)
        for domain, name, key, columns, more in TABLES:
            self.put(
                f"{domain}/{name}.yml", TABLE.format(domain, name, key, columns, more)
            )

    def put(self, name: str, text: str) -> None:
        """Write a file below the folder of tables."""
        path = self.tables / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def product(
        self, sql: str, columns: str = "order_id: int", source: str = ""
    ) -> None:
        """Write a product `shop.enriched` with this SQL."""
        self.put(
            "shop/enriched.yml",
            "name: enriched\ndescription: Orders with more about them\nowner: shop-data\n"
            f"source: {{kind: product, sql: enriched.sql{source}}}\n"
            f"key: [order_id]\ncolumns: {{{columns}}}\n",
        )
        self.put("shop/enriched.sql", sql)

    def enriched(self) -> "Shop":
        """Write the product `shop.enriched` that is joined by time; return the lake."""
        self.put("shop/enriched.yml", ENRICHED)
        self.put("shop/enriched.sql", ENRICHED_SQL)
        return self

    def messages(self) -> list:
        """Every diagnostic, files named from the folder of tables."""
        _, diagnostics, _ = check(self.tables)
        return [str(each).replace(f"{self.tables}/", "") for each in diagnostics]


def plan_of(shop: Shop, table: str = "shop.enriched") -> ProductPlan:
    """The plan of a product of the lake, which must be sound."""
    tables = (each for domain in planned_domains(shop) for each in domain.tables)
    (plan,) = [t.source.plan for t in tables if t.full_name == table]
    return plan


def planned_domains(shop: Shop) -> list:
    """The domains of the lake with the plans of their products."""
    return with_plans(list(load_lake(shop.tables).domains.values()), shop.tables)
