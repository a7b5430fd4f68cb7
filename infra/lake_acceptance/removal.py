"""Removes what an acceptance run made, and nothing else: what its claim covers."""

from __future__ import annotations

from typing import Any, Iterator, List, Mapping, Optional

from lake_acceptance import claim, storage
from lake_acceptance.check import Check, CheckFailed
from lake_acceptance.subject import DATABASES, DOMAIN, PREFIX, Subject
from lake_acceptance.tables import glue_tables


def remove(subject: Subject) -> str:
    """Delete objects, tables, databases and stack of the run; look whether they are
    gone.

    Its claims go last, so that `--remove` finds what is left.
    """
    s3, roots = subject.client("s3"), claim.claimed_roots(subject)
    if not roots:
        return "the run claimed nothing, so it made nothing"
    tables = sum(_drop_database(subject, name) for name in DATABASES)
    count = sum(storage.delete_below(s3, root, but=claim.NAME) for root in roots)
    if not subject.emulated:
        _delete_stack(subject)
    _check_gone(subject, roots)
    for root in roots:
        storage.delete(s3, root, claim.NAME)
    return f"{count} objects below {PREFIX}/, {tables} tables of {DOMAIN}"


def planned(subject: Subject) -> Iterator[str]:
    """List what removing would delete, a line each."""
    s3 = subject.client("s3")
    for root in claim.claimed_roots(subject):
        yield f"{len(storage.stored(s3, root))} objects below {root}/"
    for database in DATABASES:
        for name in _ours(subject, database):
            yield f"table {database}.{name} and its database, if nothing else is there"
    if not subject.emulated and _made_stack(subject):
        yield f"stack {subject.stack}"


def _check_gone(subject: Subject, roots: List[str]) -> None:
    s3 = subject.client("s3")
    left = [root for root in roots if set(storage.keys(s3, root)) - {claim.NAME}]
    if left:
        raise CheckFailed(
            f"objects are left below {', '.join(left)}.",
            "Something still writes there: wait, then run with --remove.",
        )
    others = [
        f"{name}.{each['Name']}"
        for name in DATABASES
        for each in glue_tables(subject, name)
    ]
    if others:
        raise CheckFailed(
            f"tables of others, which lie elsewhere, are in Glue: {', '.join(others)}.",
            "Move them to a database of their own, then run with --remove.",
        )


def _drop_database(subject: Subject, database: str) -> int:
    """Drop the run's tables, and the database if it has no others; return how many."""
    glue, names = subject.client("glue"), _ours(subject, database)
    for name in names:
        glue.delete_table(DatabaseName=database, Name=name)
    if not glue_tables(subject, database):
        try:
            glue.delete_database(Name=database)
        except glue.exceptions.EntityNotFoundException:
            pass
    return len(names)


def _ours(subject: Subject, database: str) -> List[str]:
    """List the tables of a database that lie below the run's folder."""
    folder = f"{subject.environment.warehouse}/"
    return [
        each["Name"]
        for each in glue_tables(subject, database)
        if _location(each).startswith(folder)
    ]


def _location(table: Mapping[str, Any]) -> str:
    return str(table.get("StorageDescriptor", {}).get("Location", ""))


def _made_stack(subject: Subject) -> Optional[bool]:
    """Return whether this run created the stack; None if there is none."""
    tags = claim.stack_of(subject)
    return None if tags is None else tags.get(claim.TAG) == subject.key


def _delete_stack(subject: Subject) -> None:
    made = _made_stack(subject)
    if made is None:
        return
    if not made:
        raise CheckFailed(
            f"the stack {subject.stack} is not of the run {subject.key}.",
            "Delete it in CloudFormation if nobody needs it, then run with --remove.",
        )
    cloudformation = subject.client("cloudformation")
    cloudformation.delete_stack(StackName=subject.stack)
    cloudformation.get_waiter("stack_delete_complete").wait(StackName=subject.stack)


CHECKS = (Check("removed", "Is all removed that was made?", remove, always=True),)
