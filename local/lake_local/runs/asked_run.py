"""Checks the arguments of a run against the specs before anything starts.

Airflow checks the run later and knows more; this check needs no Airflow, so a misspelt
name is refused within a second.
"""

from __future__ import annotations

from typing import Any, Mapping

from lake_spec.layout.dag_kinds import dag_ids
from lake_spec.layout.dag_names import DAG_KINDS, PROOF, REAPER, ids_of
from lake_spec.model.json_codec import to_data
from lake_spec.run_options.asked import checked, form_of

from lake_local.errors import BadRequest, unknown
from lake_local.workspace.dags_folder import lacks_dag_file
from lake_local.workspace.specs import Specs

OF_NO_DOMAIN = (REAPER, PROOF)
"""The DAGs that belong to no domain."""


def check(specs: Specs, dag_id: str, conf: Mapping[str, Any]) -> None:
    """Check a run: its DAG, params and tables must exist in these specs.

    Args:
        conf: the params by their names, as `dag_runs.params` returns them.

    Raises:
        BadRequest: for an unknown domain, DAG, param or table, with the nearest name; for
            mistakes in the specs of the DAG's domain.
    """
    if dag_id in OF_NO_DOMAIN:
        return
    name, kind = _parts(specs, dag_id)
    domain = specs.domain(name)
    ids = dag_ids(to_data(domain))
    if dag_id not in ids:
        raise BadRequest(unknown("DAG", dag_id, ids))
    _require_dag_file(specs, name)
    faults: list[str] = []
    checked(form_of(domain, kind), conf, faults)
    if faults:
        raise BadRequest("\n".join(faults))


def _parts(specs: Specs, dag_id: str) -> tuple[str, str]:
    """Return the domain and the kind of a DAG, by its id."""
    names = specs.domain_names()
    for kind in DAG_KINDS:
        name = dag_id.removesuffix(f"_{kind}")
        if name in names:
            return name, kind
        if name and name != dag_id:
            raise BadRequest(
                f"{dag_id}: {unknown('domain', name, names)} Domains are read from"
                f" {specs.tables}; --tables DIR names another folder."
            )
    raise BadRequest(unknown("DAG", dag_id, (x for n in names for x in ids_of(n))))


def _require_dag_file(specs: Specs, name: str) -> None:
    """Raise BadRequest if no file in dags/ can build the DAGs of a domain.

    For tables of another folder the files are generated.
    """
    dags = specs.project.dags
    if specs.are_the_projects and lacks_dag_file(dags, name):
        raise BadRequest(
            f"{dags / name}.py is missing, so Airflow has no DAGs of {name}. Create it:"
            f" sed s/moma/{name}/g dags/moma.py > dags/{name}.py"
        )
