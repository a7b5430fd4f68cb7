"""Reads folders of specs and collects the diagnostics of all files."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import (
    Any,
    Dict,
    Generic,
    Iterable,
    List,
    Mapping,
    Optional,
    Set,
    Tuple,
    Type,
    TypeVar,
)

from lake_check.messages.parsing_ids import ParsingId
from lake_check.parsing.defaults import merge
from lake_check.parsing.derived_settings import with_implied
from lake_check.parsing.from_yaml import decode
from lake_check.parsing.node import Node
from lake_check.parsing.product_sql import ENDING as SQL, with_reads
from lake_check.parsing.yaml_reader import Document, LARGEST, parse_yaml
from lake_check.rules.all_rules import rule_sets_of
from lake_check.rules.checks import check_problems
from lake_check.rules.continuous import tables_fit_continuous_runs
from lake_check.rules.dimension import dimension_problems
from lake_check.rules.enrichment import enrichment_problems
from lake_check.rules.lake import ACROSS
from lake_check.rules.landing_folders import landing_folder_is_own
from lake_spec.diagnostics.diagnostic import Diagnostic, Path as KeyPath, got
from lake_spec.diagnostics.errors import SpecErrors
from lake_spec.diagnostics.suggestions import did_you_mean
from lake_spec.model import DomainSpec, FileTable, ProductTable, TableSpec
from lake_spec.model.field_types import shape_of

DEFAULTS = "_defaults.yml"
DOMAIN_FILE = "_domain.yml"
ENDING = ".yml"
TESTS_ENDING = ".tests.yml"
"""Ending of the tests of a product, next to its spec: no spec."""


T = TypeVar("T")


@dataclass
class ParsedSpec(Generic[T]):
    """One spec file as far as it could be read."""

    root: Node
    spec: T
    broken: Set[KeyPath]


@dataclass
class Survey:
    """The result so far: the number of files, and all diagnostics."""

    files: int = 0
    found: Dict[str, Diagnostic] = field(default_factory=dict)
    tables: List[ParsedSpec[TableSpec]] = field(default_factory=list)
    names: Set[Tuple[str, str]] = field(default_factory=set)
    """(domain, table) of every table's file, readable or not."""

    def add(self, more: Iterable[Diagnostic]) -> None:
        """Add diagnostics, each once: those of defaults occur for every table."""
        for diagnostic in more:
            self.found.setdefault(str(diagnostic), diagnostic)

    def whole_file(self, path: Path, message: str, hint: str, rule: ParsingId) -> None:
        """Add a diagnostic of a file or folder as a whole."""
        self.add([Diagnostic(str(path), 0, "", None, message, hint, rule.value)])

    @property
    def diagnostics(self) -> List[Diagnostic]:
        """All faults, by file and line."""
        return sorted(
            self.found.values(),
            key=lambda diagnostic: (diagnostic.file, diagnostic.line),
        )

    def close(self) -> None:
        """Check the tables against each other. Raises SpecErrors for any diagnostic."""
        self.judge_across()
        if self.found:
            raise SpecErrors(self.diagnostics)

    def judge_across(self) -> None:
        """Check the rules across tables for those that could be read."""
        whole = [
            read
            for read in self.tables
            if ("source",) not in {p[:1] for p in read.broken}
        ]
        specs = [read.spec for read in whole]
        for rule in ACROSS:
            for position, problem in rule(specs):
                self.add([whole[position].root.diagnostic(problem)])
        for judge in (check_problems, dimension_problems, enrichment_problems):
            for position, problem in judge(specs, self.names):
                self.add([whole[position].root.diagnostic(problem)])


def read_document(survey: Survey, path: Path) -> Document:
    """Parse a file as YAML and add its diagnostics to the survey."""
    survey.files += 1
    try:
        with path.open("rb") as stream:
            document = parse_yaml(stream.read(LARGEST + 1), str(path))
    except OSError as error:
        hint = "Make the file readable, or remove it."
        message = error.strerror or "unreadable"
        survey.whole_file(path, message, hint, ParsingId.UNREADABLE_FILE)
        return Document(None)
    survey.add(document.diagnostics)
    return document


def read_spec(
    survey: Survey,
    cls: Type[T],
    path: Path,
    *,
    name: str,
    given: Optional[Mapping[str, Any]] = None,
    defaults: Optional[Node] = None,
) -> Optional[ParsedSpec[T]]:
    """Read the spec of a file; None if it is not even YAML."""
    root = read_document(survey, path).root
    if root is None:
        return None
    if defaults is not None:
        root = merge(shape_of(cls), root, defaults)
    decoded = decode(cls, root, given=given)
    survey.add(decoded.diagnostics)
    if decoded.spec is None or () in decoded.broken:
        return None
    read = ParsedSpec(root, with_implied(decoded.spec), decoded.broken)
    survey.add(_judged(read, name))
    return read


def _judged(read: ParsedSpec[Any], name: str) -> Iterable[Diagnostic]:
    for rules in rule_sets_of(read.spec):
        for problem in rules.problems(read.spec, read.broken):
            yield read.root.diagnostic(problem)
    if read.spec.name != name and ("name",) not in read.broken:
        hint = (
            f"Its file or folder is named {name!r}: write `name: {name}`, or rename it."
        )
        rule = ParsingId.NAME_DIFFERS.value
        yield read.root.diagnostic(got(("name",), read.spec.name, hint, rule))


def survey_tables(survey: Survey, tables: Path) -> Dict[str, DomainSpec]:
    """Read every domain of a folder, by its name."""
    domains = {}
    for entry in entries(survey, tables):
        if entry.is_dir():
            domain = survey_domain(survey, tables, entry.name)
            if domain is not None:
                domains[entry.name] = domain
        elif entry.name != DEFAULTS and _is_yaml(entry):
            hint = (
                f"Move it into the folder of its domain; only {DEFAULTS} belongs here."
            )
            message = "a spec outside of any domain"
            survey.whole_file(entry, message, hint, ParsingId.MISPLACED_FILE)
    return domains


def survey_domain(survey: Survey, tables: Path, name: str) -> Optional[DomainSpec]:
    """Read one domain with its tables, as far as they are readable."""
    folder = tables / name
    defaults = _defaults(survey, tables, folder)
    read = _read_domain(survey, folder)
    specs = []
    for entry in entries(survey, folder):
        if _is_table(survey, entry):
            survey.names.add((name, entry.stem))
            table = read_spec(
                survey,
                TableSpec,
                entry,
                name=entry.stem,
                given={"domain": name},
                defaults=defaults,
            )
            if table is not None:
                table.spec, bad = with_reads(table.spec, table.root, folder)
                survey.add(bad)
                survey.tables.append(table)
                specs.append(table.spec)
                survey.add(_landing_diagnostics(table, tables))
    _report_unused(survey, folder, specs)
    if read is None:
        return None
    survey.add(
        read.root.diagnostic(each)
        for each in tables_fit_continuous_runs(read.spec, specs)
    )
    return replace(read.spec, tables=tuple(specs))


def _report_unused(survey: Survey, folder: Path, specs: Iterable[TableSpec]) -> None:
    """Report SQL files that no product names, and tests of no product.

    Nothing is reported where a spec could not be read.
    """
    products = {
        each.name: each.source for each in specs if isinstance(each, ProductTable)
    }
    used = {each.sql for each in products.values()}
    for entry in entries(survey, folder) if not survey.found else ():
        if entry.suffix == SQL and entry.name not in used:
            hint = (
                f"Write `sql: {entry.name}` into the source of a product, or remove it."
            )
            survey.whole_file(
                entry, "no product names it", hint, ParsingId.MISPLACED_FILE
            )
        tested = entry.name.removesuffix(TESTS_ENDING)
        if tested != entry.name and tested not in products:
            hint = did_you_mean(tested, products) or "Remove it."
            message = f"there is no product {tested!r} in this folder"
            survey.whole_file(entry, message, hint, ParsingId.MISPLACED_FILE)


def _landing_diagnostics(
    table: ParsedSpec[TableSpec], tables: Path
) -> Iterable[Diagnostic]:
    """List diagnostics of the landing folder of a table that is readable so far."""
    is_broken = ("source",) in {path[:1] for path in table.broken}
    if is_broken or not isinstance(table.spec, FileTable):
        return
    for problem in landing_folder_is_own(table.spec, lambda name: _owner(tables, name)):
        yield table.root.diagnostic(problem)


def _owner(tables: Path, name: str) -> Optional[DomainSpec]:
    """Read another domain for its grants; one with diagnostics grants nothing."""
    if name not in {each.name for each in tables.iterdir()}:
        return None  # only names that are there become part of a path
    survey = Survey()
    read = _read_domain(survey, tables / name)
    return read.spec if read is not None and not survey.found else None


def _defaults(survey: Survey, tables: Path, domain: Path) -> Optional[Node]:
    """Read the defaults of all domains, and those of one, which take precedence."""
    of_all, own = _read_defaults(survey, tables), _read_defaults(survey, domain)
    if of_all is None or own is None:
        return of_all or own
    return merge(shape_of(TableSpec), own, of_all)


def _read_defaults(survey: Survey, folder: Path) -> Optional[Node]:
    path = folder / DEFAULTS
    if not path.exists():
        return None
    root = read_document(survey, path).root
    if root is not None and not isinstance(root.value, dict):
        hint = "Write the settings of a table, or remove the file."
        problem = got((), root.plain(), hint, ParsingId.WRONG_TYPE.value)
        survey.add([root.diagnostic(problem)])
        return None
    return root


def _read_domain(survey: Survey, folder: Path) -> Optional[ParsedSpec[DomainSpec]]:
    path = folder / DOMAIN_FILE
    if not path.exists():
        hint = "Create this file with `name`, `description` and `owner`."
        survey.whole_file(path, "missing", hint, ParsingId.MISSING_DOMAIN_FILE)
        return None
    return read_spec(survey, DomainSpec, path, name=folder.name, given={"tables": ()})


def _is_table(survey: Survey, entry: Path) -> bool:
    if entry.is_dir():
        hint = "Domains have no folders inside: move its specs up, or remove it."
        survey.whole_file(entry, "a folder in a domain", hint, ParsingId.MISPLACED_FILE)
        return False
    if entry.name in (DOMAIN_FILE, DEFAULTS) or not _is_yaml(entry):
        return False
    if entry.name.endswith(TESTS_ENDING):
        return False
    if entry.suffix != ENDING or entry.name.startswith("_"):
        hint = f"Name it <table>{ENDING}; only {DOMAIN_FILE} and {DEFAULTS} begin with `_`."
        message = "not a valid name of a table's file"
        survey.whole_file(entry, message, hint, ParsingId.MISPLACED_FILE)
        return False
    return True


def survey_folder(survey: Survey, cls: Type[T], folder: Path) -> Dict[str, T]:
    """Read the clusters or environments of a folder, by their names."""
    specs: Dict[str, T] = {}
    for entry in entries(survey, folder):
        if entry.suffix == ENDING:
            read = read_spec(survey, cls, entry, name=entry.stem)
            if read is not None:
                specs[entry.stem] = read.spec
        elif _is_yaml(entry):
            hint = f"Name it <name>{ENDING}."
            message = "not a valid name of a spec"
            survey.whole_file(entry, message, hint, ParsingId.MISPLACED_FILE)
    return specs


def entries(survey: Survey, folder: Path) -> List[Path]:
    """List the entries of a folder by name, without hidden entries and caches."""
    try:
        found = sorted(folder.iterdir())
    except OSError as error:
        hint = "Give a folder of specs, as in dags/tables."
        message = error.strerror or "unreadable"
        survey.whole_file(folder, message, hint, ParsingId.UNREADABLE_FILE)
        return []
    return [path for path in found if not path.name.startswith((".", "__"))]


def _is_yaml(path: Path) -> bool:
    return path.suffix.lower() in (".yml", ".yaml")
