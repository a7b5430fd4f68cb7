"""The examples of a page: what lands, and what the tables hold after it.

A fenced block says in its first line what it is: `yaml customers` (a spec, for the
examples up to the next one), `csv changes/1.csv` (a landing file of the example),
`text history` (a table after the file above it). A `##` heading begins an example.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Tuple

PAGE = Path(__file__).resolve().parents[1] / "how-history-is-kept.md"
_PARTS = re.compile(
    r"^## (?P<title>.+)$"
    r"|^!\[.*\]\(pictures/(?P<picture>.+?)\)$"
    r"|^```(?P<kind>\w+) (?P<name>\S+)\n(?P<text>(?:.*\n)*?)```$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Table:
    """What one table (`layer`) holds of an example once `file` was ingested."""

    file: str
    layer: str
    text: str

    @property
    def columns(self) -> List[str]:
        return self.text.split("\n", 1)[0].split()

    @property
    def rows(self) -> List[Dict[str, str]]:
        """The rows by column, as printed; `null` is no value."""
        _, rules, *lines = self.text.splitlines()
        places = [match.span() for match in re.finditer("-+", rules)]
        last = len(places) - 1
        cells = [
            [
                line[a : None if i == last else b].strip()
                for i, (a, b) in enumerate(places)
            ]
            for line in lines
        ]
        return [dict(zip(self.columns, row)) for row in cells]


@dataclass(frozen=True)
class Example:
    """One section: its landing files in their order, and the tables after them."""

    title: str
    spec: str
    picture: str
    files: Dict[str, str]
    tables: Tuple[Table, ...]

    def events(self, file: str) -> List[Dict[str, str]]:
        """The records of a landing file, a text per column."""
        return list(csv.DictReader(self.files[file].splitlines()))


def read(page: Path = PAGE) -> Tuple[Dict[str, str], List[Example]]:
    """The specs by their names (YAML), and the examples."""
    specs: Dict[str, str] = {}
    examples: List[Example] = []
    for section in re.split(r"^(?=## )", page.read_text(encoding="utf-8"), flags=re.M):
        example = _example(section, specs)
        if example.files:
            examples.append(example)
    return specs, examples


def _example(section: str, specs: Dict[str, str]) -> Example:
    title, picture, file = "", "", ""
    files: Dict[str, str] = {}
    tables: List[Table] = []
    for part in _PARTS.finditer(section):
        title, picture = part["title"] or title, part["picture"] or picture
        if part["kind"] == "yaml":
            specs[part["name"]] = part["text"]
        elif part["kind"] == "csv":
            file = part["name"]
            files[file] = part["text"]
        elif part["kind"] == "text":
            tables.append(Table(file, part["name"], part["text"]))
    return Example(
        title, list(specs)[-1] if specs else "", picture, files, tuple(tables)
    )
