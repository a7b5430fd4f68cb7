"""What the Terraform module of `infra/terraform` takes: parameters, and generated templates."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterable

from lake_infra.domains import domains_template, printed
from lake_infra.parameters import parameters
from lake_infra.readers import readers_template
from lake_infra.resource_names import NotDeployable, Root
from lake_infra.template import GENERATED, LAYERS, load_template
from lake_spec.model import DomainSpec, EnvironmentSpec

VARIABLES = "lake.auto.tfvars.json"
"""The file of variables, which Terraform reads by its name."""


_NO_TERRAFORM = (
    "airflow: the module makes an Airflow of its own. Deploy the layers of "
    "docs/shared-airflow.md by the command line, or by stacks in your own module."
)


_NO_ROOTS = (
    "landing_roots: the module takes the file of the layer network, which has no way to "
    "them. Deploy the layers by the command line, as `infra template` prints them."
)


def terraform_files(
    environment: EnvironmentSpec, domains: Iterable[DomainSpec]
) -> Dict[str, str]:
    """Return the texts of the files by their names. Raises NotDeployable.

    Readers have a template only where a domain names one.
    """
    domains = list(domains)
    if environment.airflow is not None:
        raise NotDeployable(environment.name, [_NO_TERRAFORM])
    if environment.landing_roots:
        raise NotDeployable(environment.name, [_NO_ROOTS])
    made: Dict[str, Dict[str, Any]] = {
        "domains": domains_template(environment, domains)
    }
    if any(each.readers for each in domains):
        made["readers"] = readers_template(environment, domains)
    layers = [each for each in LAYERS if each not in GENERATED or each in made]
    variables = {
        "environment": environment.name,
        "region": environment.region,
        "work_bucket": Root.of(environment.artifacts).bucket,
        "parameters": {
            layer: parameters(
                made.get(layer) or load_template(layer), environment, domains
            )
            for layer in layers
        },
    }
    texts = {f"{layer}.json": printed(template) for layer, template in made.items()}
    return {VARIABLES: json.dumps(variables, indent=1), **texts}
