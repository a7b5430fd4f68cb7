"""Messages of steps quote names; a value of a row is marked, so that reports can leave it out."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Iterator

from tests.policy.floors import nodes_of

ROOT = Path(__file__).resolve().parents[2] / "spark_jobs/lake_spark"
NAMES = frozenset(
    {"column", "column.name", "connection", "environment.name"}
    | {
        "full_refresh.pattern",
        "glob",
        "key.column",
        "key.kind.value",
        "low",
        "missing[0]",
    }
    | {"name", "name[:200]", "column.name[:100]", "ours", "pattern", "pull.connection"}
    | {"pull.cursor", "raw", "rule.at_least", "rule.at_most", "secret"}
    | {"self.name", "stored", "table.server.name", "true", "true.lower()"}
    | {"where", "where.pattern", "width", "word", "found[0]", "_MAGIC"}
)
"""What messages quote as it is: names of columns and things, settings, parts of paths."""

ELSEWHERE = ("step/arguments.py",)
"""Arguments of a step, which whoever started the run wrote."""

NOT_SHOWN_ANYWAY = frozenset({"error", "wrong"})
"""Of files of ours that are damaged: no StageError, so that reports show its class alone."""


def quoted(source: str) -> Iterator[str]:
    """Yield what a module's messages quote with `!r`, and no mark."""
    for node in nodes_of(source):
        if isinstance(node, ast.FormattedValue) and node.conversion == ord("r"):
            yield ast.unparse(node.value)


def test_messages_quote_names_alone():
    known, found = NAMES | NOT_SHOWN_ANYWAY, []
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name not in ELSEWHERE:
            source = path.read_text(encoding="utf-8")
            found += [f"{name}: {e}" for e in quoted(source) if e not in known]
    assert found == [], (
        "a value of a row is `quoted_value(...)` (lake_spec/text/marked_values.py); "
        "the name of a thing is added to NAMES here"
    )


def test_a_planted_value_is_found():
    assert list(quoted("raise BadFile(f'got {row.name!r}, {name}')")) == ["row.name"]


def test_every_name_is_still_quoted_somewhere():
    sources = [each.read_text(encoding="utf-8") for each in ROOT.rglob("*.py")]
    assert NAMES <= {each for source in sources for each in quoted(source)}
