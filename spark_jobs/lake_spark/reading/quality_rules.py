"""The quality rules of a table, as SQL that is true for bad rows."""

from __future__ import annotations

from typing import Dict

from lake_spec.model import Rule, TableSpec
from lake_spec.text.patterns import LONGEST_MATCHED
from lake_spec.text.sql_text import sql_identifier, sql_literal
from lake_spark.changelog.not_sent import is_missing
from lake_spark.changelog.schema import UPSERT


def failed_rules(spec: TableSpec, on_fail: str) -> Dict[str, str]:
    """Map each rule of that severity, in words, to SQL that is true for bad rows."""
    return {
        rule.broken: f"NOT coalesce({_test(rule, spec)}, true)"
        for rule in spec.quality
        if rule.on_fail.value == on_fail
    }


def _test(rule: Rule, spec: TableSpec) -> str:
    column = sql_identifier(rule.column)
    text = f"CAST({column} AS string)"
    if rule.not_null:
        # A field that did not change has a value that its record does not say.
        unsent = f" OR {is_missing(rule.column)}" if spec.keeps_absent else ""
        return f"({column} IS NOT NULL{unsent})"
    if rule.one_of:
        choices = ", ".join(sql_literal(each) for each in rule.one_of)
        return f"{text} IN ({choices})"
    if rule.matches is not None:
        # Java's matcher may take a frame of the stack for each character.
        return (
            f"(length({text}) <= {LONGEST_MATCHED} AND {text} RLIKE "
            f"{sql_literal(rule.matches)})"
        )
    if rule.at_least is not None:
        return f"{column} >= {rule.at_least!r}"
    return f"{column} <= {rule.at_most!r}"


def counted_rules(spec: TableSpec) -> Dict[str, str]:
    """Map each rule, in words, to SQL that counts its bad rows.

    Of a rule that quarantines these are the rows with its reason, of another one the
    accepted upserts that break it.
    """
    found = {
        words: f"count_if(lake_reason = {sql_literal(reason_of(words))})"
        for words in failed_rules(spec, "quarantine")
    }
    for on_fail in ("warn", "fail"):
        for words, bad in failed_rules(spec, on_fail).items():
            upsert = f"lake_reason IS NULL AND lake_op = '{UPSERT}'"
            found[words] = f"count_if({upsert} AND ({bad}))"
    return found


def reason_of(words: str) -> str:
    """Return the reason of a row that breaks a rule."""
    return f"quality: {words}"
