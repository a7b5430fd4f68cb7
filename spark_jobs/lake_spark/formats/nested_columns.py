"""Structs taken apart where the table's columns are inside them.

The source name `address.city` is the field `city` of the column `address`, unless the
file has a column of that whole name. The struct's other fields become columns as
well, `address_zip`, so that none is lost; a column that declares `address` keeps it whole.
"""

from __future__ import annotations

from typing import Callable, Iterable, Iterator, List, Tuple

from lake_spec.model import FileTable
from lake_spec.model.column_type import ColumnType
from lake_spec.text.sql_text import sql_identifier, sql_literal
from lake_spark.formats.before_images import names_before, struct_before
from lake_spark.schema.columns import TEXT

Column = Tuple[str, ColumnType, str]
"""Name, type and SQL."""


OfJson = Callable[[str, str], str]
"""From a text of JSON and a path in it to the SQL of what is there."""


def text_of_json(text: str, path: str) -> str:
    """Read a text of JSON, as Spark gives a struct that another row has as text."""
    return f"get_json_object({text}, {sql_literal(path)})"


def taken_apart(
    spec: FileTable, columns: List[Column], of_json: OfJson = text_of_json
) -> Iterator[Column]:
    """Yield the columns of a file, with fields of structs that the table's are made of."""
    names = [n for key, c in spec.columns for n in c.source or (key,)]
    names += [each for key in spec.key for each in names_before(spec, key)]
    names += spec.operation.columns if spec.operation else ()
    root = struct_before(spec)
    names += [root] if root else []
    whole = {name.lower() for name, _, _ in columns}
    inside = [name for name in names if "." in name and name.lower() not in whole]
    search = _Search(inside, names, of_json)
    for name, kind, sql in columns:
        yield from search.apart(name, name, kind, sql)


class _Search:
    """Paths that are looked for, and those that a column has as a whole."""

    def __init__(
        self, inside: Iterable[str], declared: Iterable[str], of_json: OfJson
    ) -> None:
        self.of_json = of_json
        self.inside = {name.lower(): name for name in inside}
        self.declared = {name.lower() for name in declared}

    def below(self, path: str) -> List[str]:
        """Return the wanted paths that go on after this one."""
        start = f"{path.lower()}."
        return [name for low, name in self.inside.items() if low.startswith(start)]

    def apart(
        self, path: str, name: str, kind: ColumnType, sql: str
    ) -> Iterator[Column]:
        """Yield a column by its path: itself, or what is wanted of it and the rest."""
        below = self.below(path)
        is_apart = bool(below) and kind.name == "struct"
        if not is_apart or path.lower() in self.declared:
            yield name, kind, sql
        if is_apart:
            yield from self._fields(path, kind, sql)
        elif kind.name == "string":
            for wanted in below:
                yield wanted, TEXT, self.of_json(sql, _path(wanted[len(path) + 1 :]))

    def _fields(self, path: str, kind: ColumnType, sql: str) -> Iterator[Column]:
        is_whole = path.lower() in self.declared
        for field, inner in zip(kind.fields, kind.inner):
            at = f"{path}.{field}"
            wanted = self.inside.get(at.lower())
            if wanted or self.below(at) or not is_whole:
                name = wanted or at.replace(".", "_")
                yield from self.apart(at, name, inner, f"{sql}.{sql_identifier(field)}")


def _path(path: str) -> str:
    return "$" + "".join(f"['{part}']" for part in path.split("."))
