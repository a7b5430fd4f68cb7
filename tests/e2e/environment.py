"""The environment of the end-to-end tests: this machine's, with roles for its steps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Mapping

import yaml

from tests.e2e.museum_lake import PARTNER

OURS = Path(__file__).resolve().parents[2] / "dags" / "environments" / "local.yml"
ROLE = "arn:aws:iam::123456789012:role/lake-local-steps"
DOMAINS = ("moma", "days", "clinic")


def write(folder: Path, connections: Mapping[str, Any] | None = None) -> Path:
    """Its file in a new folder: a role for each domain, as an account has them."""
    content = yaml.safe_load(OURS.read_text(encoding="utf-8"))
    content["security_configuration"] = "lake-local"
    content["runtime_role"] = ROLE
    content["runtime_roles"] = {each: f"{ROLE}-{each}" for each in DOMAINS}
    content["landing_roots"] = {"partner": {"uri": PARTNER, "used_by": ["moma.works"]}}
    if connections:
        content["connections"] = dict(connections)
    folder.mkdir()
    file = folder / OURS.name
    file.write_text(json.dumps(content), encoding="utf-8")  # YAML without aliases
    return file
