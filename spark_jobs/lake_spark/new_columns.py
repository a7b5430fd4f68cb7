"""Source columns that the spec does not declare: contract section 5."""

from __future__ import annotations

import re
from typing import List, Set, Tuple

from lake_spec.model import NewColumns, TableSpec
from lake_spark.errors import BadFile
from lake_spark.file_shape import Shape, source_name, time_column
from lake_spark.landing import LandingFile
from lake_spark.row_sql import Columns, canonical_type

_ILLEGAL = re.compile(r"[^A-Za-z0-9_]")


def new_columns(
    spec: TableSpec, file: LandingFile, shape: Shape, columns: Columns
) -> List[Tuple[str, str]]:
    """Columns of the file that are new to the table, as the spec wants them."""
    unknown = [
        name
        for name in shape.names
        if name.lower() not in _claimed(spec, shape, columns)
    ]
    if not unknown or spec.source.new_columns is NewColumns.IGNORE:
        return []
    if spec.source.new_columns is NewColumns.REFUSE:
        raise BadFile(
            file.path,
            f"has undeclared column(s) {', '.join(unknown)} and source.new_columns is "
            "'refuse'. Declare them under columns, or set it to add or ignore.",
        )
    return [
        (_legal(name, file), canonical_type(shape.type_of(name))) for name in unknown
    ]


def _claimed(spec: TableSpec, shape: Shape, columns: Columns) -> Set[str]:
    """The file's names that are known: by a column, or as the operation."""
    found = {source_name(spec, name, shape) for name, _ in columns}
    older = {name for _, column in spec.columns for name in column.source}
    operation = getattr(spec.source, "operation", None)
    words = {operation.column if operation else time_column(spec)}
    return {name.lower() for name in found | older | words if name}


def _legal(name: str, file: LandingFile) -> str:
    """A name that every reader of the lake can spell."""
    legal = _ILLEGAL.sub("_", name)
    if legal != name or not legal[:1].isalpha():
        raise BadFile(
            file.path,
            f"has the undeclared column {name!r}, no legal name in the lake. Declare it: "
            f"columns: {{{legal.strip('_').lower()}: {{type: string, source: [{name!r}]}}}}",
        )
    return legal
