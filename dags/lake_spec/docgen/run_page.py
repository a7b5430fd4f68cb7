"""The reference page of what runs can be asked for, made from the options of runs."""

from __future__ import annotations

from typing import Iterator

from lake_spec.contract.dag_names import DAG_KINDS, INCREMENTAL
from lake_spec.run_options.asked import FormOf
from lake_spec.run_options.options import OPTIONS, RunOption

_TYPES = {
    "array": "a list of texts",
    "boolean": "`true` or `false`",
    "number": "a number",
    "string": "a text",
}
_FORM = FormOf("<domain>_incremental", INCREMENTAL, "<domain>", (), (), True)


def run_page() -> str:
    """Return the page, in Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Params of runs"
    yield ""
    source = "dags/lake_spec/run_options/options.py"
    yield f"<!-- Made from {source} by `./run_locally.sh docs`. -->"
    yield (
        "What a run can be asked for: in Airflow's form, through its API, or by "
        "`./run_locally.sh run <dag> --param name=value`, where a list is written "
        "`a,b`. A DAG has the params that its domain has a use for: `pull_from` is "
        "there where a table has a cursor. Other names and values are refused before "
        "anything is created."
    )
    yield ""
    yield "| param | value | DAGs | meaning |"
    yield "| --- | --- | --- | --- |"
    for option in OPTIONS:
        yield from _rows(option)


def _rows(option: RunOption) -> Iterator[str]:
    kinds = option.kinds or DAG_KINDS
    dags = (
        "all" if option.kinds is None else ", ".join(f"`<domain>_{k}`" for k in kinds)
    )
    fields = option.value.fields(option.name, _FORM)
    types = option.value.types(option.name)
    for param, field in fields.items():
        meaning = field.description.replace("|", "\\|").replace("<", "&lt;")
        yield f"| `{param}` | {_TYPES[types[param]]} | {dags} | {meaning} |"
