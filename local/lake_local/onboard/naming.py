"""Names of the lake for what sources call their tables and columns."""

from __future__ import annotations

import re
import unicodedata
from functools import partial
from typing import Dict, Iterable, List, Set, Tuple

from lake_spec.layout.glue_names import SUFFIXES
from lake_spec.model import envelopes
from lake_spec.model.choices import Connector
from lake_spec.model.names import LONGEST_NAME as LONGEST
from lake_spec.model.names import RESERVED_PREFIXES
from lake_spec.model.names import source_name, text_of_source
from lake_spec.model.table_parts import HistoryColumns, SurrogateKey

OF_ROW = "_of_row"
"""After a column's name that is one of the lake's own."""

ADDED = frozenset({*vars(HistoryColumns()).values(), SurrogateKey().column})
"""The columns that history adds to every table."""


def lake_name(text: str) -> str:
    """Return the name in lower case with underscores: `customerID` is customer_id."""
    text = text.replace("\u00df", "ss")
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    parted = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", plain)
    parted = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", parted)
    made = re.sub(r"[^a-z0-9]+", "_", parted.lower()).strip("_")
    if not made or not made[0].isalpha():
        made = f"x_{made}".rstrip("_")
    return made[:LONGEST].rstrip("_")


def column_names(
    names: Iterable[str], connector: Connector | None, *, is_csv: bool | None = None
) -> Tuple[Dict[str, str], List[str]]:
    """Return lake names by source names, and the source names that a spec cannot say.

    Columns of the lake keep their names: those of history and of the envelope.
    `is_csv` tells files of CSV from others; names of a database are plain ones.
    """
    rule = source_name
    if is_csv is not None:
        rule = partial(text_of_source, is_csv=is_csv)
    ours = set(ADDED)
    if connector is not None:
        ours.update(envelopes.columns_of(envelopes.Debezium(connector)))
    taken = set(ours)
    found: Dict[str, str] = {}
    unsaid = []
    for name in names:
        if list(rule((), name)):
            unsaid.append(name)
        else:
            found[name] = _free(_column(name, ours), taken)
    return found, unsaid


def _column(name: str, ours: Set[str]) -> str:
    made = lake_name(name)
    if made.startswith(RESERVED_PREFIXES):
        return f"row_{made}"[:LONGEST]
    if made in ours:
        return f"{made[: LONGEST - len(OF_ROW)]}{OF_ROW}"
    return made


def table_names(names: Iterable[str]) -> Dict[str, str]:
    """Return lake names by source names; those that catalogues need besides stay free."""
    listed = sorted(names)
    plain = {lake_name(name) for name in listed}
    taken = {f"{name}{suffix}" for name in plain for suffix in SUFFIXES}
    found = {}
    for name in listed:
        made = lake_name(name)
        if made in taken and made.endswith(SUFFIXES):
            made = f"{made[: LONGEST - 5]}_rows"
        found[name] = _free(made, taken)
    return found


def _free(name: str, taken: Set[str]) -> str:
    """Return the name, with a number where it is taken; taken from now on."""
    made, number = name, 1
    while made in taken:
        number += 1
        ending = f"_{number}"
        made = f"{name[: LONGEST - len(ending)]}{ending}"
    taken.add(made)
    return made


def same_but_for_case(names: Iterable[str]) -> Tuple[str, ...]:
    """Return two names that differ only in case, if there are such: files cannot have both."""
    first: Dict[str, str] = {}
    for name in names:
        other = first.setdefault(name.lower(), name)
        if other != name:
            return other, name
    return ()


def topic(prefix: str, schema: str, table: str) -> str:
    """Return the topic that Debezium gives a table; what Kafka does not take becomes `_`."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", f"{prefix}.{schema}.{table}")
