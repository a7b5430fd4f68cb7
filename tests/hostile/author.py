"""Somebody who may change the specs of one domain, and has them validated.

    python -m tests.hostile.author

The domain `tests` is theirs, `hr` is another's; only harmless specs may be accepted.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import yaml

from lake_desk.products.plans import check
from lake_emulator.runtimes import PROJECT
from tests.hostile import names
from tests.hostile.child import serve

_DOMAIN = {"description": "Things that others attack", "owner": "test-team"}
_SOURCE = {
    "kind": "feed",
    "changes": "changes/*",
    "format": {"type": "csv"},
    "operation": {"column": "op"},
}
_TABLE = {
    **_DOMAIN,
    "columns": {"id": "int", "name": "string", "at": "timestamp"},
    "key": ["id"],
    "order_by": ["at"],
    "effective_at": "at",
}
_PRODUCT = {
    **_DOMAIN,
    "name": "some_things",
    "source": {"kind": "product", "from": f"{names.DOMAIN}.{names.TABLE}"},
    "key": ["id"],
    "columns": {"id": "int", "name": "string"},
}
_ENVIRONMENT = {
    **{name: f"s3://lake/{name}" for name in ("landing", "warehouse", "artifacts")},
    **{name: f"s3://lake/{name}" for name in ("runs", "logs")},
    "name": "local",
    "region": names.REGION,
    "connections": {
        "hr_db": {
            "kind": "postgresql",
            "host": "hr.example.internal",
            "database": "hr",
            "secret": "lake/local/hr",
            "domains": ["hr"],
        }
    },
}


class Author:
    """Writes specs and has them judged."""

    def __init__(self) -> None:
        self.validate()
        self.product()

    def answer(self, what: str, attack: str, layer: str) -> None:
        """Play an attack; what validate says is the error."""
        from tests.hostile.attacks import ATTACKS

        ATTACKS[attack].play(self, layer)

    def product(self, **source: Any) -> None:
        """Validate a product with more settings of its source."""
        spec = {**_PRODUCT, "source": {**_PRODUCT["source"], **source}}
        if "derive" in source:
            spec["columns"] = {**spec["columns"], "x": "string"}
        self.validate(some_things=spec)

    def table(self, **more: Any) -> None:
        """Validate the table with more settings."""
        self.validate(**{names.TABLE: more})

    def validate(self, **specs: Any) -> None:
        """Validate the domain with these specs; RuntimeError with what is wrong."""
        with tempfile.TemporaryDirectory() as folder:
            tables = Path(folder) / "tables"
            for domain, table in ((names.DOMAIN, names.TABLE), ("hr", "salaries")):
                spec = {"name": table, **_TABLE}
                spec["source"] = {**_SOURCE, "path": f"{domain}/{table}"}
                _write(tables / domain / "_domain.yml", {"name": domain, **_DOMAIN})
                _write(tables / domain / f"{table}.yml", spec)
                if domain == names.DOMAIN:
                    spec.update(specs.pop(table, {}))
                    spec = {n: each for n, each in spec.items() if each is not None}
                    _write(tables / domain / f"{table}.yml", spec)
            for name, spec in specs.items():
                _write(tables / names.DOMAIN / f"{name}.yml", spec)
            environments = Path(folder) / "environments"
            _write(environments / "local.yml", _ENVIRONMENT)
            clusters = PROJECT / "dags" / "clusters"
            _, found, _ = check(tables, clusters=clusters, environments=environments)
            if found:
                raise RuntimeError("\n".join(map(str, found)).replace(folder, ""))


def _write(file: Path, content: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")


if __name__ == "__main__":
    serve(lambda: Author().answer)
