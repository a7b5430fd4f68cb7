"""Settings that a table spec may leave out because its source implies them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, List, Tuple

from lake_spec.model import envelopes
from lake_spec.model.envelopes import Debezium
from lake_spec.model.sources import Operation
from lake_spec.model.table import FeedTable
from lake_spec.model.table_parts import Column


def with_implied(spec: Any) -> Any:
    """Return the spec with the settings that its source's envelope implies.

    Settings that the file names win. A spec without envelope is left as it is, and
    so is one without columns: its rules ask for them.
    """
    if not isinstance(spec, FeedTable) or spec.envelope is None or not spec.columns:
        return spec
    source, envelope = spec.source, spec.envelope
    return replace(
        spec,
        source=replace(source, operation=source.operation or _operation()),
        columns=(*spec.columns, *_columns(spec, envelope)),
        order_by=spec.order_by or envelopes.LOG_POSITIONS[envelope.connector],
        effective_at=spec.effective_at or envelopes.EVENT_TIME,
    )


def _operation() -> Operation:
    return Operation(
        column=envelopes.OPERATION,
        upsert=envelopes.UPSERTS,
        delete=envelopes.DELETES,
        load=envelopes.LOADS,
        truncate=envelopes.TRUNCATES,
    )


def _columns(spec: Any, envelope: Debezium) -> List[Tuple[str, Column]]:
    """List the envelope's columns that the file does not declare itself."""
    declared = dict(spec.columns)
    return [
        (name, Column(_type(name), (envelopes.source_column(name),)))
        for name in envelopes.columns_of(envelope)
        if name not in declared
    ]


def _type(name: str) -> str:
    return "timestamp" if name == envelopes.EVENT_TIME else "bigint"
