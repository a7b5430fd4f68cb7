"""What the catalogue tells of a source whose changes could get lost."""

from __future__ import annotations

from typing import Iterator, List, Sequence, Tuple

from lake_local.onboard.catalog import Catalog, Table

_LISTED = 5
_OF_TYPES = (
    (
        ("uuid", "inet4", "inet6"),
        "columns of type uuid, inet4 or inet6 stop Debezium's connector for MySQL, which"
        " cannot read such a table's definition. Try yours, or leave these tables out of"
        " it (table.include.list) and pull them with --from jdbc.",
    ),
    (
        ("tinyblob", "blob", "mediumblob", "longblob"),
        "blobs come as NULL in the first snapshot of Debezium's connector for MySQL. Try"
        " yours, or pull these tables with --from jdbc.",
    ),
)


def warnings(catalog: Catalog, tables: Sequence[Table]) -> List[str]:
    """What to set at the source before its events are captured; none where all is well."""
    checks = {"postgresql": _postgresql, "mariadb": _mariadb}
    return list(checks[catalog.engine](catalog, tables))


def _postgresql(catalog: Catalog, tables: Sequence[Table]) -> Iterator[str]:
    level = catalog.settings.get("wal_level", "")
    if level != "logical":
        yield (
            f"wal_level is {level or 'unknown'}: changes cannot be captured. Set"
            " wal_level = logical (RDS: rds.logical_replication = 1) and restart."
        )
    schema = catalog.schema
    silent = [each for each in tables if _logs_nothing(each)]
    if silent:
        yield (
            f"{_listed(silent)}: no primary key, and REPLICA IDENTITY {_identity(silent)}:"
            " once published, updates and deletes fail at the source. Run there: ALTER"
            f" TABLE {schema}.{silent[0].name} REPLICA IDENTITY FULL (or USING INDEX ...)."
        )
    unsaid = [each for each in tables if _loses_deletes(each)]
    if unsaid:
        yield (
            f"{_listed(unsaid)}: REPLICA IDENTITY {_identity(unsaid)} does not log the key"
            " of deleted rows. Run at the source: ALTER TABLE"
            f" {schema}.{unsaid[0].name} REPLICA IDENTITY DEFAULT."
        )
    parted = [each for each in tables if each.partitioned]
    if parted:
        yield (
            f"{_listed(parted)}: partitioned. Create the publication WITH"
            " (publish_via_partition_root = true), or each partition gets a topic."
        )


def _logs_nothing(table: Table) -> bool:
    is_silent = table.replica_identity in ("default", "nothing")
    return is_silent and not table.primary_key


def _loses_deletes(table: Table) -> bool:
    if not table.primary_key or table.replica_identity in ("default", "full"):
        return False
    logged = [each.columns for each in table.indexes if each.identifies]
    return not logged or not set(table.primary_key) <= set(logged[0])


def _identity(tables: Sequence[Table]) -> str:
    return " or ".join(sorted({each.replica_identity.upper() for each in tables}))


def _mariadb(catalog: Catalog, tables: Sequence[Table]) -> Iterator[str]:
    wanted = (("log_bin", "ON"), ("binlog_format", "ROW"), ("binlog_row_image", "FULL"))
    for name, value in wanted:
        found = catalog.settings.get(name, "unknown")
        if found.upper() != value:
            what = "changes are not captured whole"
            yield f"{name} is {found}: {what}. Set {name} = {value} in the server's file."
    unsigned = [each for each in tables if _is_unsigned(each)]
    if unsigned:
        yield (
            f"{_listed(unsigned)}: bigint unsigned: Debezium sends what is over"
            " 9223372036854775807 as a negative number."
        )
    keyless = [each for each in tables if not each.primary_key]
    if keyless:
        yield (
            f"{_listed(keyless)}: no primary key. Events have none either, so all of a"
            " table must be in one partition of its topic for their order to hold."
        )
    # Seen of Debezium 2.6 with MariaDB 10.11.
    for kinds, what in _OF_TYPES:
        having = [each for each in tables if _has(each, kinds)]
        if having:
            yield f"{_listed(having)}: {what}"


def _has(table: Table, kinds: Tuple[str, ...]) -> bool:
    return any(each.type.lower().startswith(kinds) for each in table.columns)


def _is_unsigned(table: Table) -> bool:
    kinds = [each.type.lower() for each in table.columns]
    return any(each.startswith("bigint") and "unsigned" in each for each in kinds)


def _listed(tables: Sequence[Table]) -> str:
    names = ", ".join(each.name for each in tables[:_LISTED])
    more = len(tables) - _LISTED
    return f"{names} and {more} more" if more > 0 else names
