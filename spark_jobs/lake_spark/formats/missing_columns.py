"""Columns of a table that a landing file lacks: contract section 5."""

from __future__ import annotations

from typing import Dict, List, Set

from lake_spec.model import Column, FileTable, Json, KafkaTopic
from lake_spec.model.envelopes import columns_of
from lake_spark.formats.column_names import sources
from lake_spark.formats.file_schema import Shape
from lake_spark.schema.columns import Columns


def missing_columns(
    spec: FileTable, shape: Shape, columns: Columns, *, is_load: bool
) -> List[str]:
    """Return the columns that the file's rows get null in, as it does not have them.

    Key and order are not among them: a file of changes without those is refused, and a
    full load needs no order. Nor are undeclared columns of JSON, which has no null
    without a name. Where absent fields are unchanged, no value is null for want of a column.
    """
    if spec.keeps_absent:
        return []
    given = {ours for each in spec.enrich for _, ours in each.given}
    known = {*spec.key, *spec.order_by, *given}
    if is_load and spec.effective_at:
        known.add(spec.effective_at)
    declared: Dict[str, Column] = dict(spec.columns)
    found = sources(spec, shape)
    is_json = isinstance(spec.source.format, Json)
    return [
        name
        for name, _ in columns
        if name not in found
        and name not in known
        and (name in declared or not is_json)
        and is_sent(spec, name)
        and not _is_ignored(spec, name)
    ]


def is_sent(spec: FileTable, name: str) -> bool:
    """Return whether the source's rows have the column: it is no part of what wraps them."""
    declared = spec.column(name)
    if name in spec.path_columns or (declared and declared.dropped):
        return False
    if spec.envelope is not None and name in columns_of(spec.envelope):
        return False
    is_wrapped = spec.envelope is not None or isinstance(spec.changes_from, KafkaTopic)
    return not (is_wrapped and all(n.startswith("__") for n in _names(spec, name)))


def _is_ignored(spec: FileTable, name: str) -> bool:
    listed = getattr(spec.source, "ignore_columns", ())
    ignored: Set[str] = {each.lower() for each in listed}
    return any(each.lower() in ignored for each in _names(spec, name))


def _names(spec: FileTable, name: str) -> List[str]:
    """Return the column's names in the source."""
    declared = spec.column(name)
    return list((declared.source if declared else ()) or (name,))
