"""Which columns of a file say a row's values from before an update: contract section 6.

An envelope has them in its image `before`; where a feed without one has them is
declared (`operation.before`), as in `BI_{column}` or `old.{column}`.
"""

from __future__ import annotations

import re
from typing import Optional, Tuple

from lake_spec.model import FileTable
from lake_spec.model.envelopes import BEFORE

_COLUMN = "{column}"


def says_before(spec: FileTable) -> bool:
    """Return whether records may have values from before an update."""
    return _template(spec) is not None


def names_before(spec: FileTable, name: str) -> Tuple[str, ...]:
    """Return the source names of a column's value before an update, newest first."""
    template = _template(spec)
    if template is None:
        return ()
    declared = spec.column(name)
    names = (declared.source if declared else ()) or (name,)
    if spec.envelope is None:
        names = tuple(each.rpartition(".")[2] for each in names)
    return tuple(template.replace(_COLUMN, each) for each in names)


def roots_of_key(spec: FileTable) -> Tuple[str, ...]:
    """Return the columns of the source that the key's are, or are inside."""
    declared = {name: spec.column(name) for name in spec.key}
    names = [
        n
        for key, column in declared.items()
        for n in (column and column.source) or (key,)
    ]
    return tuple(part.lower() for n in names for part in (n, n.partition(".")[0]))


def is_before(spec: FileTable, raw: str) -> bool:
    """Return whether a column of a file has values from before, or is around them."""
    template = _template(spec)
    if template is None:
        return False
    start, _, end = template.partition(_COLUMN)
    pattern = f"{re.escape(start)}.+{re.escape(end)}"
    root = struct_before(spec)
    is_root = root is not None and raw.lower() == root.lower()
    return is_root or bool(re.fullmatch(pattern, raw, re.IGNORECASE))


def struct_before(spec: FileTable) -> Optional[str]:
    """Return the column whose fields are the values before, if they are fields."""
    root, dot, _ = (_template(spec) or "").partition(".")
    return root if dot else None


def _template(spec: FileTable) -> Optional[str]:
    if spec.envelope is not None:
        return BEFORE
    return spec.operation.before if spec.operation is not None else None
