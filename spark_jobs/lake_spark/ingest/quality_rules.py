"""The quality rules of a table, as SQL that is true for bad rows."""

from __future__ import annotations

from typing import Dict, Tuple

from lake_spec.model import TableSpec
from lake_spec.text.patterns import LONGEST_MATCHED
from lake_spec.text.sql_text import sql_identifier, sql_literal
from lake_spark.changelog.schema import UPSERT


def failed_rules(spec: TableSpec, on_fail: str) -> Dict[str, str]:
    """Map each rule of that severity, in words, to SQL that is true for bad rows."""
    return {
        words: f"NOT coalesce({test}, true)"
        for rule in spec.quality
        if rule.on_fail.value == on_fail
        for words, test in [_rule(rule)]
    }


def _rule(rule) -> Tuple[str, str]:
    column = sql_identifier(rule.column)
    text = f"CAST({column} AS string)"
    if rule.not_null:
        return f"{rule.column} has no value", f"{column} IS NOT NULL"
    if rule.one_of:
        choices = ", ".join(sql_literal(each) for each in rule.one_of)
        return (
            f"{rule.column} is not one of {list(rule.one_of)}",
            f"{text} IN ({choices})",
        )
    if rule.matches is not None:
        return (
            f"{rule.column} does not match {rule.matches!r}",
            # Java's matcher may take a frame of the stack for each character.
            f"(length({text}) <= {LONGEST_MATCHED} AND {text} RLIKE "
            f"{sql_literal(rule.matches)})",
        )
    if rule.at_least is not None:
        return (
            f"{rule.column} is below {rule.at_least}",
            f"{column} >= {rule.at_least!r}",
        )
    return f"{rule.column} is above {rule.at_most}", f"{column} <= {rule.at_most!r}"


def warned_rules(spec: TableSpec, on_fail: str) -> Dict[str, str]:
    """Map each rule, in words, to SQL that counts its bad rows among accepted upserts."""
    return {
        words: f"count_if(lake_reason IS NULL AND lake_op = '{UPSERT}' AND ({bad}))"
        for words, bad in failed_rules(spec, on_fail).items()
    }
