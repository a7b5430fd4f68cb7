"""The reference pages: every key of every spec file, made from the model."""

from __future__ import annotations

import json
import re
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from lake_check.parsing.wording import in_yaml
from lake_desk.docgen.meanings import meanings_of
from lake_spec.model.field_types import (
    ByKind,
    Choice,
    ListOf,
    MapOf,
    Maybe,
    OneOf,
    Record,
    Scalar,
    Setting,
    shape_of,
)
from lake_spec.model.json_codec import encode_value

_WORDS = {str: "text", int: "whole number", float: "number", bool: "true or false"}


def page(cls: type, title: str, intro: str) -> str:
    """Return the page of one kind of file, in Markdown."""
    lines = [
        f"# {title}",
        "",
        f"<!-- Made from {_file_of(cls)} by `./run_locally.sh docs`. -->",
        intro,
        "",
    ]
    shape = shape_of(cls)
    top = Record(cls, shape.settings) if isinstance(shape, ByKind) else shape
    for heading, record, tag in _sections(top, title):
        if record is top and isinstance(shape, ByKind):
            lines += _section_by_kind(heading, cls, shape)
        else:
            lines += _section(heading, record, tag)
    return "\n".join(lines).rstrip() + "\n"


def _file_of(cls: type) -> str:
    """Return the source file that defines a class."""
    return f"dags/{cls.__module__.replace('.', '/')}.py"


Section = Tuple[str, Record, Optional[Tuple[str, str]]]


def _sections(top: Record, title: str) -> Iterator[Section]:
    """List the records of a file in reading order."""
    waiting: List[Section] = [("Keys of the file", top, None)]
    seen = set()
    while waiting:
        heading, record, tag = waiting.pop(0)
        if record.cls not in seen:
            seen.add(record.cls)
            yield heading, record, tag
            below = [_below(each.shape, name) for name, each in _written(record)]
            waiting = [section for each in below for section in each] + waiting


def _below(shape: Any, name: str) -> List[Section]:
    """List the sections that a setting refers to."""
    if isinstance(shape, Maybe):
        return _below(shape.inner, name)
    if isinstance(shape, (ListOf, MapOf)):
        return _below(shape.item, name)
    if isinstance(shape, Record):
        return [(_heading(shape), shape, None)]
    if isinstance(shape, OneOf):
        return [
            (_heading(record), record, (shape.tag, tag))
            for tag, record in shape.records.items()
        ]
    return []


def _heading(record: Record) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", record.cls.__name__).capitalize()


def _written(record: Record) -> List[Tuple[str, Setting]]:
    return [(k, each) for k, each in record.settings.items() if each.is_written]


def _section(
    heading: str, record: Record, tag: Optional[Tuple[str, str]]
) -> Iterator[str]:
    yield f"## {heading}"
    yield ""
    yield (record.cls.__doc__ or "").strip()
    if record.shorthand:
        yield f"A plain text is the same as `{record.shorthand}`."
    yield ""
    yield "| key | type | default | description |"
    yield "|---|---|---|---|"
    if tag:
        yield f"| `{tag[0]}` | `{tag[1]}` | required | Always `{tag[1]}`. |"
    for name, setting in _written(record):
        yield _row(f"`{name}`", *_cells(setting))
    yield ""


def _section_by_kind(heading: str, cls: type, shape: ByKind) -> Iterator[str]:
    """Yield one table of the keys of all kinds, which says the kinds that have each."""
    yield from (f"## {heading}", "", (cls.__doc__ or "").strip(), "")
    yield "| key | kinds of source | type | default | description |"
    yield "|---|---|---|---|---|"
    for name, setting in shape.settings.items():
        by_cells: Dict[Tuple[str, ...], List[str]] = {}
        for kind, own in shape.takers(name).items() if setting.is_written else ():
            by_cells.setdefault(_cells(own), []).append(kind)
        for cells, kinds in by_cells.items():
            is_of_all = len(kinds) == len(shape.records)
            yield _row(f"`{name}`", "all" if is_of_all else ", ".join(kinds), *cells)
    yield ""


def _cells(setting: Setting) -> Tuple[str, ...]:
    """Return what a setting takes, its default and its description."""
    takes = _limited(setting, _takes(setting.shape))
    return takes, _left_out(setting), _doc(setting)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _takes(shape: Any) -> str:
    return _TAKES[type(shape)](shape)


def _limited(setting: Setting, takes: str) -> str:
    """Add the limits of numbers, and of the number of entries, to what a setting takes."""
    if setting.limits is not None:
        takes = f"{takes}, {setting.limits.words}"
    if setting.entries is not None:
        takes = f"{takes}, {setting.entries.how_many}"
    return takes


def _link(record: Record) -> str:
    heading = _heading(record)
    return f"[{heading.lower()}](#{heading.lower().replace(' ', '-')})"


_TAKES: Dict[type, Callable[[Any], str]] = {
    Scalar: lambda shape: " or ".join(_WORDS[each] for each in shape.types),
    Choice: lambda shape: " or ".join(f"`{each}`" for each in shape.choices),
    Maybe: lambda shape: _takes(shape.inner),
    ListOf: lambda shape: f"list of {_takes(shape.item)}",
    MapOf: lambda shape: f"names, each with {_takes(shape.item)}",
    OneOf: lambda shape: " or ".join(_link(each) for each in shape.records.values()),
    Record: _link,
}


def _left_out(setting: Setting) -> str:
    if setting.given:
        return f"the {setting.given}'s name"
    if setting.is_required:
        return "required"
    if isinstance(setting.shape, Record):
        return "its defaults"
    if isinstance(setting.shape, OneOf):
        tag = getattr(type(setting.default), setting.shape.tag)
        return f"`{{{setting.shape.tag}: {tag}}}`"
    value = encode_value(setting.shape, setting.default)
    return "none" if value in (None, [], {}) else f"`{json.dumps(value)}`"


def _doc(setting: Setting) -> str:
    parts = [setting.doc, *([setting.form.hint] if setting.form else [])]
    if setting.example is not None:
        parts.append(f"Example: {in_yaml(setting)}")
    return " ".join(parts) + _meanings(setting.shape)


def _meanings(shape: Any) -> str:
    """Return what the choices of a setting mean, each in a line of its own."""
    if isinstance(shape, (Maybe, ListOf)):
        return _meanings(shape.inner if isinstance(shape, Maybe) else shape.item)
    if not isinstance(shape, Choice):
        return ""
    meanings = meanings_of(shape.enum, shape.choices).items()
    return "".join(f"<br>`{each}`: {what}" for each, what in meanings)
