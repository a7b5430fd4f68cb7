"""The reference page of what runs can be asked for, made from the options of runs."""

from __future__ import annotations

from typing import Dict, Iterator, List, Tuple

from lake_spec.layout.dag_names import DAG_KINDS
from lake_spec.run_options.asked import CHOICE, FormOf
from lake_spec.run_options.options import OPTIONS, RunOption
from lake_spec.run_options.values import FormField

_TYPES = {
    "array": "a list of texts",
    "boolean": "`true` or `false`",
    "number": "a number",
    "string": "a text",
}


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
        "`./run_locally.sh run moma_incremental --param name=value`, where a list is "
        "written `a,b`. A domain has a DAG of each kind that it has a use for, "
        "`<domain>_<kind>`. Other names and values are refused before anything is "
        "created."
    )
    yield ""
    yield "| param | kinds of DAGs | meaning | value |"
    yield "| --- | --- | --- | --- |"
    for option in OPTIONS:
        yield from _rows(option)
    yield ""
    params = [param for each in OPTIONS if each.name in CHOICE for param in each.params]
    yield (
        "A reprocess needs at least one of "
        f"{', '.join(f'`{each}`' for each in params)}: what several of them choose is "
        "what they have in common."
    )


def _rows(option: RunOption) -> Iterator[str]:
    kinds = option.kinds or DAG_KINDS
    fields = {kind: option.value.fields(option.name, _form(kind)) for kind in kinds}
    of_kinds = "all" if option.kinds is None else ", ".join(f"`{k}`" for k in kinds)
    if option.use.words:
        of_kinds += f", where {option.use.words}"
    for param, type_ in option.value.types(option.name).items():
        of_param = {kind: each[param] for kind, each in fields.items()}
        value = _TYPES[type_]
        if option.value.is_needed:
            value += ", which is needed"
        elif default := _default(of_param[kinds[0]]):
            value += f"; {default} if it is left out"
        meaning = _meaning(of_param).replace("|", "\\|").replace("<", "&lt;")
        yield f"| `{param}` | {of_kinds} | {meaning} | {value} |"


def _form(kind: str) -> FormOf:
    params = tuple(p for e in OPTIONS if e.is_of_kind(kind) for p in e.params)
    return FormOf(f"<domain>_{kind}", kind, "<domain>", (), params)


def _default(field: FormField) -> str:
    if field.examples is not None:
        return "all"
    if isinstance(field.default, bool):
        return f"`{str(field.default).lower()}`"
    return f"`{field.default}`" if field.default else ""


def _meaning(of_kinds: Dict[str, FormField]) -> str:
    """Return the description; where those of DAGs differ, each with its kinds."""
    texts: Dict[str, List[str]] = {}
    for kind, field in of_kinds.items():
        texts.setdefault(field.description, []).append(kind)
    if len(texts) == 1:
        return next(iter(texts))
    parts: List[Tuple[str, List[str]]] = sorted(texts.items(), key=lambda e: -len(e[1]))
    return " ".join(
        f"{', '.join(f'`{each}`' for each in kinds)}: {text}" for text, kinds in parts
    )
