"""What a landing file's columns are, found before Spark reads its rows."""

from __future__ import annotations

import codecs
import re
from dataclasses import replace
from functools import reduce
from typing import Dict, Iterator, List, Optional, Sequence, Set, Tuple

from pyspark.sql import SparkSession

from lake_spec.model import Csv, Feed, FeedTable, FileTable, Json, KafkaTopic, Parquet
from lake_spec.model.column_type import ColumnType
from lake_spec.text import json_lines
from lake_spec.text.globs import glob_pattern
from lake_spec.text.marked_values import quoted_value, row_value
from lake_spark.errors import (
    REMOVED,
    shortened,
    UndecodableFile,
    UnreadableFile,
    WrongColumns,
)
from lake_spark.formats import csv_text, debezium, json_arrays
from lake_spark.formats.column_names import (
    Names,
    column_of_deletes,
    sources,
    time_column,
)
from lake_spark.formats.envelopes import unwrapped
from lake_spark.formats.file_schema import Shape
from lake_spark.formats.reader_columns import LEFT_OUT, sayable
from lake_spark.formats.parquet import described_by_footer
from lake_spark.formats.self_described import described
from lake_spark.landing.files import LandingFile, refuse_name
from lake_spark.schema.columns import TEXT
from lake_spark.schema.promotion import field_of, stored_type
from lake_spark.formats.compression import (
    READ_ENDINGS,
    refuse_cut,
    refuse_unreadable,
    unpacked,
)
from lake_spark.storage.object_store import ObjectStore

Columns = Sequence[Tuple[str, str]]
Typed = Tuple[str, ColumnType]

_AROUND_ROWS = ("value", "payload", "before", "after")
"""Fields of records whose fields are the row's (formats/envelopes.py, debezium.py)."""

HEAD_BYTES = 1 << 18
"""How much of a text file is read to find its first record: 256 KiB."""

_BZIP2_BLOCK = 1 << 20
"""How much of a bzip2 file is read: nothing can be had before a whole block of 900 kB."""

_SMALLEST = 512
"""A packed file of fewer bytes may hold nothing, and the name that gzip keeps: one without
a header is looked into."""


def shape_of(
    spark: SparkSession, store: ObjectStore, file: LandingFile, spec: FileTable
) -> Shape:
    """Return the file's columns; raise BadFile when it cannot be ingested."""
    refuse_name(file)
    _refuse_empty(file, file.size, "is empty (0 bytes)")
    kind = spec.source.format
    if isinstance(kind, (Csv, Json)):
        refuse_unreadable(file, spec)
        refuse_cut(store, file)
    if isinstance(kind, Json):
        _refuse_other_layout(head_of(spark, store, file), file, kind)
    if isinstance(kind, Csv):
        names = _csv_names(spark, store, file, spec)
        shape = Shape(tuple((name, TEXT) for name in names))
    else:
        shape = _described(spark, store, file, spec)
        if isinstance(kind, Json):
            shape = _with_declared_maps(shape, spec)
            if spec.keeps_absent:
                columns = (*shape.columns, *_maps_without_entries(shape, spec))
                shape = replace(shape, columns=columns, tells_absent=True)
            if not shape.columns and spec.envelope is None:
                # No record has a field, or there are no records.
                names = declared_source_names(spec)
                columns = tuple((name, TEXT) for name in names)
                shape = replace(shape, columns=columns)
    shape = _spelled(shape, spec, by_place=isinstance(kind, Csv))
    _no_double_names(file, shape)
    shape = unwrapped(shape, spec, is_load=is_load(spec, file))
    _no_double_names(file, shape)
    _has_needed_columns(file, shape, spec)
    return shape


def _described(
    spark: SparkSession, store: ObjectStore, file: LandingFile, spec: FileTable
) -> Shape:
    """Return the columns that the file itself names, of types that Spark knows or we do."""
    kind = spec.source.format
    if isinstance(kind, Parquet):
        return described_by_footer(spark, store, file, spec)
    return described(spark, store, file, kind, maps=_names_of_maps(spec))


def _csv_names(
    spark: SparkSession, store: ObjectStore, file: LandingFile, spec: FileTable
) -> List[str]:
    """Return the columns' names, by the file's first record where it has a say in them."""
    kind = spec.source.format
    assert isinstance(kind, Csv), kind
    if kind.header:
        return _first_record(head_of(spark, store, file), file, kind)
    if file.size < _SMALLEST and file.path.endswith(READ_ENDINGS):
        head_of(spark, store, file)  # refuses what unpacks to nothing
    names = declared_source_names(spec)
    # DMS says what happened in files of changes, and not in those of full loads.
    if spec.operation and spec.operation.column and is_load(spec, file):
        fields = _first_record(head_of(spark, store, file), file, kind)
        return names[1:] if len(fields) == len(names) - 1 else names
    return names


def head_of(spark: SparkSession, store: ObjectStore, file: LandingFile) -> bytes:
    """Read the first bytes of a text file, unpacked.

    Raise BadFile if they cannot be had.
    """
    limit = _BZIP2_BLOCK if file.path.endswith(".bz2") else HEAD_BYTES
    try:
        head = store.read(file.uri, limit=limit)
    except KeyError:
        raise UnreadableFile(file.path, REMOVED) from None
    text = unpacked(spark, head, file, most=HEAD_BYTES)
    if len(head) < limit:  # else bzip2 may only have begun its first block
        _refuse_empty(file, len(text), "is empty when decompressed")
    return text


def _refuse_empty(file: LandingFile, size: int, what: str) -> None:
    if size == 0:
        raise UnreadableFile(
            file.path,
            f"{what}: it was cut, or never written. Land the whole file in its place, or "
            "remove it. For a snapshot without rows land a file with its header, or with a "
            "line break where the format has none.",
        )


def _refuse_other_layout(head: bytes, file: LandingFile, kind: Json) -> None:
    """Refuse an array too large, or else what has not one object a line."""
    if kind.is_array:
        if file.size > json_arrays.LARGEST_FILE:
            raise UnreadableFile(file.path, f"{json_arrays.too_long(file.size)}.")
        return
    text = head.decode("utf-8", errors="replace")
    fault = json_lines.fault(text, is_cut=len(head) >= HEAD_BYTES)
    if fault is not None:
        raise UnreadableFile(file.path, f"{fault}, and land it again.")


def declared_source_names(spec: FileTable) -> List[str]:
    """Return names for files without header: operation or snapshot time, then declared."""
    operation = spec.operation
    names = [
        column.source[0] if column.source else name
        for name, column in spec.columns
        if name not in spec.path_columns
    ]
    word = operation.column if operation else time_column(spec)
    return ([word] if word else []) + names


def _first_record(content: bytes, file: LandingFile, kind: Csv) -> List[str]:
    read_as = csv_text.charset_of(kind, content, file.path)
    # A character cut at the end of the head is not a fault of the file.
    is_cut = len(content) >= HEAD_BYTES
    # What lies behind the first record is judged where all records are.
    errors = "replace" if read_as.startswith("UTF-16") else "surrogateescape"
    decoder = codecs.getincrementaldecoder(read_as)(errors)
    text = decoder.decode(content, final=not is_cut)
    text = text[1:] if text[:1] == "\ufeff" else text
    text = text[csv_text.skipped(text, kind) :]
    if kind.header and text.lstrip()[:1] == "<":
        raise UnreadableFile(
            file.path,
            f"looks like HTML or XML, not CSV: {_start(text)}. Land the CSV file in its "
            "place: the server may have sent an error page.",
        )
    try:
        names, is_whole = csv_text.first_record(text, kind)
    except ValueError as error:
        raise UnreadableFile(
            file.path,
            f"the first record, line 1, cannot be read: {error}: "
            f"{row_value(shortened(repr(text[:HEAD_BYTES])))}. Fix the file and land it again, or "
            "set source.format.quote.",
        ) from None
    if not names and kind.header:
        raise WrongColumns(
            file.path,
            "has no header line. Land it with a header, or set source.format.header: "
            "false.",
        )
    if not is_whole and is_cut:
        raise UnreadableFile(
            file.path,
            f"the first record, line 1, does not end within {HEAD_BYTES:,} bytes: "
            f"{_start(text)}. Land it with a shorter header.",
        )
    lost = "\ufffd" if errors == "replace" else "\udc80-\udcff"
    odd = [name for name in names if re.search(f"[\0{lost}]", name)]
    if odd and kind.header:
        raise UndecodableFile(
            file.path,
            f"the header, line 1, has the name {row_value(shortened(repr(odd[0])))}, which has a "
            f"NUL or bytes that are not {kind.encoding}. Fix the file, or set "
            "source.format.encoding.",
        )
    return names


def _start(text: str) -> str:
    return quoted_value(text.strip()[:40])


def _names_of_maps(spec: FileTable) -> List[str]:
    """Return what files may call the declared columns and fields that are maps."""
    names: Set[str] = set()
    for name, column in spec.columns:
        kind = stored_type(column.type)
        if _holds_maps(kind):
            sources = column.source or (name,)
            names.update(each.rpartition(".")[-1] for each in sources)
        waiting = [kind]
        while waiting:
            each = waiting.pop()
            waiting += each.inner
            pairs = zip(each.fields, each.inner)
            names.update(field for field, inner in pairs if _holds_maps(inner))
    return sorted(names)


def _holds_maps(kind: ColumnType) -> bool:
    """Return whether values of a type are maps, or lists of them."""
    return kind.name == "map" or kind.name == "array" and _holds_maps(kind.inner[0])


def _with_declared_maps(shape: Shape, spec: FileTable) -> Shape:
    """Read JSON objects whose names are data as the maps that the spec declares."""
    declared = {
        source.lower(): stored_type(column.type)
        for name, column in spec.columns
        for source in column.source or (name,)
    }
    inside = spec.envelope is not None or isinstance(spec.changes_from, KafkaTopic)
    return replace(shape, columns=_maps_among(shape.columns, declared, inside=inside))


def _maps_without_entries(shape: Shape, spec: FileTable) -> List[Typed]:
    """Return declared maps that may be `{}` in all records, of which Spark says nothing."""
    if spec.envelope is not None or isinstance(spec.changes_from, KafkaTopic):
        return []
    there = {name.lower() for name in shape.names}
    return [
        (names[0], TEXT)
        for name, column in spec.columns
        for names in [column.source or (name,)]
        if stored_type(column.type).name == "map" and "." not in names[0]
        if there.isdisjoint(each.lower() for each in names)
    ]


def _maps_among(
    columns: Sequence[Typed],
    declared: Dict[str, ColumnType],
    *,
    inside: bool = False,
    below: str = "",
) -> Tuple[Typed, ...]:
    """Return the columns with maps, found by their paths; `inside` as in _texts_among."""
    found = []
    for name, kind in columns:
        path = f"{below}{name.lower()}"
        wraps = inside and name.lower() in _AROUND_ROWS
        if path in declared:
            kind = _with_maps(kind, declared[path])
        elif kind.name == "struct":
            pairs = list(zip(kind.fields, kind.inner))
            start = "" if wraps else f"{path}."
            inner = _maps_among(pairs, declared, inside=wraps, below=start)
            kind = replace(kind, inner=tuple(each for _, each in inner))
        found.append((name, kind))
    return tuple(found)


def _with_maps(found: ColumnType, declared: ColumnType) -> ColumnType:
    """Return what Spark inferred of JSON, with a map where one is declared."""
    if found.name == "struct" and declared.name == "map":
        value = reduce(_of_both, found.inner or (TEXT,))
        return ColumnType("map", (TEXT, _with_maps(value, declared.inner[1])))
    if found.name != declared.name or found.name not in ("array", "struct"):
        return found
    if found.name == "array":
        item = _with_maps(found.inner[0], declared.inner[0])
        return replace(found, inner=(item,))
    matches = [field_of(declared, name) for name in found.fields]
    inner = tuple(
        _with_maps(kind, match[1]) if match else kind
        for kind, match in zip(found.inner, matches)
    )
    return replace(found, inner=inner)


def _of_both(one: ColumnType, other: ColumnType) -> ColumnType:
    """Return what Spark infers of JSON where both occur: text if they are too different."""
    if one.name != other.name:
        return TEXT
    if one.name == "array":
        return replace(one, inner=(_of_both(one.inner[0], other.inner[0]),))
    fields = dict(zip(one.fields, one.inner))
    for name, kind in zip(other.fields, other.inner):
        fields[name] = _of_both(fields[name], kind) if name in fields else kind
    return replace(one, inner=tuple(fields.values()), fields=tuple(fields))


def _spelled(shape: Shape, spec: FileTable, *, by_place: bool) -> Shape:
    """Return the shape without columns and fields whose names no SQL can say.

    Where columns are found by their places, those are read under other names, by which
    the spec's declared ones are found.
    """
    left_out: List[str] = []
    columns: List[Typed] = []
    claimed = Names(spec).claimed if by_place else frozenset()
    taken: Set[str] = set()
    for place, (name, kind) in enumerate(shape.columns):
        said = sayable(name)
        if said == name:
            columns.append((name, _spelled_inside(kind, name, left_out)))
            continue
        if said in taken or name.lower() not in claimed:
            left_out.append(name)
        if by_place:
            columns.append((f"{LEFT_OUT}at_{place}" if said in taken else said, kind))
            taken.add(said)
    if tuple(columns) == shape.columns:
        return shape
    return replace(shape, columns=tuple(columns), left_out=tuple(left_out))


def _spelled_inside(kind: ColumnType, path: str, left_out: List[str]) -> ColumnType:
    if not kind.is_nested:
        return kind
    if kind.name != "struct":
        inner = tuple(_spelled_inside(each, path, left_out) for each in kind.inner)
        return replace(kind, inner=inner)
    names, kinds = [], []
    for name, each in zip(kind.fields, kind.inner):
        if sayable(name) == name:
            names.append(name)
            kinds.append(_spelled_inside(each, f"{path}.{name}", left_out))
        else:
            left_out.append(f"{path}.{name}")
    return replace(kind, inner=tuple(kinds), fields=tuple(names))


def with_values(
    spark: SparkSession, store: ObjectStore, file: LandingFile, spec: FileTable
) -> Shape:
    """Return the shape of a JSON file without what is null in all of its records."""
    shape = described(
        spark,
        store,
        file,
        spec.source.format,
        only_values=True,
        maps=_names_of_maps(spec),
    )
    shape = _spelled(_with_declared_maps(shape, spec), spec, by_place=False)
    return unwrapped(shape, spec)


def with_texts(shape: Shape, spec: FileTable, columns: Columns) -> Shape:
    """Return the shape of a JSON file with nested values as text where the table has text.

    So a value has the same text whatever other records of its file hold.
    """
    kind = spec.source.format
    if not isinstance(kind, Json) or kind.extended:
        return shape
    wanted = {
        raw.lower(): stored_type(text)
        for name, text in columns
        for raw in [source_name(spec, name, shape)]
        if raw is not None and shape.type_of(raw).is_nested
    }
    found = _texts_among(shape.read_as, wanted, inside=bool(shape.unwrap))
    if not wanted or found == shape.read_as:
        return shape
    read = Shape(
        found,
        left_out=shape.left_out,
        tells_absent=shape.tells_absent,
    )
    return unwrapped(read, spec) if shape.unwrap else read


def _texts_among(
    columns: Sequence[Typed], wanted: Dict[str, ColumnType], *, inside: bool
) -> Tuple[Typed, ...]:
    """Return the columns with texts; `inside`: also of the row that a record wraps."""
    found = []
    for name, kind in columns:
        if inside and name.lower() in _AROUND_ROWS and kind.name == "struct":
            pairs = list(zip(kind.fields, kind.inner))
            inner = _texts_among(pairs, wanted, inside=True)
            kind = replace(kind, inner=tuple(each for _, each in inner))
        elif name.lower() in wanted:
            kind = _with_texts(kind, wanted[name.lower()])
        found.append((name, kind))
    return tuple(found)


def _with_texts(found: ColumnType, table: ColumnType) -> ColumnType:
    if found.is_nested and table.name == "string":
        return TEXT
    if not found.is_nested or found.name != table.name:
        return found
    pairs = list(zip(found.inner, table.inner))
    if found.name == "struct":
        matches = [
            (kind, field_of(table, n)) for n, kind in zip(found.fields, found.inner)
        ]
        pairs = [(kind, match[1] if match else kind) for kind, match in matches]
    return replace(found, inner=tuple(_with_texts(*pair) for pair in pairs))


def _no_double_names(file: LandingFile, shape: Shape) -> None:
    for names in _names(shape):
        seen: Dict[str, str] = {}
        for name in names:
            other = seen.setdefault(name.lower(), name)
            if other is not name:
                raise WrongColumns(
                    file.path,
                    "has two columns that differ at most in case: "
                    f"{row_value(shortened(repr(other)))} and "
                    f"{row_value(shortened(repr(name)))}. Rename one of them in the source.",
                )


def _names(shape: Shape) -> Iterator[Tuple[str, ...]]:
    """Yield names that are side by side: the columns, then the fields of each struct."""
    yield shape.names
    waiting = [kind for _, kind in shape.columns]
    while waiting:
        kind = waiting.pop()
        waiting += kind.inner
        if kind.fields:
            yield kind.fields


def _has_needed_columns(file: LandingFile, shape: Shape, spec: FileTable) -> None:
    missing = [n for n in needed_columns(spec, file) if not source_name(spec, n, shape)]
    time = time_column(spec)
    if time and time.lower() not in [name.lower() for name in shape.names]:
        missing.append(time)
    missing += _missing_of_deletes(file, shape, spec)
    if missing:
        # A file without its header has values of its first row as names.
        has = row_value(", ".join(shape.names)[:300])
        hint = debezium.remedy(spec.envelope, missing)
        raise WrongColumns(
            file.path,
            f"lacks the column(s) {', '.join(missing)}; it has {has}. "
            f"{hint or _ADD_COLUMNS}",
        )


def _missing_of_deletes(file: LandingFile, shape: Shape, spec: FileTable) -> List[str]:
    """Return the column that tells deletes where changes lack it: nothing is guessed.

    JSON may leave out fields without a value, in all records of a file too.
    """
    told = spec.operation.deleted_when if spec.operation else None
    if told is None or is_load(spec, file) or column_of_deletes(spec, shape):
        return []
    is_json = isinstance(spec.source.format, Json)
    may_lack = is_json and not told.is_null or spec.keeps_absent
    return [] if may_lack else [told.column]


_ADD_COLUMNS = "Land it with these columns, or correct their names in the spec."


def needed_columns(spec: FileTable, file: LandingFile) -> List[str]:
    """Return columns without which no row of the file can be placed."""
    scope = spec.scope
    needed = [*spec.key, *([scope.column] if scope else [])]
    if not is_load(spec, file):
        needed += spec.order_by
    return [name for name in needed if name not in spec.path_columns]


def is_load(spec: FileTable, file: LandingFile) -> bool:
    """Return whether a feed's file belongs to its full load or to a full refresh."""
    return any(glob_pattern(glob).fullmatch(file.path) for glob in load_globs(spec))


def load_globs(spec: FileTable) -> List[str]:
    """List which files of a feed are full loads: the first and the later ones."""
    if not isinstance(spec, FeedTable):
        return []
    full_refresh = spec.full_refresh
    return [spec.source.load] + ([full_refresh.files] if full_refresh else [])


def all_globs(spec: FileTable) -> List[str]:
    """List which files below the landing folder are the table's."""
    source = spec.source
    if isinstance(source, Feed):
        return [*load_globs(spec), source.changes]
    return [source.files]


def source_name(spec: FileTable, column: str, shape: Shape) -> Optional[str]:
    """Return what the file calls a lake column: the newest declared name that it has."""
    return sources(spec, shape).get(column)
