"""Domains decoded beforehand, so that a DAG file of many tables parses quickly.

`python -m lake_desk compile` writes `<tables>/<domain>/_compiled.json`: the
decoded domain with the hash of every file that it came from and of
the code that decodes it. It is used only while all of them agree; else the YAML is decoded. So
a stale or broken one costs time and is never wrong.
"""

from __future__ import annotations

import json
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Dict, Optional

from lake_check.parsing.discovery import DEFAULTS, Survey, survey_domain
from lake_spec.diagnostics.errors import NotASpec
from lake_spec.model import DomainSpec
from lake_spec.model.json_codec import from_data, to_data

FILE = "_compiled.json"


def compile_domain(tables: Path, domain: str) -> str:
    """Return the domain's compiled form. Raises SpecErrors as loading it does."""
    survey = Survey()
    sources = _sources(tables, domain)
    spec = survey_domain(survey, tables, domain)
    survey.close()
    content = {
        "code": code_version(),
        "sources": sources,
        "domain": to_data(spec, with_defaults=False),
    }
    return json.dumps(content, separators=(",", ":")) + "\n"


def read_compiled(tables: Path, domain: str) -> Optional[DomainSpec]:
    """Read the domain from its compiled form; None if that is out of date."""
    try:
        content = json.loads((tables / domain / FILE).read_text(encoding="utf-8"))
        if _is_fresh(content, tables, domain):
            return from_data(DomainSpec, content["domain"])
    except (OSError, ValueError, NotASpec):
        pass
    return None


def _is_fresh(content: Any, tables: Path, domain: str) -> bool:
    return (
        isinstance(content, dict)
        and content.get("code") == code_version()
        and content.get("sources") == _sources(tables, domain)
        and "domain" in content
    )


def _sources(tables: Path, domain: str) -> Dict[str, str]:
    """Hash every file that the domain is decoded from, by its name."""
    names = {path.name: path for path in (tables / domain).iterdir()}
    names.pop(FILE, None)
    names["../" + DEFAULTS] = tables / DEFAULTS
    return {name: _hash(path) for name, path in sorted(names.items())}


def _hash(path: Path) -> str:
    try:
        return sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return "absent"
    except IsADirectoryError:
        return "folder"


@lru_cache(maxsize=1)
def code_version() -> str:
    """Hash lake_check and lake_spec: other rules or defaults may give other results."""
    dags = Path(__file__).parents[2]
    digest = sha256()
    for package in ("lake_check", "lake_spec"):
        for path in sorted((dags / package).rglob("*.py")):
            digest.update(path.relative_to(dags).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
