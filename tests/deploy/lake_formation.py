"""What Lake Formation lets a role read: the grants of a template against a catalogue.

Knows what our templates use: grants to read all or some columns of a named table.
Anything else is an error here, never a no.
"""

from __future__ import annotations

from typing import Any, Dict, FrozenSet, Iterable, Iterator, Mapping, Set, Tuple

from tests.deploy.allowed import PSEUDO, resolved

Catalogue = Mapping[Tuple[str, str], FrozenSet[str]]
"""The columns of each table, by database and table."""

Seen = Set[Tuple[str, str, str]]
"""Columns that can be read, by database, table and column."""


def seen(template: Mapping[str, Any], principal: str, catalogue: Catalogue) -> Seen:
    """Return the columns that a principal can read; none in a database that it cannot
    describe."""
    found: Seen = set()
    databases: Set[str] = set()
    for thing, permissions in _grants(template, principal):
        (kind,) = thing
        if kind == "Database":
            databases.add(thing[kind]["Name"])
        elif kind in ("Table", "TableWithColumns") and "SELECT" in permissions:
            table = (thing[kind]["DatabaseName"], thing[kind]["Name"])
            columns = thing[kind].get("ColumnNames") or catalogue[table]
            found |= {(*table, name) for name in columns}
        elif kind != "Table":
            raise NotImplementedError(f"{kind} with {permissions}")
    return {each for each in found if each[0] in databases}


def principals(template: Mapping[str, Any]) -> Set[str]:
    """Return every principal that a template grants something to read to."""
    return {
        holder for holder, thing, _ in _all(template) if "DataLocation" not in thing
    }


def _grants(
    template: Mapping[str, Any], principal: str
) -> Iterator[Tuple[Dict[str, Any], Iterable[str]]]:
    for holder, thing, permissions in _all(template):
        if holder == principal and "DataLocation" not in thing:
            yield thing, permissions


def _all(template: Mapping[str, Any]) -> Iterator[Tuple[str, Dict[str, Any], Any]]:
    for each in template["Resources"].values():
        if each["Type"] != "AWS::LakeFormation::PrincipalPermissions":
            continue
        given = resolved(each["Properties"], PSEUDO)
        holder = given["Principal"]["DataLakePrincipalIdentifier"]
        if given["PermissionsWithGrantOption"]:
            raise NotImplementedError("permissions with grant option")
        yield holder, given["Resource"], given["Permissions"]
