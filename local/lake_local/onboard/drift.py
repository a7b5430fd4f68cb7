"""What differs between specs and the catalogue that they were written from."""

from __future__ import annotations

from typing import Iterator, List, Sequence, Tuple

from lake_spec.facts.pull_folders import pulls_of
from lake_spec.model import envelopes, FileTable
from lake_spec.model.column_type import ColumnType, parse_type, WHOLE_DIGITS
from lake_spec.model.pulls import KafkaTopic

from lake_local.onboard.catalog import Catalog
from lake_local.onboard.naming import topic
from lake_local.onboard.plan import Draft, Request, planned
from lake_local.onboard.spec_text import Guess

Found = Tuple[str, str]
"""The name of a spec, and a difference."""


def compare(
    catalog: Catalog, request: Request, specs: Sequence[FileTable]
) -> Tuple[int, List[Found]]:
    """Return how many specs have their table in the catalogue, and all that differs."""
    drafts = {
        each.table.name: each
        for each in planned(catalog, request)
        if isinstance(each, Draft)
    }
    found: List[Found] = []
    compared = 0
    for spec in specs:
        name = _table_of(spec, catalog, request.origin.connection)
        if name is None:
            continue
        compared += 1
        draft = drafts.get(name)
        if draft is None:
            words = f"the table {catalog.schema}.{name} is not there, or has no spec"
            found.append((spec.name, f"{words}: renamed or dropped?"))
            continue
        found += [(spec.name, words) for words in _differences(spec, draft)]
    return compared, found


def _table_of(spec: FileTable, catalog: Catalog, connection: str) -> "str | None":
    """Return the table that a spec follows, if it is one of that schema."""
    schema = catalog.schema
    topics = {topic("", schema, each.name): each.name for each in catalog.tables}
    for _, pull in pulls_of(spec):
        if isinstance(pull, KafkaTopic):
            place = pull.topic.rpartition(".")
            ending = f".{place[0].rpartition('.')[2]}.{place[2]}"
            if ending in topics or ending.startswith(f".{schema}."):
                return topics.get(ending, place[2])
        elif pull.connection == connection:
            place = pull.table.rpartition(".")
            if place[0] in ("", schema):
                return place[2]
    return None


def _differences(spec: FileTable, draft: Draft) -> Iterator[str]:
    there = {each.name.lower(): each for each in draft.table.columns}
    written = {(e.sources or (e.name,))[0].lower(): e for e in draft.text.columns}
    known = set()
    for name, column in spec.columns:
        sources = [each.lower() for each in column.source or (name,)]
        known.update(sources)
        found = next((each for each in sources if each in there), None)
        if found is None:
            if not column.dropped and not _is_implied(spec, name, sources):
                yield f"column {name}: the table has no {' or '.join(sources)}"
            continue
        wanted = written.get(found)
        if wanted is None or wanted.left_out:
            continue
        declared, now = (parse_type(t).stored for t in (column.type, wanted.type))
        if not _holds(declared, now):
            yield (
                f"column {name}: declared {declared.text}, and the table's"
                f" {there[found].type} is {now.text}"
            )
    left_out = {n for n, each in written.items() if each.left_out}
    new = [each.name for n, each in there.items() if n not in known | left_out]
    if new and spec.columns:
        yield f"not declared: {', '.join(new)}"
    yield from _key(spec, draft)


def _is_implied(spec: FileTable, name: str, sources: List[str]) -> bool:
    """Return whether a column comes from what events have next to their rows."""
    if spec.envelope is None:
        return False
    of_envelope = name in envelopes.columns_of(spec.envelope)
    return of_envelope or all(each.startswith("__") for each in sources)


def _key(spec: FileTable, draft: Draft) -> Iterator[str]:
    primary = draft.table.primary_key
    if not primary:
        return
    declared = dict(spec.columns)
    of_spec = [
        {each.lower() for each in (declared[n].source if n in declared else ()) or (n,)}
        for n in spec.key
    ]
    fits = len(of_spec) == len(primary) and all(
        any(each.lower() in names for names in of_spec) for each in primary
    )
    if not fits:
        key = draft.text.key.value if isinstance(draft.text.key, Guess) else primary
        yield f"key: declared {', '.join(spec.key)}, and the table's is {', '.join(key)}"


def _holds(declared: ColumnType, now: ColumnType) -> bool:
    """Return whether a declared type takes every value of the table's own."""
    if declared == now or declared.name == "string":
        return True
    if declared.name == "decimal" and (
        now.name in WHOLE_DIGITS or now.name == "decimal"
    ):
        precision, scale = (
            now.digits if now.name == "decimal" else (WHOLE_DIGITS[now.name], 0)
        )
        whole = declared.digits[0] - declared.digits[1]
        return declared.digits[1] >= scale and whole >= precision - scale
    if declared.name == now.name == "array":
        return _holds(declared.inner[0], now.inner[0])
    wider = {"bigint": ("int",), "double": ("float", "int"), "timestamp": ("date",)}
    return now.name in wider.get(declared.name, ())
