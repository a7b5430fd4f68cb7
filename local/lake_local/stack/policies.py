"""The policies that the emulator judges calls by: those that a deployment would give."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, Iterator, Optional

from lake_spec.model import DomainSpec

from lake_emulator.pages import ask
from lake_emulator.policies.enforcer import FILE
from lake_local.errors import BadRequest
from lake_local.text import progress
from lake_local.workspace.specs import Specs
from lake_local.workspace.state_dir import StateDirectory


def write(home: StateDirectory, specs: Specs) -> None:
    """Write the file that the emulator reads at its start; remove it without roles."""
    file = home.root / FILE
    made = _made(specs)
    if made is None:
        file.unlink(missing_ok=True)
    else:
        file.write_text(json.dumps(made, indent=1), encoding="utf-8")


def replace(url: str, secret: str, specs: Specs) -> None:
    """Send the policies of the current specs to the emulator that runs at an address."""
    made = _made(specs)
    method = "DELETE" if made is None else "PUT"
    body = json.dumps(made).encode()
    ask(url, "policies", secret=secret, method=method, body=body).close()


def _domains(specs: Specs) -> Iterator[DomainSpec]:
    """Yield domains without mistakes; `validate` and the DAGs report the others."""
    with suppress(BadRequest):  # There may be no domain yet.
        for name in specs.domain_names():
            with suppress(BadRequest):
                yield specs.domain(name)


def _made(specs: Specs) -> Optional[dict[str, Any]]:
    """Return the policies of all domains without mistakes; None if a role is missing."""
    # From infra/, which only commands that start something need.
    from lake_infra.policies import policies
    from lake_infra.resource_names import NotDeployable

    try:
        return policies(specs.environment, list(_domains(specs)))
    except NotDeployable as error:
        progress(f"calls are not judged by policies:\n{error}")
        return None
