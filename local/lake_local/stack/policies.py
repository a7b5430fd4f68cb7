"""The policies that the emulator judges calls by: those that a deployment would give."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, Iterator, Optional

from lake_spec.model import DomainSpec

from lake_local.aws.pages import ask
from lake_local.aws.policies.judge import FILE
from lake_local.errors import BadRequest
from lake_local.stack.state import Stack
from lake_local.text import progress
from lake_local.workspace.specs import Specs
from lake_local.workspace.state_dir import StateDirectory


def write(home: StateDirectory, specs: Specs) -> None:
    """Write the file that the emulator reads at its start; none where no role is."""
    file = home.root / FILE
    made = _made(specs)
    if made is None:
        file.unlink(missing_ok=True)
    else:
        file.write_text(json.dumps(made, indent=1), encoding="utf-8")


def replace(stack: Stack, specs: Specs) -> None:
    """Let the emulator that is up judge by the specs as they are now."""
    made = _made(specs)
    method = "DELETE" if made is None else "PUT"
    body = json.dumps(made).encode()
    ask(
        stack.aws_url, "policies", secret=stack.aws_secret, method=method, body=body
    ).close()


def _domains(specs: Specs) -> Iterator[DomainSpec]:
    """Those without a fault; their DAGs, or `validate`, say what is wrong with others."""
    with suppress(BadRequest):  # There may be no domain yet.
        for name in specs.domain_names():
            with suppress(BadRequest):
                yield specs.domain(name)


def _made(specs: Specs) -> Optional[dict[str, Any]]:
    """The policies of all domains that have no fault; None if a role is missing."""
    # From infra/, which only who starts something needs.
    from lake_infra.policies import policies
    from lake_infra.resource_names import NotDeployable

    try:
        return policies(specs.environment, list(_domains(specs)))
    except NotDeployable as error:
        progress(f"calls are not judged by policies:\n{error}")
        return None
