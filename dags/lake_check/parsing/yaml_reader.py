"""YAML files as plain data with line numbers: the only module that reads YAML.

Specs need no more than mappings, lists and scalars, so nothing else is taken:
no aliases (a few lines of them become gigabytes), no tags, no second key of
the same name, no tabs, no deep nesting. Dates stay text; whole numbers are
decimal, never octal or sexagesimal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

import yaml

from lake_check.messages.parsing_ids import ParsingId
from lake_check.parsing.node import Node, REFUSED
from lake_spec.diagnostics.diagnostic import Diagnostic, Path, key_path, shown

LARGEST = 256 * 1024
DEEPEST = 16

SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAB = re.compile(r"^ *\t", re.MULTILINE)
_INT = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"[-+]?([0-9]{1,18}\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,2})?")
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE", "yes", "Yes", "YES"), True),
    **dict.fromkeys(("on", "On", "ON"), True),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No", "NO"), False),
    **dict.fromkeys(("off", "Off", "OFF"), False),
}


@dataclass(frozen=True)
class Document:
    """A file's data, where it could be read at all, and its faults as YAML."""

    root: Optional[Node]
    diagnostics: Tuple[Diagnostic, ...] = ()


class _Unreadable(Exception):
    """Ends the reading of a file; carries the fault that says why."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(str(diagnostic))
        self.diagnostic = diagnostic


def parse_yaml(raw: bytes, file: str) -> Document:
    """Parse a file's bytes; return the data and all diagnostics as YAML."""
    try:
        return _parse(raw, file)
    except _Unreadable as error:
        return Document(None, (error.diagnostic,))


def _parse(raw: bytes, file: str) -> Document:
    if len(raw) > LARGEST:
        hint = f"A spec has at most {LARGEST // 1024} KiB."
        raise _unreadable(
            file, 0, "the file is too large", hint, ParsingId.SPEC_TOO_LARGE
        )
    text = _text(raw, file)
    tree = _Tree(file, text)
    try:
        return Document(tree.read(), tuple(tree.diagnostics))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        line = mark.line + 1 if mark else 0
        hint = "Fix the YAML in this line or the one above."
        message = f"not YAML: {problem}"
        raise _unreadable(file, line, message, hint, ParsingId.INVALID_YAML) from None


def _text(raw: bytes, file: str) -> str:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        hint = "Save the file as UTF-8."
        raise _unreadable(file, line, "not UTF-8", hint, ParsingId.NOT_UTF8) from None
    tab = _TAB.search(text)
    if tab:
        line = text.count("\n", 0, tab.start()) + 1
        message, hint = "a tab indents the line", "Indent with spaces."
        raise _unreadable(file, line, message, hint, ParsingId.TAB_INDENT)
    return text


def _unreadable(
    file: str, line: int, message: str, hint: str, rule: ParsingId
) -> _Unreadable:
    return _Unreadable(Diagnostic(file, line, "", None, message, hint, rule.value))


class _Tree:
    """Builds nodes from YAML's events, so that depth is ours to bound."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.diagnostics: List[Diagnostic] = []
        self.events: Iterator[Any] = yaml.parse(text, Loader=SafeLoader)

    def read(self) -> Node:
        next(self.events)  # the stream starts
        event = next(self.events)
        if isinstance(event, yaml.StreamEndEvent):
            hint = "Write the spec, or remove the file."
            message = "the file is empty"
            raise _unreadable(self.file, 0, message, hint, ParsingId.EMPTY_FILE)
        node = self._node(next(self.events), ())
        next(self.events)  # the document ends
        event = next(self.events)
        if not isinstance(event, yaml.StreamEndEvent):
            hint = "A spec is one document: remove the `---` and what follows."
            self._refuse(event, (), "a second document starts", hint)
        return node

    def _node(self, event: Any, path: Path) -> Node:
        line = event.start_mark.line + 1
        if len(path) > DEEPEST:
            hint = f"Specs nest at most {DEEPEST} levels."
            message = "nested too deeply"
            raise _unreadable(self.file, line, message, hint, ParsingId.SPEC_TOO_LARGE)
        return Node(self._value(event, path), self.file, line)

    def _value(self, event: Any, path: Path) -> Any:
        if isinstance(event, yaml.AliasEvent):
            hint = "Write the value out; shared values belong in _defaults.yml."
            return self._refuse(event, path, f"alias *{event.anchor}", hint)
        if event.tag is not None:
            hint = "Remove it: specs take mappings, lists, text, numbers and booleans."
            self._refuse(event, path, f"tag {shown(event.tag)}", hint)
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        return self._mapping(path)

    def _sequence(self, path: Path) -> List[Node]:
        items: List[Node] = []
        event = next(self.events)
        while not isinstance(event, yaml.SequenceEndEvent):
            items.append(self._node(event, (*path, len(items))))
            event = next(self.events)
        return items

    def _mapping(self, path: Path) -> Dict[str, Node]:
        mapping: Dict[str, Node] = {}
        event = next(self.events)
        while not isinstance(event, yaml.MappingEndEvent):
            key = self._key(event)
            node = self._node(next(self.events), (*path, key))
            node.line = event.start_mark.line + 1
            if key in mapping:
                hint = f"Keep one; the first is in line {mapping[key].line}."
                self._refuse(
                    event, (*path, key), "duplicate key", hint, ParsingId.DUPLICATE_KEY
                )
            else:
                mapping[key] = node
            event = next(self.events)
        return mapping

    def _key(self, event: Any) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            line = event.start_mark.line + 1
            hint = "Write every key as one word of text; quote braces that are text."
            message = "a key is not text"
            raise _unreadable(
                self.file, line, message, hint, ParsingId.UNSUPPORTED_YAML
            )
        key: str = event.value
        return key

    def _refuse(
        self,
        event: Any,
        path: Path,
        message: str,
        hint: str,
        rule: ParsingId = ParsingId.UNSUPPORTED_YAML,
    ) -> object:
        line = event.start_mark.line + 1
        where = key_path(path)
        self.diagnostics.append(
            Diagnostic(self.file, line, where, None, message, hint, rule.value)
        )
        return REFUSED


def _scalar(event: Any) -> Union[None, bool, int, float, str]:
    text: str = event.value
    if not event.implicit[0]:  # quoted, or a block of text
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text
