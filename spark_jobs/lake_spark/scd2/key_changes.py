"""Rows whose key changed: what a create did not send, the old key's row had.

Contract section 7. A create names the key that its row had before. A life is
the events of a key between two of its deletes; the life that a create begins goes
on where the old key's life ended, and values not sent are looked for in both. But
where the new key has a row before its create, a full load was taken after the change
and shows its result: then nothing is looked for in rows of the old key, which
may be others by now.
"""

from __future__ import annotations

from typing import Dict, List, Sequence, Set, Tuple

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lake_spark.changelog.schema import DELETE, LogColumn, UPSERT
from lake_spark.scd2.events import KEY, Roles
from lake_spark.scd2.order import order_columns, total_order
from lake_spark.storage.inline_rows import small_table

OLD_KEY, LIFE = LogColumn.OLD_KEY, "lake_life"
COPIED, _LINE = "lake_copied", "lake_line"
Life = Tuple[str, int]
"""A key and how many of its deletes precede."""


def links_of(log: DataFrame) -> List[Tuple[str, str]]:
    """Return (old key, new key) of each create that names its old key."""
    if OLD_KEY not in log.columns:
        return []
    creates = log.where(F.col(OLD_KEY) != F.col(KEY)).select(OLD_KEY, KEY)
    return [(row[OLD_KEY], row[KEY]) for row in creates.distinct().collect()]


def with_families(keys: DataFrame, log: DataFrame) -> DataFrame:
    """Return the keys with all that the log links to them: they are folded together."""
    links = links_of(log)
    linked = sorted({each for link in links for each in link})
    touched = keys.where(F.col(KEY).isin(linked)).collect() if linked else []
    family = families({row[KEY] for row in touched}, links)
    if not family:
        return keys
    rows = [(each,) for each in sorted(family)]
    more = small_table(keys.sparkSession, ((KEY, "string"),), rows)
    return keys.select(KEY).unionByName(more).distinct()


def families(keys: Set[str], links: Sequence[Tuple[str, str]]) -> Set[str]:
    """Return the keys and all that are linked to one of them, however far."""
    linked: Dict[str, Set[str]] = {}
    for old, new in links:
        linked.setdefault(old, set()).add(new)
        linked.setdefault(new, set()).add(old)
    found, waiting = set(keys), list(keys)
    while waiting:
        more = linked.get(waiting.pop(), set()) - found
        found |= more
        waiting += more
    return found


def with_joined_lives(events: DataFrame, roles: Roles) -> DataFrame:
    """Replace `lake_life` by one number for all lives that go on in another; add COPIED.

    Takes events with the count of deletes of their key so far; gives lives as text. Of
    several creates that name one old life, the first goes on with it, and each other one
    has copies of its events: what the new keys' rows are then does not concern each other.
    """
    own = F.concat_ws("#", KEY, LIFE)
    lines, copies = _lines(_joins(events, roles))
    if not lines:
        return events.withColumns({LIFE: own, COPIED: F.lit(False)})
    joined = _in_lines(events, list(lines.items()), "left")
    joined = joined.withColumn(LIFE, F.coalesce(_LINE, own)).withColumn(
        COPIED, F.lit(False)
    )
    if copies:
        more = _in_lines(events, copies, "inner").withColumn(LIFE, F.col(_LINE))
        joined = joined.unionByName(more.withColumn(COPIED, F.lit(True)))
    return joined.drop(_LINE)


def _in_lines(
    events: DataFrame, lines: Sequence[Tuple[Life, Life]], how: str
) -> DataFrame:
    """Return the events with the line that the life of each is in."""
    rows = [(key, life, f"{line[0]}#{line[1]}") for (key, life), line in lines]
    columns = ((KEY, "string"), (LIFE, "bigint"), (_LINE, "string"))
    table = small_table(events.sparkSession, columns, rows)
    return events.join(F.broadcast(table), [KEY, LIFE], how)


def _joins(events: DataFrame, roles: Roles) -> Dict[Life, Life]:
    """Map the life that a create begins to that of the old key before it."""
    place = F.struct(*order_columns(roles))
    before = Window.partitionBy(KEY, LIFE).orderBy(*total_order(roles))
    before = before.rowsBetween(Window.unboundedPreceding, -1)
    has_row = F.coalesce(
        F.max(F.col(LogColumn.OP) == UPSERT).over(before), F.lit(False)
    )
    creates = events.withColumn("lake_has_row", has_row)
    is_create = (F.col(LogColumn.OP) == UPSERT) & F.col(OLD_KEY).isNotNull()
    creates = creates.where(is_create & ~F.col("lake_has_row")).select(
        F.col(KEY).alias("new"),
        F.col(LIFE).alias("new_life"),
        F.col(OLD_KEY).alias("old"),
        place.alias("at"),
    )
    others = events.select(
        F.col(KEY).alias("old"),
        LogColumn.OP,
        F.col(LIFE).alias("life"),
        place.alias("there"),
    )
    latest = (
        creates.join(others, "old")
        .where("there < at")
        .groupBy("new", "new_life", "old", "at")
        .agg(F.max_by(F.struct(LogColumn.OP, "life"), "there").alias("last"))
    )
    return {
        # The delete that goes with the create has ended the life that is looked for.
        (row.new, row.new_life): (row.old, row.last.life - (row.last.lake_op == DELETE))
        for row in latest.orderBy("at").collect()
    }


def _lines(
    joins: Dict[Life, Life],
) -> Tuple[Dict[Life, Life], List[Tuple[Life, Life]]]:
    """Map each life that goes on with another to its line, named by its first life.

    Also return (life, line) of lives that others go on with too, in lines of their own.
    """
    lines: Dict[Life, Life] = {}
    copies: List[Tuple[Life, Life]] = []
    taken: Set[Life] = set()
    for life, old in joins.items():  # an old life's own create is before its new key's
        if old not in taken:
            taken.add(old)
            lines[life] = lines.get(old, old)
            continue
        lines[life], seen, above = life, {life}, old
        while above not in seen:
            copies.append((above, life))
            seen.add(above)
            above = joins.get(above, above)
    return lines, copies
