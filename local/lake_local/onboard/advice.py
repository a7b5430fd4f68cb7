"""Warns of sources whose changes could get lost, by the catalogue."""

from __future__ import annotations

import re
from typing import Iterator, List, Sequence, Tuple

from lake_local.onboard.catalog import Catalog, DOMAINS_OF_ENUMS, Table
from lake_local.onboard.postgresql_types import LOST_WHEN_UNCHANGED

_LISTED = 5
_OF_MARIADB = (
    (
        ("bigint", "unsigned"),
        "bigint unsigned: Debezium sends what is over 9223372036854775807 as a negative"
        " number, which these specs read as what it was (format: unsigned_bigint).",
    ),
    (
        ("uuid", "inet4", "inet6"),
        "columns of type uuid, inet4 or inet6 stop Debezium's connector for MySQL, which"
        " cannot read such a table's definition. Try yours, or leave these tables out of"
        " it (table.include.list, and schema.history.internal.store.only.captured.tables"
        ".ddl: true, for else the definitions of all tables are read) and pull them with"
        " --from jdbc.",
    ),
    (
        ("tinyblob", "blob", "mediumblob", "longblob"),
        "blobs come as NULL in the first snapshot of Debezium's connector for MySQL. Try"
        " yours, or pull these tables with --from jdbc.",
    ),
    (
        ("year",),
        "a year 0000 ends the snapshot of Debezium's connector for MySQL unless its"
        " configuration has driver.yearIsDateType: false; then it is 2000 in the snapshot"
        " and 1900 in changes.",
    ),
)
"""Beginnings of types, or the first and another word of one; seen of Debezium 2.6."""


def warnings(catalog: Catalog, tables: Sequence[Table]) -> List[str]:
    """Return what to set at the source before its events are captured; none where all is well."""
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
    yield from _of_types(catalog, tables)
    parted = [each for each in tables if each.partitioned]
    if parted:
        yield (
            f"{_listed(parted)}: partitioned. Create the publication WITH"
            " (publish_via_partition_root = true), or each partition gets a topic."
        )


def _of_types(catalog: Catalog, tables: Sequence[Table]) -> Iterator[str]:
    """Return what Debezium 3.0 makes of some types."""
    schema = catalog.schema
    domains = catalog.settings.get(DOMAINS_OF_ENUMS, "")
    if domains:
        yield (
            f"{domains}: a domain over an enum, anywhere in the database, ends Debezium's"
            " connector at its start (NullPointerException). Use the enum itself."
        )
    lost = [each for each in tables if _loses_unchanged(each)]
    if lost:
        yield (
            f"{_listed(lost)}: long arrays of numbers, booleans or times (over 2 kB) that an"
            " update does not change come as NULL, like a real NULL. Run at"
            f" the source: ALTER TABLE {schema}.{lost[0].name} REPLICA IDENTITY FULL."
        )
    zoned = [each for each in tables if _has(each, ("time with", "time("))]
    if any(
        column.type.endswith("with time zone") for t in zoned for column in t.columns
    ):
        yield (
            f"{_listed(zoned)}: time with time zone loses its offset in Debezium's events,"
            " and an offset beyond 15 hours ends the connector. Pull these tables with"
            " --from jdbc, or use timestamptz."
        )


def _loses_unchanged(table: Table) -> bool:
    if table.replica_identity == "full":
        return False
    arrays = [each.type for each in table.columns if each.type.endswith("[]")]
    return any(each.startswith(LOST_WHEN_UNCHANGED) for each in arrays)


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
    keyless = [each for each in tables if not each.primary_key]
    if keyless:
        yield (
            f"{_listed(keyless)}: no primary key. Events have none either, so all of a"
            " table must be in one partition of its topic for their order to hold."
        )
    for kinds, what in _OF_MARIADB:
        having = [each for each in tables if _has(each, kinds)]
        if having:
            yield f"{_listed(having)}: {what}"
    commas = [each for each in tables if _has_comma(each)]
    if commas:
        yield (
            f"{_listed(commas)}: an enum or set has a value with a comma: Debezium's"
            " changes write it with a backslash before the comma. Rename the value, or"
            " pull these tables with --from jdbc."
        )
    yield from _of_dates(catalog, tables)


def _of_dates(catalog: Catalog, tables: Sequence[Table]) -> Iterator[str]:
    """Warn of zero and impossible dates, if the server accepts them."""
    mode = catalog.settings.get("sql_mode", "").upper().split(",")
    if "sql_mode" not in catalog.settings:
        return
    strict = {"NO_ZERO_DATE", "NO_ZERO_IN_DATE"} <= set(mode)
    if strict and "ALLOW_INVALID_DATES" not in mode:
        return
    dated = [each for each in tables if _has(each, ("date", "timestamp"))]
    if dated:
        yield (
            f"{_listed(dated)}: the server's sql_mode lets dates like 0000-00-00 or"
            " 2024-02-31 in. Debezium sends them as NULL or 1970-01-01, as a later day,"
            " or ends on them. Set NO_ZERO_DATE,NO_ZERO_IN_DATE there without"
            " ALLOW_INVALID_DATES, or pull these tables with --from jdbc, which stops by"
            " name."
        )


def _has(table: Table, kinds: Tuple[str, ...]) -> bool:
    declared = [each.type.lower() for each in table.columns]
    if kinds[-1] == "unsigned":
        return any(each.startswith(kinds[0]) and kinds[1] in each for each in declared)
    return any(each.startswith(kinds) for each in declared)


def _has_comma(table: Table) -> bool:
    declared = [each.type.lower() for each in table.columns]
    words = [each for each in declared if each.startswith(("enum(", "set("))]
    return any(
        "," in value for each in words for value in re.findall("'([^']*)'", each)
    )


def _listed(tables: Sequence[Table]) -> str:
    names = ", ".join(each.name for each in tables[:_LISTED])
    more = len(tables) - _LISTED
    return f"{names} and {more} more" if more > 0 else names
