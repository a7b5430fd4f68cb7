"""The requirements of an Airflow that others have too: what ours add to theirs.

Theirs are never written. Compared are the packages that the DAGs import by, in the versions
of MWAA's image: those that the tests of this project run with.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterator, List, Mapping, Tuple

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

PYTHON = "3.12"
"""Python of each image with Airflow 3."""
CALLED = ("aiobotocore", "boto3", "botocore")
"""Packages that the DAGs and the provider call AWS by."""
BEGIN = "# >>> lake: what its DAGs need; `release remove` takes it out"
END = "# <<< lake"
_NO_LINE_END = "# >>> lake: the line before had no line end"
_OPTION = re.compile(r"\s*(--?[a-z-]+)[=\s]+[\"']?([^\"'\s]+)")
_CONSTRAINT, _OTHER_FILE = ("-c", "--constraint"), ("-r", "--requirement")
_UPPER = ("==", "===", "<=", "<", "~=")
"""Operators by which a version is the highest that is allowed."""


@dataclass(frozen=True)
class Needs:
    """What the DAGs need of an Airflow: requirements, and versions by package."""

    requirements: Tuple[str, ...]
    versions: Mapping[str, str]


@dataclass(frozen=True)
class Compared:
    """Their requirements beside ours: lines to add, and why that cannot be."""

    missing: Tuple[str, ...]
    conflicts: Tuple[str, ...]
    notes: Tuple[str, ...]


def supported(project: Path) -> List[str]:
    """Return the versions of Airflow that the DAGs are tested with."""
    files = (project / "requirements").glob("mwaa-*.lock")
    return sorted(each.name[len("mwaa-") : -len(".lock")] for each in files)


def needs(project: Path, version: str) -> Needs:
    """Return what the DAGs need on that version of Airflow."""
    folder = project / "requirements"
    asked = tuple(_lines((folder / "airflow.txt").read_text("utf-8")))
    image = pins((folder / f"constraints-{version}.txt").read_text("utf-8"))
    names = {*CALLED, *(canonicalize_name(Requirement(each).name) for each in asked)}
    return Needs(asked, {name: image[name] for name in names if name in image})


def pins(text: str) -> Dict[str, str]:
    """Return the versions that a file of pins names, by package."""
    found = re.findall(r"^([A-Za-z0-9._-]+)==([^\s\\;]+)", text, re.M)
    return {canonicalize_name(name): version for name, version in found}


def constraint_files(text: str) -> List[str]:
    """Return the constraints that requirements name: paths or URLs."""
    return [place for option, place in _options(text) if option in _CONSTRAINT]


def compared(text: str, constraints: Mapping[str, str], wanted: Needs) -> Compared:
    """Compare their requirements, and the text of each of their constraints by its name,
    with what the DAGs need."""
    conflicts: List[str] = []
    notes: List[str] = []
    for where, line in _named(text, constraints):
        found = _requirement(line)
        name = canonicalize_name(found.name) if found else ""
        if found is None or name not in wanted.versions:
            continue
        if why := _differs(found, wanted.versions[name]):
            (conflicts if why == "older" else notes).append(
                f"{where}: {line}: {why} than {name}=={wanted.versions[name]}, which the "
                "DAGs are tested with"
            )
    notes += [
        f"requirements.txt: {option} {place} is not read"
        for option, place in _options(text)
        if option in _OTHER_FILE or (option in _CONSTRAINT and place not in constraints)
    ]
    missing = tuple(e for e in wanted.requirements if not _has(text, Requirement(e)))
    return Compared(missing, tuple(conflicts), tuple(notes))


def joined(text: str, missing: Tuple[str, ...]) -> str:
    """Return their requirements, unchanged, with these lines behind them."""
    if not missing:
        return text
    begin = BEGIN if not text or text.endswith("\n") else f"\n{_NO_LINE_END}"
    return text + "\n".join([begin, *missing, END]) + "\n"


def without_ours(text: str) -> str:
    """Return requirements as they were before each `joined`, with what was added behind."""
    for begin, line_end in ((BEGIN, ""), (f"\n{_NO_LINE_END}", "\n")):
        before, found, rest = text.partition(begin)
        _, ended, behind = rest.partition(f"{END}\n")
        if found and ended:
            return without_ours(before + (line_end if behind else "") + behind)
    return text


def _named(text: str, constraints: Mapping[str, str]) -> Iterator[Tuple[str, str]]:
    """Yield each line of requirements and constraints, with its file."""
    for name, content in {"requirements.txt": text, **constraints}.items():
        for line in _lines(content):
            yield name, line


def _lines(text: str) -> Iterator[str]:
    """Yield the requirements of a text without comments, options and hashes."""
    for line in text.replace("\\\n", " ").splitlines():
        line = re.sub(r"(^|\s)#.*|\s--hash.*", "", line).strip()
        if line and not line.startswith("-"):
            yield line


def _options(text: str) -> Iterator[Tuple[str, str]]:
    """Yield the options of requirements with their values."""
    for line in text.splitlines():
        if found := _OPTION.match(line):
            yield found[1], found[2]


def _requirement(line: str) -> "Requirement | None":
    """Parse a line; None for a file, a URL, and what counts on other machines alone."""
    try:
        found = Requirement(line)
    except InvalidRequirement:
        return None
    on = {"python_version": PYTHON, "sys_platform": "linux"}
    return found if found.marker is None or found.marker.evaluate(on) else None


def _has(text: str, wanted: Requirement) -> bool:
    """Return whether requirements have a package, with the extras that are wanted."""
    name = canonicalize_name(wanted.name)
    found = (_requirement(line) for line in _lines(text))
    return any(
        each is not None
        and canonicalize_name(each.name) == name
        and wanted.extras <= each.extras
        for each in found
    )


def _differs(found: Requirement, version: str) -> str:
    """Return whether a requirement allows `older` or `newer` versions only than this
    one; empty if it allows this one."""
    if found.specifier.contains(version, prereleases=True):
        return ""
    ours = Version(version)
    for each in found.specifier:
        try:
            bound = Version(each.version.removesuffix(".*"))
        except InvalidVersion:
            continue
        if each.operator in _UPPER and bound <= ours:
            return "older"
    return "newer"
