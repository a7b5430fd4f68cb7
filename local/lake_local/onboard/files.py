"""Specs of landing files, by their names and by how one of them begins."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Dict, List, Optional, Sequence, Tuple

from lake_desk.docgen.meanings import setting_of
from lake_spec.hudi.buckets import buckets_for
from lake_spec.model import Complete
from lake_spec.model.names import glob, relative_path

from lake_local.onboard import personal
from lake_local.onboard.catalog import Column, Table
from lake_local.onboard.file_types import Head, head_of, TYPED, with_nulls
from lake_local.onboard.table_keys import cursor_of, key_of
from lake_local.onboard.naming import column_names, same_but_for_case, table_names
from lake_local.onboard.plan import (
    Draft,
    OWNER,
    Planned,
    Skipped,
    is_asked_for,
)
from lake_local.onboard.file_keys import is_measure, key_among, Nearest
from lake_local.onboard.spec_text import ColumnText, Guess, SpecText, one_line
from lake_local.onboard.stores import (
    HEAD_BYTES,
    NoFiles,
    SIGN,
    Store,
    by_folder,
    opened,
    unpacked,
)
from lake_local.onboard.text_encoding import Encoding, encoding_of
from lake_local.onboard.value_survey import (
    SECONDS,
    Column as Values,
    Survey,
    kind_of,
    readable,
    survey,
)

_OFFSET = r"(?:Z|(?:[+-]|%2[Bb])\d{2}(?::|%3[Aa])?\d{2})"
_TIMES = (
    *(
        (f"{clock}{_OFFSET}", f"{form}%z")
        for clock, form in (
            (r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}", "%Y-%m-%dT%H-%M-%S"),
            (r"\d{4}-\d{2}-\d{2}T\d{4}", "%Y-%m-%dT%H%M"),
            (r"\d{4}-\d{2}-\d{2}T\d{2}", "%Y-%m-%dT%H"),
            (r"\d{8}T\d{6}", "%Y%m%dT%H%M%S"),
            (r"\d{8}T\d{4}", "%Y%m%dT%H%M"),
        )
    ),
    (r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}", "%Y-%m-%dT%H-%M-%S"),
    (r"\d{8}T\d{6}", "%Y%m%dT%H%M%S"),
    (r"\d{4}-\d{2}-\d{2}", "%Y-%m-%d"),
    (r"\d{8}", "%Y%m%d"),
)
"""How times are written in names, the finest first."""
MOST_UNREAD = 10
"""Files that were not read, as the head of a spec names them."""

_OPERATIONS = ("op", "__op", "operation", "change_type")
_LETTERS = frozenset("IUDTiudcrt")
_NO_TIME = (
    "its files have no date in their names, and it has no folders load/ and changes/, so"
    " it has neither snapshots nor changes: rename the files, as in orders_2026-01-31.csv"
)


@dataclass(frozen=True)
class Request:
    """What is asked for; `landing` is the place of the folder below the landing area."""

    domain: str
    landing: str = ""
    only: Tuple[str, ...] = ()
    owner: str = ""


class _NoSpec(Exception):
    """No spec can be drafted for a folder of files.

    Fix: Change the files as the reason says, or write the spec yourself
    (docs/onboarding.md).
    """


def planned(store: Store, request: Request) -> List[Planned]:
    """Return a draft, or a reason why not, for each sub-folder; none where `only` names no other.

    Raises NoFiles where there is no folder, or none with files.
    """
    folders = by_folder(store)
    if not folders:
        raise NoFiles(_nothing_in(store))
    names = table_names(folders)
    found: List[Planned] = []
    asked = [each for each in sorted(folders) if is_asked_for(each, request.only)]
    end = time.monotonic() + SECONDS
    for number, folder in enumerate(asked):
        paths = folders[folder]
        now = time.monotonic()
        deadline = now + max(0.0, end - now) / (len(asked) - number)
        signs = [path for path in paths if SIGN.fullmatch(path.split("/")[-1])]
        data = [path for path in paths if path not in signs] or paths
        name = names[folder]
        try:
            found.append(_draft(store, folder, data, signs, name, request, deadline))
        except _NoSpec as reason:
            start = _start(folder, data, name, request)
            found.append(Skipped(folder, str(reason), start))
    return found


def _start(
    folder: str, paths: Sequence[str], name: str, request: Request
) -> Optional[SpecText]:
    """Return a spec of files that were not looked into; None if its path cannot be one."""
    path = f"{request.landing or request.domain}/{folder}"
    if list(relative_path((), path)):
        return None
    kind = kind_of(_chosen(paths))
    form = kind if kind in (*TYPED, "csv", "json") else "csv"
    is_feed = _chosen(paths).startswith("changes/")
    source = _undecided(path, paths, {"type": form}, is_feed)
    return SpecText(
        head=(f"Begun by `onboard` from the names of {len(paths):,} landing files.",),
        name=name,
        description=_description(path),
        owner=_owner(request),
        source=source,
        columns=(),
        key=Guess([], "to decide: the columns that identify a row"),
        order_by=Guess([], _ORDER) if is_feed else None,
        storage={"index": "bucket", "buckets": buckets_for(None, None)},
        size="of unknown size",
    )


_ORDER = "to decide: the columns that order the changes of a key"


def _undecided(
    path: str, paths: Sequence[str], form: Any, is_feed: bool
) -> Dict[str, Any]:
    """Return the source of files that lack what would say it."""
    if is_feed:
        feed = {"kind": "feed", "path": path, "format": form}
        return {**feed, "load": "load/**", "changes": "changes/**"}
    source = {"kind": "snapshot", "path": path, "files": "**", "format": form}
    try:
        files, time = _snapshots(paths)
        return {**source, "files": files, "snapshot_time": time}
    except _NoSpec:
        time = {"pattern": r"(\d{4}-\d{2}-\d{2})", "format": "%Y-%m-%d"}
        why = "to decide: where the names, which have no date, say a snapshot's time"
        return {**source, "snapshot_time": Guess(time, why)}


def _description(path: str) -> Guess:
    return Guess(f"Rows of landing files in {path}", "describe what a row is")


def _owner(request: Request) -> Any:
    return request.owner or Guess(OWNER, "name the owning team")


def _nothing_in(store: Store) -> str:
    """Return why no file belongs to a table, and what to do."""
    paths = list(islice(store.paths(), MOST_UNREAD))
    direct = [each for each in paths if "/" not in each and each[:1] not in "._"]
    if direct:
        return (
            f"{store}: the folder has files ({direct[0]}) but no folders, and a table is a"
            " folder of files. Write the folder above it and this one's name after"
            " --only, or move the files into a folder with the name of the table."
        )
    if paths:
        return (
            f"{store}: all of its files are hidden ({paths[0]}): names that begin with . or"
            " _ are skipped. Rename them and their folders."
        )
    return (
        f"{store}: the folder is empty. Put the files of each table into a folder, as"
        " in orders/orders_2026-01-31.csv."
    )


def _draft(
    store: Store,
    folder: str,
    paths: List[str],
    signs: List[str],
    name: str,
    request: Request,
    deadline: float,
) -> Planned:
    chosen = _chosen(_with_bytes(store, folder, paths))
    head, surveyed, unread = _all_of(store, folder, paths, chosen, deadline)
    is_feed = chosen.startswith("changes/")
    table, columns, operation = _table(folder, head, is_feed)
    path = f"{request.landing or request.domain}/{folder}"
    for fault in relative_path((), path):
        raise _NoSpec(f"its name is not valid for a landing folder. {fault.hint}")
    lacks = []
    try:
        source, order = _source(path, paths, head, columns, operation, is_feed, table)
        complete = None if is_feed else _complete(source["snapshot_time"], paths, signs)
        if complete is not None:
            source["complete"] = complete
    except _NoSpec as reason:
        lacks.append(str(reason))
        source = _undecided(path, paths, _format(head), is_feed)
        order = Guess([], _ORDER) if is_feed else None
    try:
        key = _key(table, columns, surveyed, is_feed)
    except _NoSpec as reason:
        lacks.append(str(reason))
        key = Guess([], f"to decide: {reason}")
    text = SpecText(
        head=(
            f"Made by `onboard` from {surveyed.files:,} of {len(paths):,} landing files,"
            f" the newest {folder}/{chosen}.",
            *(f"Not read: {each}" for each in unread[:MOST_UNREAD]),
        ),
        name=name,
        description=_description(path),
        owner=_owner(request),
        source=source,
        columns=tuple(
            _with_words(each, name, surveyed) for name, each in columns.items()
        ),
        key=key,
        order_by=order,
        storage={"index": "bucket", "buckets": buckets_for(None, None)},
        size="of unknown size",
        columns_guess=surveyed.words,
    )
    if lacks:
        return Skipped(folder, "; ".join(lacks), text)
    return Draft(table, text, "feed" if is_feed else "snapshots")


def _format(head: Head) -> Any:
    return Guess(head.format, head.why) if head.why else head.format


def _chosen(paths: Sequence[str]) -> str:
    """Return the file whose head is read: the last of the changes, else of all."""
    changes = [each for each in paths if each.startswith("changes/")]
    loads = [each for each in paths if each.startswith("load/")]
    return max(changes if loads and changes else paths)


def _with_bytes(store: Store, folder: str, paths: Sequence[str]) -> List[str]:
    """Return the files that are not empty. Raises _NoSpec if all are."""
    newest = sorted(paths, reverse=True)
    for number, path in enumerate(newest):
        if store.head(f"{folder}/{path}"):
            return newest[number:]
    raise _NoSpec(f"all of its {len(paths):,} files are empty: land one with rows")


def _all_of(
    store: Store, folder: str, paths: Sequence[str], chosen: str, deadline: float
) -> Tuple[Head, Survey, List[str]]:
    """Return the head of the chosen file with the types of all files, and what was not read."""
    head = _head(store, f"{folder}/{chosen}", deadline)
    same, others = readable([f"{folder}/{x}" for x in paths], f"{folder}/{chosen}")
    surveyed = survey(store, same, head.format, deadline)
    form = dict(head.format)
    if form["type"] == "csv":
        form = with_nulls(form, [*surveyed.nulls, *_absent(surveyed)])
    names = dict.fromkeys([*head.types, *surveyed.columns])
    columns = {name: surveyed.columns.setdefault(name, Values()) for name in names}
    types = {name: column.type for name, column in columns.items()}
    unread = [*surveyed.unread, *(f"{x}: of another kind" for x in others)]
    return Head(form, types, head.records, head.why), surveyed, unread


def _absent(surveyed: Survey) -> List[str]:
    """Return words such as NA that stand amid values that are no texts."""
    typed = [each for each in surveyed.columns.values() if not each.is_text_with_absent]
    return [word for each in typed if each.type != "string" for word in each.absent]


def _head(store: Store, path: str, deadline: float) -> Head:
    packed = store.head(path)
    whole = len(packed) < HEAD_BYTES
    try:
        plain, content = unpacked(path, packed)
        further = None
        if not whole and content.isascii():
            further = _encoding_further_on(store, path, deadline)
        return head_of(plain, content, whole=whole, encoding=further)
    except ValueError as error:
        raise _NoSpec(str(error)) from None


def _encoding_further_on(
    store: Store, path: str, deadline: float
) -> Optional[Encoding]:
    """Return the encoding of a file that begins with ASCII, by its first other lines.

    None where it has none as far as it is read in time, or cannot be read.
    """
    try:
        with opened(store, path) as stream:
            rest = b""
            while block := stream.read(HEAD_BYTES):
                found = rest + block
                if not found.isascii():
                    return encoding_of(path, found, whole=False)
                rest = found[found.rfind(b"\n") + 1 :]
                if time.monotonic() > deadline:
                    break
    except (OSError, EOFError):
        pass  # the survey says why
    return None


def _table(
    folder: str, head: Head, is_feed: bool
) -> Tuple[Table, Dict[str, ColumnText], str]:
    """Return the folder as a table, its columns for the spec, and its column of operations."""
    if {"op", "source"} <= set(head.types) and {"before", "after"} & set(head.types):
        raise _NoSpec(
            "its files are Debezium's events: onboard their database with --from files"
        )
    operation = _operation(head) if is_feed else ""
    names = [each for each in head.types if not operation or each != operation]
    double = same_but_for_case(names)
    if double:
        raise _NoSpec(
            f"columns {double[0]!r} and {double[1]!r} differ only in case: rename one"
        )
    is_csv = head.format["type"] == "csv"
    named, unsaid = column_names(names, None, is_csv=is_csv)
    columns = {}
    for each, lake in named.items():
        sources = () if each.lower() == lake else (each,)
        columns[each] = ColumnText(lake, head.types[each], sources)
    for each in unsaid:
        words = "SQL cannot say its name: rename it in the source"
        columns[each] = ColumnText(one_line(each), head.types[each], left_out=words)
    kinds = {"timestamp": "timestamp", "date": "date"}
    listed = [Column(each, kinds.get(head.types[each], "text")) for each in columns]
    return Table(folder, tuple(listed)), columns, operation


def _operation(head: Head) -> str:
    for name in head.types:
        values = {record.get(name) for record in head.records} - {None}
        if name.lower() in _OPERATIONS and values and values <= _LETTERS:
            return name
    return ""


def _source(
    path: str,
    paths: Sequence[str],
    head: Head,
    columns: Dict[str, ColumnText],
    operation: str,
    is_feed: bool,
    table: Table,
) -> Tuple[Dict[str, Any], Any]:
    form = _format(head)
    if not is_feed:
        files, time = _snapshots(paths)
        found = {"kind": "snapshot", "path": path, "files": files}
        return {**found, "format": form, "snapshot_time": time}, None
    cursor = cursor_of(table)
    times = [each for each, text in columns.items() if text.type == "timestamp"]
    column = cursor.columns[0] if cursor else (times[-1] if times else "")
    if not column:
        raise _NoSpec("its changes have no column of times that orders them: add one")
    source: Dict[str, Any] = {"kind": "feed", "path": path, "format": form}
    source.update(load="load/**", changes="changes/**")
    if operation:
        source["operation"] = {"column": operation}
    why = "the log's position orders better, where there is one"
    return source, Guess([columns[column].name], why)


def _snapshots(paths: Sequence[str]) -> Tuple[str, Dict[str, str]]:
    """Return the glob of snapshots, and where in their paths a time stands."""
    for pattern, form in _TIMES:
        bounded = rf"(?<!\d)({pattern})(?!\d)"
        if all(re.search(bounded, each) for each in paths):
            ending = re.search(r"(\.[a-z]+){1,2}$", paths[0])
            files = f"**/*{ending[0]}" if ending else "**"
            if not any("/" in each for each in paths):
                files = files[3:]
            if list(glob((), files)):
                files = "**"
            return files, {"pattern": bounded, "format": form}
    raise _NoSpec(_NO_TIME)


def _complete(
    time: Dict[str, str], paths: Sequence[str], signs: Sequence[str]
) -> Optional[Guess]:
    """Return how a snapshot says that all of its files are there; None if it is one file."""
    found = (re.search(time["pattern"], path) for path in paths)
    times = [each[1] for each in found if each]
    has_several = len(set(times)) < len(times)
    if all(_PARTS.search(each) for each in paths):
        return _completed("parts", _PARTS.pattern, "the names have two numbers")
    dated = [each for each in signs if re.search(time["pattern"], each)]
    if not dated and not has_several:
        return None
    lists = [each for each in dated if "manifest" in each.lower()]
    if lists:
        return _completed("manifest", _sign(lists), "by its name")
    if dated:
        return _completed("marker", _sign(dated), "by its name")
    why = "several files have one time: say how the last one is known"
    return _completed("marker", "_SUCCESS", why)


def _completed(name: str, value: str, why: str) -> Guess:
    """Return a choice of `complete`, with what it asks of the files."""
    return Guess({name: value}, why, setting_of(Complete, name).doc)


_PARTS = re.compile(r"(\d+)[-_.]?of[-_.]?(\d+)")


def _sign(paths: Sequence[str]) -> str:
    """Return the name of the signs if they have one, else a glob of their ending."""
    names = {path.split("/")[-1] for path in paths}
    ending = re.search(r"[._-]?manifest.*$|[.][A-Za-z]+$", min(names))
    return names.pop() if len(names) == 1 or not ending else f"*{ending[0]}"


def _with_words(column: ColumnText, name: str, surveyed: Survey) -> ColumnText:
    """Return the column with what its values and its name say of it."""
    values = surveyed.columns[name]
    guess = personal.by_name(name) or personal.by_values(
        values.seen, values.emails, values.phones
    )
    words = values.words(surveyed.rows)
    if name == "":
        words = "; ".join(
            filter(None, [words, "its header is empty: R and pandas write"])
        )
        words += " the row's number or name there"
    return replace(
        column,
        comment=words,
        guess=guess,
        format=values.format or None,
        numbers=values.numbers,
        sensitivity="personal" if guess else "",
    )


def _key(
    table: Table, columns: Dict[str, ColumnText], surveyed: Survey, is_feed: bool
) -> Guess:
    """Return the likeliest key that the rows do not disprove."""
    named = key_of(table)
    by_name = [each for each in (named.columns if named else ()) if each in columns]
    if by_name and (is_feed or surveyed.rows < 2):
        return Guess([columns[each].name for each in by_name], "only its name says so")
    types = {n: c.type for n, c in columns.items() if not c.left_out}
    rows = surveyed.keys
    found = key_among(rows, types, by_name) if rows.rows > 1 else Nearest((), 0, 0)
    if isinstance(found, Nearest):
        raise _NoSpec(_no_key(found, is_feed))
    why = "its values differ" if len(found) == 1 else "only together do they differ"
    if list(found) == by_name:
        why = "its name says so, and its values differ"
    elif any(map(is_measure, found)):
        why = "with measures alone do they differ, so another value is another row,"
    return Guess(
        [columns[each].name for each in found],
        f"{why} in {_rows(rows.rows)} that were read",
    )


def _rows(number: int) -> str:
    return f"all {number:,} rows"


def _no_key(nearest: Nearest, is_feed: bool) -> str:
    end = "say what identifies a row"
    if is_feed and not nearest.columns:
        return f"no column is named like a key: {end}"
    if not nearest.columns:
        return f"no key found: no column can be one, or there is one row: {end}"
    together = " and ".join(map(repr, nearest.columns))
    return (
        f"no key found: {together} {'together ' if len(nearest.columns) > 1 else ''}come"
        f"{'' if len(nearest.columns) > 1 else 's'} nearest, and {nearest.sharing:,} rows of"
        f" {nearest.rows:,} share a value or lack one: {end}"
    )
