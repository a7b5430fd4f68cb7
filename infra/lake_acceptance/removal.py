"""Removes all that an acceptance run made, also what an earlier one left."""

from __future__ import annotations

from lake_acceptance import storage
from lake_acceptance.check import Check, CheckFailed
from lake_acceptance.subject import DOMAIN, PREFIX, ROOTS, Subject
from lake_acceptance.tables import glue_tables
from lake_spec.model import ReadableAs


def remove(subject: Subject) -> str:
    """Delete objects, tables, database and stack; look whether they are gone."""
    s3 = subject.client("s3")
    roots = [getattr(subject.environment, name) for name in ROOTS]
    count = sum(storage.delete_below(s3, root) for root in roots)
    formats = [kind.database_of(DOMAIN) for kind in ReadableAs]
    tables = sum(_drop_database(subject, name) for name in (DOMAIN, *formats))
    if not subject.emulated:
        _delete_stack(subject)
    left = [root for root in roots if storage.keys(s3, root)]
    if left:
        raise CheckFailed(
            f"objects are left below {', '.join(left)}.",
            "Something still writes there: wait, then run with --remove.",
        )
    return f"{count} objects below {PREFIX}/, {tables} tables of {DOMAIN}"


def _drop_database(subject: Subject, database: str) -> int:
    glue = subject.client("glue")
    try:
        names = [each["Name"] for each in glue_tables(subject, database)]
        for name in names:
            glue.delete_table(DatabaseName=database, Name=name)
        glue.delete_database(Name=database)
    except glue.exceptions.EntityNotFoundException:
        return 0
    return len(names)


def _delete_stack(subject: Subject) -> None:
    cloudformation = subject.client("cloudformation")
    cloudformation.delete_stack(StackName=subject.stack)
    cloudformation.get_waiter("stack_delete_complete").wait(StackName=subject.stack)


CHECKS = (Check("removed", "Is all removed that was made?", remove, always=True),)
