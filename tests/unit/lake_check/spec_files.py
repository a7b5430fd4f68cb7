"""Sound specs to spoil: one domain `sales` with one table `orders`."""

from __future__ import annotations

import ast
import copy
import json
import re
from pathlib import Path
from typing import Any, Dict, List

import lake_check.rules
from lake_check.messages.parsing_ids import ParsingId
from lake_check.messages.product_ids import ProductId
from lake_check.parsing.loader import survey_all


def rule_functions() -> Dict[str, ast.FunctionDef]:
    """Every function of rules/ that is marked as a rule, by its id."""
    folder = Path(lake_check.rules.__file__).parent
    return {
        node.name.replace("_", "-"): node
        for path in sorted(folder.glob("*.py"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
        and any(re.search(r"\brule\b", ast.unparse(x)) for x in node.decorator_list)
    }


IDS = {*rule_functions(), *(x.value for ids in (ParsingId, ProductId) for x in ids)}

DOMAIN = {
    "name": "sales",
    "description": "Orders and customers of the shop",
    "owner": "sales-data",
}
FEED = {
    "name": "orders",
    "description": "Orders of the shop, one row per order",
    "owner": "sales-data",
    "source": {
        "kind": "feed",
        "path": "sales/orders",
        "format": {"type": "csv"},
        "operation": {"column": "Op"},
    },
    "columns": {
        "order_id": "long",
        "status": "string",
        "amount": "decimal(10,2)",
        "is_paid": "boolean",
        "lines": "array<struct<sku: string, pieces: int>>",
        "updated_at": "timestamp",
    },
    "key": ["order_id"],
    "order_by": ["updated_at"],
}
SNAPSHOT = {
    "name": "orders",
    "description": "Orders of the shop, one row per order",
    "owner": "sales-data",
    "source": {
        "kind": "snapshot",
        "path": "sales/orders",
        "files": "orders_*.csv",
        "format": {"type": "csv"},
        "snapshot_time": {"pattern": r"orders_(\d{8})", "format": "%Y%m%d"},
    },
    "columns": {"order_id": "long", "status": "string"},
    "key": ["order_id"],
}
CLUSTER = {"name": "standard"}
ENVIRONMENT = {
    "name": "dev",
    "region": "eu-central-1",
    "landing": "s3://lake/landing",
    "warehouse": "s3://lake/warehouse",
    "artifacts": "s3://lake/artifacts",
    "runs": "s3://lake/runs",
    "logs": "s3://lake/logs",
}
LEFT_OUT = object()


def changed(base: Dict[str, Any], changes: Dict[str, Any]) -> Dict[str, Any]:
    """The base with values set (or LEFT_OUT) at dotted keys."""
    spec = copy.deepcopy(base)
    for path, value in changes.items():
        *way, last = path.split(".")
        inner = spec
        for step in way:
            inner = inner.setdefault(step, {})
        if value is LEFT_OUT:
            del inner[last]
        else:
            inner[last] = copy.deepcopy(value)
    return spec


class SpecFiles:
    """Folders of specs below a temporary folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tables = root / "tables"
        self.clusters = root / "clusters"
        self.environments = root / "environments"
        self.put("tables/sales/_domain.yml", DOMAIN)
        self.put("tables/sales/orders.yml", FEED)
        self.put("clusters/standard.yml", CLUSTER)
        self.put("environments/dev.yml", ENVIRONMENT)

    def put(self, name: str, content: Any) -> Path:
        """Write text as it is, and data as JSON, which is YAML too."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")
        return path

    def diagnostics(self) -> List[str]:
        """Every diagnostic without its id, files named from the temporary folder."""
        _, survey = survey_all(
            self.tables, clusters=self.clusters, environments=self.environments
        )
        texts = [without_id(str(diagnostic)) for diagnostic in survey.diagnostics]
        return [text.replace(f"{self.root}/", "") for text in texts]


def without_id(text: str) -> str:
    """A diagnostic without the id at its end, which must be one that exists."""
    found = re.fullmatch(r"(.*) \[([a-z0-9-]+)\]", text, re.DOTALL)
    assert found and found[2] in IDS, text
    return found[1]


def diagnostics_of_file(
    specs: SpecFiles, name: str, base: Dict[str, Any], changes: Dict[str, Any]
) -> List[str]:
    """The faults of one file with these changes, without their place."""
    specs.put(name, changed(base, changes))
    return [re.sub(rf"^{name}:1: ", "", each) for each in specs.diagnostics()]


def diagnostics_of(
    specs: SpecFiles, base: Dict[str, Any], changes: Dict[str, Any]
) -> List[str]:
    """The faults of the table `orders` with these changes, without their place."""
    return diagnostics_of_file(specs, "tables/sales/orders.yml", base, changes)
