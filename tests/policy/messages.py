"""The catalogue of messages: each id that a user can see, with its cause and what to do.

    python -m tests.policy.messages      from the checkout's root; needs nothing installed

writes docs/reference/messages.md from the code, without importing it. An id is the class
of an error, the value of a member of an enum (warnings), or the name of a rule's function
with hyphens. Its text is the docstring there: the first line is the cause, and the last
paragraph begins with `Fix: `. test_messages.py holds the code and the page against this.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, List, NamedTuple, Optional, Set, Tuple

from tests.policy.floors import ROOT, classes_of, nodes

PAGE = ROOT / "docs" / "reference" / "messages.md"
WARNINGS = "dags/lake_spec/diagnostics/warnings.py"


@dataclass(frozen=True)
class Section:
    """A part of the page: packages with errors, files with enums, folders with rules."""

    title: str
    about: str
    errors: Tuple[str, ...] = ()
    enums: Tuple[str, ...] = ()
    rules: Tuple[str, ...] = ()


SECTIONS = (
    Section(
        "Runs",
        "Errors of a Spark step: a table fails, or a file is set aside. The others go on.",
        errors=("spark_jobs/lake_spark",),
    ),
    Section(
        "Warnings",
        "Warnings of a run, which stays green.",
        enums=(WARNINGS,),
    ),
    Section(
        "Specs",
        "Mistakes in specs, as `validate` prints them: the id stands in brackets at the end.",
        errors=("dags/lake_spec", "dags/lake_check"),
        enums=(
            "dags/lake_check/messages/parsing_ids.py",
            "dags/lake_check/messages/product_ids.py",
        ),
        rules=("dags/lake_check/rules",),
    ),
    Section(
        "Airflow",
        "Errors of tasks, and of runs that are refused before anything is created.",
        errors=("dags/lake_airflow", "dags/lake_site"),
    ),
    Section(
        "Deploys",
        "Errors of templates, releases and acceptance runs.",
        errors=("infra",),
    ),
    Section(
        "Command line and emulator",
        "Errors of `./run_locally.sh` and of the emulator. They end a command with the "
        "exit codes that [commands](../commands.md) lists.",
        errors=("local/lake_local", "local/lake_desk", "emulator/lake_emulator"),
    ),
)

BASES = {
    "StageError": "base of all errors of a stage",
    "RefusedInput": "base of errors of a snapshot or of several files",
    "BadFile": "base of errors of one landing file",
}
"""Class -> why it is not in the catalogue; code makes one of its kinds."""

INTERNAL = {
    "NotBlanked": "an erase catches it and raises NotErasable with its text",
    "NoArray": "its text is the reason why a file is refused",
    "BadRecord": "its text is the reason of a bad row",
    "_NameTwice": "the same: its name is in the reason of the bad row",
    "BuildWhole": "the product is built whole, and the report says why",
    "CannotFollow": "the publication starts again at the newest commit",
    "_Unreadable": "the reader of YAML makes a diagnostic of it",
    "BadSql": "the compiler of products makes a diagnostic of it",
    "_BadTest": "the reader of a product's tests makes a diagnostic of it",
    "EngineFailed": "test-product says its text, and asks Spark where DuckDB failed",
    "_Whole": "the reason is a note of validate",
    "_Unfollowed": "the plan of the product has no origins of columns",
    "EmrError": "an error of EMR's API, which its client raises",
    "S3Error": "an error of S3's API, which its client raises",
    "DropConnection": "a planted fault: the connection is closed without a reply",
    "NotModified": "a status of HTTP",
    "_NoSpec": "onboard lists the file with its reason",
}
"""Class that no user sees -> why."""

REPORT = "dags/lake_spec/state/report.py"
"""The only file that changes the list of a report's warnings."""

_HEAD = (
    "# Messages\n\n"
    "Every message has an id, by which you find it here, as `WrongColumns`, "
    "`QuarantinedRows` or `key-has-columns`; `./run_locally.sh explain ID` prints its "
    "text. The report of a run has it in `error.type`, in `type` of each file "
    "that was set aside, and at the beginning of each warning; the summary, the "
    "notification and the end of the step's log show `Id: text`. The text has the value "
    "and the place. This page has the cause and what to do. [On call](../faults.md) says "
    "what a run does when something fails.\n\n"
    "Generated from the code: `python -m tests.policy.messages`.\n"
)


class Message(NamedTuple):
    """One entry: its id, where the code has it, and its text."""

    id: str
    place: str
    text: str


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(ROOT), encoding="utf-8")
    print(PAGE)


def page(root: Path) -> str:
    """Return the page of the code as it is."""
    parts = [_HEAD]
    for section in SECTIONS:
        parts.append(f"## {section.title}\n{section.about}\n")
        for message in sorted(messages_of(root, section)):
            parts.append(f"### {message.id}\n{as_markdown(message.text)}\n")
    return "\n".join(parts)


def as_markdown(text: str) -> str:
    """Return paragraphs with one line each."""
    return "\n\n".join(" ".join(each.split()) for each in text.split("\n\n"))


def messages_of(root: Path, section: Section) -> Iterator[Message]:
    """Yield the messages of a section."""
    for package in section.errors:
        for name, place, node in errors_of(root, package):
            if name not in BASES and name not in INTERNAL:
                yield Message(name, place, ast.get_docstring(node) or "")
    for path in section.enums:
        yield from _members(root, path)
    for folder in section.rules:
        yield from _rules(root, folder)


def errors_of(root: Path, package: str) -> Iterator[Tuple[str, str, ast.ClassDef]]:
    """Yield name, place and class of each exception of a package."""
    known = exception_names(root)
    for path, node in _classes(root, package):
        if node.name in known:
            yield node.name, f"{path.relative_to(root)}:{node.lineno}", node


def exception_names(root: Path) -> Set[str]:
    """Return the names of all exception classes, also of those that others inherit."""
    found = {
        name
        for name, each in vars(builtins).items()
        if isinstance(each, type) and issubclass(each, BaseException)
    }
    waiting = [node for package in _packages() for _, node in _classes(root, package)]
    while True:
        new = {
            node.name
            for node in waiting
            if node.name not in found and any(_is_error(b, found) for b in node.bases)
        }
        if not new:
            return found
        found |= new


def _packages() -> List[str]:
    return [each for section in SECTIONS for each in section.errors]


def _is_error(base: ast.expr, known: Set[str]) -> bool:
    name = _last_name(base)
    return name in known or name.endswith(("Error", "Exception"))


def _nodes(root: Path, package: str, word: str = "") -> Iterator[Tuple[Path, ast.AST]]:
    """Yield the nodes of a package's files, of those alone that have the word."""
    for path in sorted((root / package).glob("**/*.py")):
        if word in path.read_text(encoding="utf-8"):
            for node in nodes(path):
                yield path, node


def _classes(root: Path, package: str) -> Iterator[Tuple[Path, ast.ClassDef]]:
    for path in sorted((root / package).glob("**/*.py")):
        for node in classes_of(path.read_text(encoding="utf-8")):
            yield path, node


def _members(root: Path, name: str) -> Iterator[Message]:
    """Yield the members of a file's enums, each with the text behind it."""
    for path, node in _classes(root, name.rpartition("/")[0]):
        if path != root / name:
            continue
        for member, after in zip(node.body, [*node.body[1:], None]):
            if isinstance(member, ast.Assign) and _text(member.value) is not None:
                text = _text(after.value) if isinstance(after, ast.Expr) else None
                place = f"{name}:{member.lineno}"
                cleaned = inspect.cleandoc(text or "")
                yield Message(_text(member.value) or "", place, cleaned)


def _text(node: ast.expr) -> Optional[str]:
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return node.value if is_text else None


def _rules(root: Path, folder: str) -> Iterator[Message]:
    """Yield the functions that are decorated as rules."""
    for path, node in _nodes(root, folder, word="rule"):
        if isinstance(node, ast.FunctionDef) and any(
            re.search(r"\brule(\(.*)?$", ast.unparse(each), re.DOTALL)
            for each in node.decorator_list
        ):
            place = f"{path.relative_to(root)}:{node.lineno}"
            text = ast.get_docstring(node) or ""
            yield Message(node.name.replace("_", "-"), place, text)


def text_faults(root: Path) -> List[str]:
    """List messages without a cause or `Fix: `, and ids that are there twice."""
    faults, places = [], {}
    for section in SECTIONS:
        for message in messages_of(root, section):
            where = f"{message.place} {message.id}"
            faults += [f"{where}: {each}" for each in _faults_of(message.text)]
            other = places.setdefault(message.id.lower(), message.place)
            if other != message.place:
                faults.append(f"{where}: {other} has this id too: rename one")
    return faults


def _faults_of(text: str) -> Iterator[str]:
    paragraphs = text.split("\n\n")
    if not re.match(r"(?!Fix: )\S.*\.$", paragraphs[0].replace("\n", " ")):
        yield "begin its text with the cause, a sentence that ends with a period"
    if not re.match(r"Fix: .+\.$", paragraphs[-1].replace("\n", " ")):
        yield "end its text with a paragraph `Fix: ` of whole sentences"
    if re.search(r"<\w", re.sub(r"`[^`]*`", "", text)):
        yield "write <...> within backticks, or the page takes it as HTML"


def base_faults(root: Path) -> List[str]:
    """List code that makes a base class, and entries of BASES and INTERNAL without one."""
    faults, there = [], set()
    for package in _packages():
        for path, node in _nodes(root, package):
            if isinstance(node, ast.ClassDef):
                there.add(node.name)
            name = _last_name(node.func) if isinstance(node, ast.Call) else ""
            if name in BASES:
                where = f"{path.relative_to(root)}:{node.lineno}"
                faults.append(f"{where} makes a {name}: make one of its kinds")
    gone = sorted({*BASES, *INTERNAL} - there)
    return faults + [f"{name} is no class: remove it here" for name in gone]


def _last_name(node: ast.expr) -> str:
    """Return `b` of `a.b` and of `b`; nothing for what has no name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def warning_faults(root: Path) -> List[str]:
    """List code that changes a report's warnings otherwise than by `warn`."""
    faults = []
    for package in ("dags", "spark_jobs"):
        for path, node in _nodes(root, package, word=".warnings"):
            if path != root / REPORT and _changes_warnings(node):
                where = f"{path.relative_to(root)}:{node.lineno}"
                faults.append(f"{where}: call report.warn(WarningId.X, text)")
    return faults


def _changes_warnings(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        changes = node.func.attr in ("append", "extend", "insert", "clear", "remove")
        return changes and _is_warnings(node.func.value)
    if isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        return _is_warnings(node.target)
    if isinstance(node, ast.Delete):
        return any(map(_is_warnings, node.targets))
    if isinstance(node, ast.Assign):  # another name for the list would hide a change
        return any(map(_is_warnings, [*node.targets, node.value]))
    return False


def _is_warnings(node: ast.AST) -> bool:
    if isinstance(node, ast.Subscript):
        node = node.value
    return isinstance(node, ast.Attribute) and node.attr == "warnings"


def unused_warnings(root: Path) -> List[str]:
    """List members of WarningId that no code uses."""
    members = [
        f"WarningId.{ast.unparse(each.targets[0])}"
        for _, node in _classes(root, WARNINGS.rpartition("/")[0])
        if node.name == "WarningId"
        for each in node.body
        if isinstance(each, ast.Assign)
    ]
    code = "\n".join(
        path.read_text(encoding="utf-8")
        for package in ("dags", "spark_jobs")
        for path in (root / package).glob("**/*.py")
    )
    return [each for each in members if not re.search(rf"{each}\b", code)]


if __name__ == "__main__":
    main()
