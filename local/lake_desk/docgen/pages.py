"""The files below docs/ that are made from the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Dict, List

from lake_check.costs.prices import PriceListSpec
from lake_desk.docgen.json_schema import schema_of
from lake_desk.docgen.reference import page
from lake_desk.docgen.release_page import release_page
from lake_desk.docgen.run_page import run_page
from lake_spec.model import ClusterSpec, DomainSpec, EnvironmentSpec, TableSpec

_FILES = {
    "table": (
        TableSpec,
        "A table: `tables/<domain>/<table>.yml`",
        "One table: its source, columns, storage and quality rules. Settings that "
        "several tables share are in `tables/<domain>/_defaults.yml`, for a domain, or "
        "`tables/_defaults.yml`, for all; the table's own file takes precedence, then "
        "its domain's.",
    ),
    "domain": (
        DomainSpec,
        "A domain: `tables/<domain>/_domain.yml`",
        "Tables that share runs, clusters and an owner; its tables are the other "
        "files of its folder.",
    ),
    "cluster": (
        ClusterSpec,
        "A cluster: `clusters/<name>.yml`",
        "The EMR cluster that a run of a domain creates and terminates.",
    ),
    "environment": (
        EnvironmentSpec,
        "An environment: `environments/<name>.yml`",
        "Buckets, roles and network of one environment.",
    ),
    "prices": (
        PriceListSpec,
        "Prices: a file for `cost --prices`",
        "Prices of an instance hour in your account. The prices here are examples: "
        "write your own. For how they are used see [what it costs](../cost.md).",
    ),
}


def generated() -> Dict[str, str]:
    """Return the text of every generated file, by its path below docs/."""
    texts = {}
    for name, (cls, title, intro) in _FILES.items():
        texts[f"schema/{name}.schema.json"] = _json(schema_of(cls))
        texts[f"reference/{name}-spec.md"] = page(cls, title, intro)
    texts["reference/aws-releases.md"] = release_page()
    texts["reference/run-params.md"] = run_page()
    defaults = schema_of(TableSpec, is_complete=False)
    texts["schema/defaults.schema.json"] = _json(defaults)
    return texts


def _json(schema: object) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def write(docs: Path) -> List[Path]:
    """Write the files that are missing or differ, and return their paths."""
    stale = outdated(docs)
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            generated()[path.relative_to(docs).as_posix()], encoding="utf-8"
        )
    return stale


def outdated(docs: Path) -> List[Path]:
    """List the generated files that are missing or differ from the model."""
    texts = generated()
    return [docs / name for name in texts if _text(docs / name) != texts[name]]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""
