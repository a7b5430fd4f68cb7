"""Finds the tables that read a landing file, by the specs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Iterable, Iterator, Mapping, Sequence

from lake_spec.diagnostics.suggestions import nearest
from lake_spec.facts.landing_folders import landing_folder, landing_root
from lake_spec.layout.hidden_paths import is_hidden
from lake_spec.model import DomainSpec, EnvironmentSpec, FileTable, Snapshot
from lake_spec.text.globs import glob_pattern

SIGN = "sign of completion"


@dataclass(frozen=True)
class Reader:
    """A table that reads a file, and what the file is to it."""

    table: str
    role: str


@dataclass(frozen=True)
class Landing:
    """The landing area and the tables that read from it."""

    root: str
    tables: Sequence[FileTable]
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """Folders of the tables whose files lie in a landing root, by table."""

    @classmethod
    def of(cls, environment: EnvironmentSpec, domains: Iterable[DomainSpec]) -> Landing:
        """Return the landing area of an environment with the tables of the domains."""
        tables = [table for each in domains for table in each.tables]
        found = [x for x in tables if isinstance(x, FileTable)]
        elsewhere = {
            each.full_name: landing_folder(environment, each)
            for each in found
            if landing_root(environment, each) is not None
        }
        return cls(environment.landing, found, elsewhere)

    def folder(self, table: FileTable) -> str:
        """Return the folder of a table's landing files."""
        at = f"{self.root}/{table.source.path}"
        return self.elsewhere.get(table.full_name, at)

    def has(self, url: str) -> bool:
        """Return whether an address is one of landing files."""
        folders = (self.root, *self.elsewhere.values())
        return any(url.startswith(f"{each}/") for each in folders)

    def readers(self, url: str) -> list[Reader]:
        """List the tables that read the file at an address, each with the file's role."""
        found = []
        for table, path in self._below(url):
            role = _role(table, path)
            if role:
                found.append(Reader(table.full_name, role))
        return found

    def unread(self, url: str) -> str:
        """Return why no table reads the file at an address, and what to do."""
        below = list(self._below(url))
        if not below:
            return self._no_folder(url)
        table, path = below[0]
        if is_hidden(path):
            return (
                "names that begin with . or _ are skipped. Give the file and its folders"
                " other names."
            )
        globs = _globs(table)
        shown = " or ".join(f"{glob!r} (source.{key})" for key, _, glob in globs)
        keys = " or ".join(f"source.{key}" for key, _, _ in globs)
        return (
            f"{table.full_name} reads from {self.folder(table)}/ only names"
            f" that match {shown}. Put the file there under such a name, or change {keys}."
        )

    def without_time(self, url: str) -> str:
        """Return what is wrong if a snapshot's path lacks its time; else ""."""
        for table, path in self._below(url):
            time = getattr(table.source, "snapshot_time", None)
            pattern = time.pattern if time else None
            is_file = _role(table, path) not in ("", SIGN)
            if pattern and is_file and not re.search(pattern, path):
                return (
                    f"{table.full_name} finds no snapshot time in this path: it does not match"
                    f" {pattern!r} (source.snapshot_time.pattern). Give the file a name"
                    " that does, or change the pattern."
                )
        return ""

    def _below(self, url: str) -> Iterator[tuple[FileTable, str]]:
        """List the tables whose folder has an address, with the path in the folder."""
        for table in self.tables:
            prefix = f"{self.folder(table)}/"
            if url.startswith(prefix):
                yield table, url[len(prefix) :]

    def _no_folder(self, url: str) -> str:
        folder = url.removeprefix(f"{self.root}/").rpartition("/")[0]
        folders = sorted({table.source.path for table in self.tables})
        near = nearest(folder, folders)
        if near:
            return f"no table has source.path {folder!r}. Did you mean {self.root}/{near}/?"
        there = ", ".join(folders) or "none"
        return (
            f"no table has source.path {folder!r}. Put the file below one of these folders"
            f" of {self.root}/ ({there}), or write a table spec with this path."
        )


def _role(table: FileTable, path: str) -> str:
    """Return the role of a file in the table's folder; "" if it is not read."""
    sign = _sign(table)
    name = path if "/" in sign else path.rpartition("/")[2]
    if sign and glob_pattern(sign).fullmatch(name):
        return SIGN
    if is_hidden(path):
        return ""
    for _, role, glob in _globs(table):
        if glob_pattern(glob).fullmatch(path):
            return role
    return ""


def _globs(table: FileTable) -> list[tuple[str, str, str]]:
    """List the source's key, role, and glob of each kind of files that a table reads."""
    source = table.source
    if isinstance(source, Snapshot):
        return [("files", "snapshot", source.files)]
    found = [("load", "full load", source.load)]
    if source.full_refresh:
        refresh = source.full_refresh.files
        found.append(("full_refresh.files", "full refresh", refresh))
    return [*found, ("changes", "changes", source.changes)]


def _sign(table: FileTable) -> str:
    complete = getattr(table.source, "complete", None)
    return (complete.marker or complete.manifest or "") if complete else ""
