"""The form that Airflow shows for a run: a field for each of its params."""

from __future__ import annotations

from airflow.sdk import Param

from lake_airflow.planning.plan import DagPlan
from lake_spec.run_options.asked import form_fields
from lake_spec.run_options.values import FormField


def params(plan: DagPlan) -> dict[str, Param]:
    """Build the form of a DAG; its values are checked again by name."""
    return {name: _param(name, each) for name, each in form_fields(plan).items()}


def _param(name: str, field: FormField) -> Param:
    schema = dict(field.schema)
    if field.examples is not None:
        schema["examples"] = field.examples
    title = name.replace("_", " ").capitalize()
    return Param(field.default, description=field.description, title=title, **schema)
