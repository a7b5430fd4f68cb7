"""The servers of the environment, by the names that tables give them."""

from __future__ import annotations

from typing import Any, Tuple, Type, TypeVar

from lake_spec.diagnostics.suggestions import did_you_mean
from lake_spec.facts.connection_domains import refusal
from lake_spec.model import EnvironmentSpec
from lake_spark.errors import ForeignConnection, WrongConnection

Kind = TypeVar("Kind")


def connection_of(
    environment: EnvironmentSpec, name: str, domain: str, *kinds: Type[Kind]
) -> Kind:
    """Return the connection of that name, for a table of the domain.

    Raise WrongConnection if none is of these kinds, ForeignConnection if it is for other
    domains: a role that several domains share could read its secret.
    """
    known = dict(environment.connections)
    found = known.get(name)
    if found is None:
        has = ", ".join(sorted(known)) or "none"
        raise WrongConnection(
            f"connection {name!r}: the environment {environment.name!r} has no connection "
            f"of that name. {did_you_mean(name, known)}Its connections: {has}. Add it under "
            f"`connections` of environments/{environment.name}.yml."
        )
    if not isinstance(found, kinds):
        raise WrongConnection(
            f"connection {name!r}: is of kind {found.kind} in the environment "
            f"{environment.name!r}, and this source needs {_words(kinds)}. Name another connection."
        )
    words = refusal(environment, name, domain)
    if words:
        raise ForeignConnection(words)
    return found


def _words(kinds: Tuple[Type[Any], ...]) -> str:
    return " or ".join(each.kind for each in kinds)
