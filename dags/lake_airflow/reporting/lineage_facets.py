"""What a stage read and wrote, as facets of OpenLineage: tables, columns, counts, owners.

Only Airflow's OpenLineage provider asks for it, and only this module and that of assertions
import its client, which is not there without the provider. Files and tables are named as
OpenLineage names those of S3: the bucket is the namespace, the folder the name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from airflow.providers.openlineage.extractors import OperatorLineage
from openlineage.client.event_v2 import InputDataset, OutputDataset
from openlineage.client.facet_v2 import (
    column_lineage_dataset,
    dataset_version_dataset,
    documentation_dataset,
    input_statistics_input_dataset,
    output_statistics_output_dataset,
    ownership_dataset,
    ownership_job,
    schema_dataset,
)
from openlineage.client.generated.base import RunFacet
import attr

from lake_airflow.planning.plan import Stage, StageKind
from lake_airflow.reporting.lineage_assertions import (
    Assertion,
    assertions_facet,
    checks_passed,
    rules_kept,
)
from lake_airflow.reporting.reports import Report, Reports
from lake_airflow.runs.run import Run
from lake_airflow.settings import read_settings
from lake_check.parsing.product_plans import planned
from lake_spec.facts.landing_folders import landing_folder
from lake_spec.layout.dag_names import FULL_LOAD, INCREMENTAL, REBUILD, REPROCESS
from lake_spec.layout.stage_tables import (
    DIMENSION,
    PRODUCT,
    REBUILD_DIMENSION,
    REBUILD_PRODUCT,
    SCD2,
)
from lake_spec.layout.table_folders import layer_folder
from lake_spec.lineage.columns import (
    FOLDERS,
    Edge,
    Field,
    Kind,
    Layer,
    layers_of,
    lineage_of,
)
from lake_spec.lineage.sensitivity import ColumnSensitivity
from lake_spec.lineage.uses import on_a_way, on_all_ways
from lake_spec.model import (
    Check,
    DomainSpec,
    EnvironmentSpec,
    FileTable,
    ProductTable,
    Sensitivity,
    TableSpec,
    VersionedTable,
)
from lake_spec.model.continuous import CONTINUOUS
from lake_spec.state.report import State

_LOG, _CURRENT, _HISTORY = Layer.LOG.value, Layer.CURRENT.value, Layer.HISTORY.value
_WRITES = {
    **dict.fromkeys((FULL_LOAD, INCREMENTAL, REPROCESS), (_LOG, _CURRENT)),
    SCD2: (_HISTORY,),
    **dict.fromkeys((REBUILD, DIMENSION, REBUILD_DIMENSION), (_CURRENT, _HISTORY)),
    **dict.fromkeys((PRODUCT, REBUILD_PRODUCT), (_CURRENT,)),
    CONTINUOUS: (_LOG, _CURRENT, _HISTORY),
}
"""Layers that a stage writes, of those that a table has; a stage that is not here writes no
rows of its own."""

_ROWS = {_LOG: "accepted", _HISTORY: "versions_opened"}
"""Count of a report that says how many rows were added to a layer."""

_HOW = {
    Kind.COPIED: ("IDENTITY", ""),
    Kind.COMPUTED: ("TRANSFORMATION", "an expression makes the values of it"),
    Kind.SUMMED: ("AGGREGATION", "totals or means over many rows"),
    Kind.DERIVED: (
        "TRANSFORMATION",
        "decides the values: a count, or the times or key of a version",
    ),
}
"""Subtype and description of a transformation."""

Place = tuple[str, str]  # a full name of a table, and a layer


@attr.define
class LakeRunFacet(RunFacet):
    """The run of the lake that a task belongs to."""

    run: str
    release: str
    environment: str
    cluster: str
    reports: str


@dataclass(frozen=True)
class StageLineage:
    """What one stage of one run read and wrote."""

    domain: DomainSpec
    environment: EnvironmentSpec
    stage: Stage
    run: Run
    cluster: str
    reports: Reports

    def facets(self) -> OperatorLineage[Any, Any]:
        """Return the datasets and facets of the stage."""
        return OperatorLineage(
            inputs=[self._input(place) for place in self._read],
            outputs=[self._output(place) for place in self._written],
            run_facets={"lake_run": self._run_facet()},
            job_facets={"ownership": _owner_of_job(self.domain.owner)},
        )

    @cached_property
    def _planned(self) -> DomainSpec:
        """The domain with the plans of its products, which follow columns through SQL."""
        return planned(self.domain, read_settings().plans())

    @cached_property
    def _tables(self) -> dict[str, TableSpec]:
        return {table.full_name: table for table in self.domain.tables}

    @cached_property
    def _stored_as(self) -> dict[str, str]:
        """The names that folders of tables have, also of those that products read."""
        products = (
            t.source for t in self._planned.tables if isinstance(t, ProductTable)
        )
        plans = [each.plan for each in products if each.plan]
        read = {e.table: e.folder_of for plan in plans for e in plan.inputs}
        return {**read, **{name: t.stored_as for name, t in self._tables.items()}}

    @cached_property
    def _edges(self) -> dict[Field, list[Edge]]:
        """The edges into each column."""
        found: dict[Field, list[Edge]] = {}
        for edge in lineage_of(self._planned):
            found.setdefault(edge.target, []).append(edge)
        return found

    @cached_property
    def _written(self) -> dict[Place, Report]:
        """The layers that the stage wrote, each with the report of the last stage."""
        found: dict[Place, Report] = {}
        for part in self.stage.parts:
            for table in part.tables:
                report = self._report(part, table)
                full_name = f"{self.domain.name}.{table}"
                own = layers_of(self._tables[full_name])
                if report is None:
                    continue
                for layer in self._layers(part):
                    if layer in own:
                        found[full_name, layer] = report
        return found

    def _report(self, part: Stage, table: str) -> Report | None:
        """Return the report of what the stage wrote of a table; None for nothing."""
        if part.kind is StageKind.STREAMER:
            return {}
        report = self.reports.get((part.name, table), {})
        return report if report.get("state") == State.DONE.value else None

    @staticmethod
    def _layers(part: Stage) -> tuple[str, ...]:
        return (
            (_LOG,) if part.kind is StageKind.STREAMER else _WRITES.get(part.name, ())
        )

    @cached_property
    def _origins(self) -> dict[Field, dict[Field, Kind]]:
        """By column of an output, the columns of inputs that it comes from, each with
        what becomes of its values on the way that leaves most of them."""
        return {
            target: on_all_ways(self._origins_of(target, Kind.COPIED))
            for target in self._edges
            if (target.table, target.layer) in self._written
        }

    def _origins_of(self, field: Field, use: Kind) -> Iterator[tuple[Field, Kind]]:
        for edge in self._edges.get(field, ()):
            later = on_a_way(use, Kind(edge.kind))
            if (edge.source.table, edge.source.layer) in self._written:
                yield from self._origins_of(edge.source, later)
            else:
                yield edge.source, later

    @cached_property
    def _read(self) -> dict[Place, dict[str, None]]:
        """The columns that were read, by what they are columns of."""
        found: dict[Place, dict[str, None]] = {}
        for origins in self._origins.values():
            for field in origins:
                found.setdefault((field.table, field.layer), {})[field.column] = None
        return found

    def _input(self, place: Place) -> InputDataset:
        columns = self._read[place]
        is_source = place[1] == Layer.SOURCE.value
        report = self._report_of_input(place[0]) if is_source else None
        facets = {}
        if report:
            rules = self._tables[place[0]].quality
            facets = _facets_of_files(report, rules_kept(rules, report))
        return InputDataset(
            *self._name(place),
            facets=self._facets(place, columns),
            inputFacets=facets,
        )

    def _report_of_input(self, table: str) -> Report | None:
        name = table.partition(".")[2]
        parts = (part for part in self.stage.parts if _LOG in self._layers(part))
        found = (self.reports.get((part.name, name)) for part in parts)
        return next(filter(None, found), None)

    def _output(self, place: Place) -> OutputDataset:
        table, layer = place
        report = self._written[place]
        columns = {f.column: None for f in self._origins if (f.table, f.layer) == place}
        declared = dict(self._tables[table].columns)
        facets = self._facets(place, dict.fromkeys((*declared, *columns)))
        facets["columnLineage"] = self._column_lineage(place, columns)
        if instant := report.get("commits", {}).get(FOLDERS[layer]):
            facets["version"] = dataset_version_dataset.DatasetVersionDatasetFacet(
                instant
            )
        if found := self._assertions(place, report):
            facets["dataQualityAssertions"] = assertions_facet(found)
        rows = report.get(_ROWS.get(layer, ""))
        statistics = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet
        return OutputDataset(
            *self._name(place),
            facets=facets,
            outputFacets=(
                {} if rows is None else {"outputStatistics": statistics(rowCount=rows)}
            ),
        )

    def _assertions(self, place: Place, report: Report) -> list[Assertion]:
        """Return the checks of a layer, and the rules of rows where they were tested."""
        spec, layer = self._tables[place[0]], FOLDERS[place[1]]
        is_tested = isinstance(spec, ProductTable) or place[1] == _LOG
        found = rules_kept(spec.quality, report, is_stored=True) if is_tested else []
        checks = [each for each in spec.checks if each.layer.value == layer]
        return found + checks_passed(checks, report, self._is_shown(spec))

    def _is_shown(self, spec: TableSpec) -> Callable[[Check], bool]:
        """Return whether the number of a check has no value of a personal column.

        `validate` refuses others; here columns of tables that are not known count as
        personal.
        """

        def is_shown(check: Check) -> bool:
            column = check.shown_column
            personal = Sensitivity.PERSONAL
            return column is None or self._known.of(spec.full_name, column) != personal

        return is_shown

    @cached_property
    def _known(self) -> ColumnSensitivity:
        return ColumnSensitivity(self._planned.tables)

    def _column_lineage(
        self, place: Place, columns: Iterable[str]
    ) -> column_lineage_dataset.ColumnLineageDatasetFacet:
        return column_lineage_dataset.ColumnLineageDatasetFacet(
            fields={
                column: column_lineage_dataset.Fields(
                    inputFields=[
                        self._input_field(*origin)
                        for origin in self._origins[Field(*place, column)].items()
                    ]
                )
                for column in columns
            }
        )

    def _input_field(
        self, field: Field, use: Kind
    ) -> column_lineage_dataset.InputField:
        """Values that are copied out of a file are parsed."""
        namespace, name = self._name((field.table, field.layer))
        subtype, description = _HOW[use]
        is_source = field.layer == Layer.SOURCE.value
        how = column_lineage_dataset.Transformation(
            type="DIRECT",
            subtype="TRANSFORMATION" if is_source else subtype,
            description=description,
            masking=False,
        )
        return column_lineage_dataset.InputField(namespace, name, field.column, [how])

    def _facets(self, place: Place, columns: Iterable[str]) -> dict[str, Any]:
        """Return what is known of a dataset without a run."""
        spec = self._tables.get(place[0])
        if spec is None:
            return {}
        is_source = place[1] == Layer.SOURCE.value
        fields = [_schema_field(spec, column, is_source) for column in columns]
        owner = ownership_dataset.Owner(f"team:{spec.owner}", "owner")
        return {
            "schema": schema_dataset.SchemaDatasetFacet(fields=fields),
            "ownership": ownership_dataset.OwnershipDatasetFacet([owner]),
            "documentation": documentation_dataset.DocumentationDatasetFacet(
                spec.description
            ),
        }

    def _name(self, place: Place) -> Place:
        """Return namespace and name of a dataset."""
        full_name, layer = place
        table = self._tables.get(full_name)
        if layer == Layer.SOURCE.value and isinstance(table, FileTable):
            path = landing_folder(self.environment, table)
        else:
            warehouse = self.environment.warehouse
            stored = self._stored_as.get(full_name, full_name)
            path = layer_folder(warehouse, stored, FOLDERS[layer])
        bucket, _, name = path.removeprefix("s3://").partition("/")
        return f"s3://{bucket}", name.rstrip("/")

    def _run_facet(self) -> LakeRunFacet:
        return LakeRunFacet(
            run=self.run.name,
            release=self.run.release,
            environment=self.environment.name,
            cluster=self.cluster,
            reports=f"{self.environment.runs}/{self.run.name}/",
        )


def _schema_field(
    spec: TableSpec, column: str, is_source: bool
) -> schema_dataset.SchemaDatasetFacetFields:
    """Describe a column; the types of a file's columns are its own."""
    declared = None if is_source else spec.column(column)
    times: tuple[str, ...] = ()
    if isinstance(spec, VersionedTable):
        times = (spec.history.columns.valid_from, spec.history.columns.valid_to)
    kind = declared.type if declared else None
    return schema_dataset.SchemaDatasetFacetFields(
        name=column,
        type="timestamp" if column in times and not is_source else kind,
        description=declared.description if declared else None,
    )


def _facets_of_files(report: Report, rules: Sequence[Assertion]) -> dict[str, Any]:
    """Return what was read of landing files, and whether it was right."""
    quarantined, rows = report.get("quarantined", 0), report.get("rows_in", 0)
    taken = ("accepted", "unchanged", "duplicates", "quarantined", "erased")
    balanced = all(
        file.get("landed") == sum(file.get(name, 0) for name in taken)
        for file in report.get("files", ())
    )
    checks = {
        "every landed row is accounted for": balanced,
        "no row is quarantined": not quarantined,
        "no file is set aside": not report.get("set_aside"),
    }
    own = [Assertion(name, success) for name, success in checks.items()]
    return {
        "inputStatistics": input_statistics_input_dataset.InputStatisticsInputDatasetFacet(
            rowCount=rows,
            fileCount=len(report.get("files", ())) + report.get("unlisted_files", 0),
        ),
        "dataQualityAssertions": assertions_facet([*own, *rules]),
    }


def _owner_of_job(owner: str) -> ownership_job.OwnershipJobFacet:
    return ownership_job.OwnershipJobFacet(
        [ownership_job.Owner(f"team:{owner}", "owner")]
    )
