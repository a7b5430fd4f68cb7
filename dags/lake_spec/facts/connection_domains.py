"""What a domain is told that would use a connection of others."""

from __future__ import annotations

from typing import Optional

from lake_spec.model import EnvironmentSpec


def refusal(environment: EnvironmentSpec, name: str, domain: str) -> Optional[str]:
    """Return why a domain may not use a connection of the environment; None if it may."""
    domains = dict(environment.connections)[name].domains
    if domain in domains:
        return None
    return (
        f"connection {name!r}: environments/{environment.name}.yml lets"
        f" {', '.join(domains) or 'no domain'} use it, not {domain}. Nothing was read."
        f" Ask those who answer for it to add {domain} to its `domains`, or name another"
        " connection."
    )
