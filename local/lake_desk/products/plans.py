"""The products of a lake: checked together, and with their plans for a release."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Dict, Iterator, List, Optional, Sequence, Set, Tuple

from lake_check.messages.product_ids import ProductId
from lake_check.parsing.loader import survey_all
from lake_check.parsing.product_plans import planned
from lake_check.parsing.product_sql import read_sql
from lake_check.rules.checks import personal_by_origin
from lake_desk.notes import file_of, in_spec, Note, notes_of, warning_of
from lake_desk.products.product_tests import tests_of
from lake_spec.diagnostics.diagnostic import Diagnostic, Problem
from lake_spec.diagnostics.errors import SpecErrors
from lake_spec.lineage.sensitivity import ColumnSensitivity, Mark
from lake_spec.model import (
    CheckedLayer,
    DomainSpec,
    Expression,
    FeedTable,
    FileTable,
    Layer,
    ProductPlan,
    ProductTable,
    TableSpec,
)
from lake_spec.text.sql_references import find_references

if TYPE_CHECKING:
    from lake_desk.products.inputs import Tables


@dataclass
class Checked:
    """The plans of products by their names, and what is wrong with the others."""

    plans: Dict[str, ProductPlan] = field(default_factory=dict)
    conditions: Dict[Tuple[str, int], str] = field(default_factory=dict)
    """The texts of conditions that Spark gets, by their table and position."""
    diagnostics: List[Diagnostic] = field(default_factory=list)
    notes: List[Note] = field(default_factory=list)


def check(
    tables: Path,
    *,
    clusters: Optional[Path] = None,
    environments: Optional[Path] = None,
) -> Tuple[int, List[Diagnostic], List[Note]]:
    """Check all files, and the products where these have no fault.

    Returns:
        The number of files, their diagnostics, and notes: warnings, and each product that
        can only be built whole.
    """
    lake, survey = survey_all(tables, clusters=clusters, environments=environments)
    if survey.found:
        return survey.files, survey.diagnostics, []
    domains = list(lake.domains.values())
    checked = check_products(domains, tables)
    notes = [*notes_of(domains, tables), *checked.notes]
    if checked.diagnostics:
        return survey.files, checked.diagnostics, notes
    tests = tests_of([planned(each, checked.plans) for each in domains], tables)
    wrong = [found for each in tests.values() for found in each.diagnostics]
    return survey.files + len(tests), wrong, notes


def with_plans(domains: Sequence[DomainSpec], tables: Path) -> List[DomainSpec]:
    """Return the domains of a folder with the plans of their products.

    Conditions of checks have the text that Spark gets. `domains` are all of the folder.
    Raises SpecErrors with all faults of the products.
    """
    checked = check_products(domains, tables)
    if checked.diagnostics:
        raise SpecErrors(checked.diagnostics)
    return [
        _with_conditions(planned(each, checked.plans), checked.conditions)
        for each in domains
    ]


def _with_conditions(
    domain: DomainSpec, texts: Dict[Tuple[str, int], str]
) -> DomainSpec:
    """Return the domain whose conditions have the texts that Spark gets."""
    tables = []
    for table in domain.tables:
        checks = tuple(
            (
                replace(check, written=texts[table.full_name, position])
                if isinstance(check, Expression)
                else check
            )
            for position, check in enumerate(table.checks)
        )
        tables.append(replace(table, checks=checks) if table.checks else table)
    return replace(domain, tables=tuple(tables))


def check_products(domains: Sequence[DomainSpec], tables: Path) -> Checked:
    """Compile the products of all domains of a folder, and check conditions of checks."""
    specs = [each for domain in domains for each in domain.tables]
    products = [each for each in specs if isinstance(each, ProductTable)]
    checked = Checked()
    _check_conditions(checked, domains, specs, tables)
    if not products:
        checked.diagnostics += _shown_values(specs, tables)
        return checked
    # Imported here, as desks without products need no sqlglot.
    from lake_desk.products.compiler import compile_product
    from lake_desk.products.inputs import Tables

    inputs = Tables(domains)
    for spec in products:
        file = file_of(spec.full_name, tables)
        text, sql = _sql(spec, file.parent)
        compiled = compile_product(spec, text, inputs)
        if compiled.plan is not None:
            checked.plans[spec.full_name] = compiled.plan
            checked.notes += _notes(spec, compiled.plan, file)
            checked.notes += _late_histories(spec, text, inputs, file)
        for each in compiled.findings:
            if isinstance(each.place, int):
                found = Diagnostic(
                    file=str(sql),
                    line=each.place,
                    key_path="",
                    value=each.value,
                    message=each.message,
                    hint=each.hint,
                    rule=each.rule.value,
                )
            else:
                parts = (each.place, each.value, each.message, each.hint)
                found = in_spec(file, Problem(*parts, each.rule.value))
            checked.diagnostics.append(found)
    checked.diagnostics += _cycles(products, tables)
    checked.diagnostics.sort(key=lambda each: (each.file, each.line))
    if not checked.diagnostics:
        with_plan = [planned(each, checked.plans) for each in domains]
        specs = [each for domain in with_plan for each in domain.tables]
        known = ColumnSensitivity(specs)
        checked.diagnostics += _shown_values(specs, tables, known)
        checked.notes = [*_lowered(known, tables), *checked.notes]
    return checked


def _notes(spec: TableSpec, plan: ProductPlan, file: Path) -> Iterator[Note]:
    """Note that a product can only be built whole, with the reason."""
    if plan.whole_because:
        text = (
            f"{spec.full_name} is built whole each time, because {plan.whole_because}."
        )
        yield Note(str(file), text)


def _late_histories(
    spec: TableSpec, text: str, inputs: "Tables", file: Path
) -> Iterator[Note]:
    """Note joins by time with histories that begin where their first load says.

    Facts from before that have no match, and nothing fails.
    """
    references = find_references(text).references
    for name in dict.fromkeys(each.table for each in references if each.as_of):
        table = inputs.spec(name)
        if (
            not isinstance(table, FileTable)
            or table.load_effective_at
            or table.effective_at
        ):
            continue
        begins = "with its first snapshot"
        if isinstance(table, FeedTable):
            begins = f"at each row's {(*table.order_by, 'time')[0]} in the first load"
        text = (
            f"{spec.full_name} reads {name} as of a time, and its history begins {begins}:"
            " rows of earlier times have no match. If what was loaded was true before,"
            f' declare load_effective_at in {name}, as in "1900-01-01".'
        )
        yield Note(str(file), text)


def _shown_values(
    specs: Sequence[TableSpec],
    tables: Path,
    known: Optional[ColumnSensitivity] = None,
) -> Iterator[Diagnostic]:
    """Refuse checks that would show values of columns that are personal by their origin."""
    asked = [spec for spec in specs if any(each.shown_column for each in spec.checks)]
    if not asked:
        return
    known = known or ColumnSensitivity(specs)
    for spec in asked:
        origins = {
            name: _origin(mark) for name, mark in known.personal(spec.full_name).items()
        }
        for problem in personal_by_origin(spec, origins):
            yield in_spec(file_of(spec.full_name, tables), problem)


def _origin(mark: Mark) -> str:
    """Return the column or table that a mark comes from."""
    field = mark.source
    return f"{field.table}.{field.column}" if field else mark.reads


def _lowered(known: ColumnSensitivity, tables: Path) -> Iterator[Note]:
    """Warn of the columns that declare less than what their values come from."""
    for each in known.lowered():
        origin, sensitivity = _origin(each.mark), each.mark.sensitivity.value
        what = "has the values" if each.is_copied else "is made of the values"
        message = (
            f"{each.column!r} {what} of {origin}, which is {sensitivity}, and declares"
            f" {each.declared.value}"
        )
        hint = f"Write `sensitivity: {sensitivity}`, or remove the key."
        at = ("columns", each.column, "sensitivity")
        rule = ProductId.LOWERED_SENSITIVITY.value
        found = Problem(at, each.declared.value, message, hint, rule)
        yield warning_of(each.table, found, tables)


def _check_conditions(
    checked: Checked,
    domains: Sequence[DomainSpec],
    specs: Sequence[TableSpec],
    tables: Path,
) -> None:
    """Compile the SQL of the checks of tables."""
    asked = [
        (spec, position, check)
        for spec in specs
        for position, check in enumerate(spec.checks)
        if isinstance(check, Expression)
    ]
    if not asked:
        return
    from lake_desk.products.conditions import compile_condition
    from lake_desk.products.inputs import Tables

    known = Tables(domains)
    for spec, position, check in asked:
        is_history = check.layer is CheckedLayer.HISTORY
        layer = Layer.HISTORY if is_history else Layer.CURRENT
        path = ("checks", position, "sql")
        columns = known.columns(spec.full_name, layer)
        text, found = compile_condition(check.sql, columns, path)
        checked.conditions[spec.full_name, position] = text
        for each in found:
            parts = (path, check.sql, each.message, each.hint, each.rule.value)
            problem = in_spec(file_of(spec.full_name, tables), Problem(*parts))
            checked.diagnostics.append(problem)


def _sql(spec: ProductTable, folder: Path) -> Tuple[str, Path]:
    """Return the text of a product's SQL file and its path."""
    if spec.source.sql is None:
        return "", folder
    path = folder / spec.source.sql
    return read_sql(path), path


def _cycles(products: Sequence[ProductTable], tables: Path) -> Iterator[Diagnostic]:
    """Report each circle of products once, in the order in which they read each other."""
    reads = {each.full_name: each.source.reads for each in products}
    specs = {each.full_name: each for each in products}
    seen: Set[str] = set()
    for name in sorted(reads):
        circle = _circle(name, reads)
        if circle and not seen.intersection(circle):
            seen.update(circle)
            yield _cycle(specs[name], [*circle, name], tables)


def _circle(name: str, reads: Dict[str, Tuple[str, ...]]) -> List[str]:
    """Return the shortest way from a product over others back to it; none if there is none."""
    ways, seen = [[name]], {name}
    while ways:
        way = ways.pop(0)
        for other in reads[way[-1]]:
            if other == name:
                return way
            if other in reads and other not in seen:
                seen.add(other)
                ways.append([*way, other])
    return []


def _cycle(spec: ProductTable, circle: List[str], tables: Path) -> Diagnostic:
    message = f"products read each other in a circle: {' -> '.join(circle)}"
    hint = "Remove one of these references."
    rule = ProductId.PRODUCT_CYCLE.value
    file = file_of(spec.full_name, tables)
    if spec.source.sql is None:
        parts = (("source", "from"), spec.source.from_, message, hint)
        return in_spec(file, Problem(*parts, rule))
    text, path = _sql(spec, file.parent)
    lines = [r.line for r in find_references(text).references if r.table == circle[1]]
    return Diagnostic(str(path), lines[0], "", circle[1], message, hint, rule)
