"""Plans of products as a file next to a release's DAGs, for tasks that cannot compile SQL.

Lineage events and pages follow columns through SQL by the plans. Like compiled domains,
the file counts only while the specs and the code are those that it was made of.
"""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Iterable, Mapping

from lake_check.parsing.compiled_domains import code_version
from lake_spec.diagnostics.errors import NotASpec
from lake_spec.model import DomainSpec, ProductPlan, ProductTable, TableSpec
from lake_spec.model.json_codec import from_data, to_data

FILE = "product_plans.json"
_SOURCES = (".yml", ".sql")

Plans = Mapping[str, ProductPlan]
"""The plan of each product, by `domain.table`."""


def plans_text(domains: Iterable[DomainSpec], tables: Path) -> str:
    """Return the file's text. `domains` have plans, and are all of the folder `tables`."""
    plans = {
        table.full_name: to_data(table.source.plan)
        for domain in domains
        for table in domain.tables
        if isinstance(table, ProductTable)
    }
    return json.dumps({"sources": _version(tables), "plans": plans}) + "\n"


def read_plans(file: Path, tables: Path) -> Plans:
    """Read the plans of products; none where they are not those of these specs."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        plans = content["plans"].items()
        if plans and content["sources"] == _version(tables):
            return {name: from_data(ProductPlan, plan) for name, plan in plans}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, NotASpec):
        pass
    return {}


def planned(domain: DomainSpec, plans: Plans) -> DomainSpec:
    """Return the domain whose products have these plans."""
    return replace(domain, tables=tuple(_planned(t, plans) for t in domain.tables))


def _planned(table: TableSpec, plans: Plans) -> TableSpec:
    plan = plans.get(table.full_name)
    if plan is None or not isinstance(table, ProductTable):
        return table
    return replace(table, source=replace(table.source, plan=plan))


def _version(tables: Path) -> str:
    """Hash the code that reads specs and every spec and SQL file below a folder."""
    digest = sha256(code_version().encode())
    for path in sorted(each for each in tables.rglob("*") if each.suffix in _SOURCES):
        digest.update(f"\n{path.relative_to(tables).as_posix()}\n".encode())
        digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()
