"""Texts that have broken SQL files: quotes, ends of statements, other alphabets."""

from __future__ import annotations

import random
import re

import pytest

from lake_spec.text.sql_text import sql_identifier, sql_literal, sql_path

NASTY = {
    "empty": "",
    "plain": "landing/moma/artists_2016-03-03.csv.gz",
    "single-quote": "George O'Keeffe",
    "double-quote": 'George Overbury ("Pop") Hart',
    "backslash": "C:\\new\\table",
    "looks-escaped": "\\u003B \\' \\\\",
    "semicolon": "a;b",
    "comment": "a -- b /* c */",
    "variable": "${spark.app.name}",
    "newlines": "one\ntwo\r\nthree\ttab",
    "control": "\x00\x01\x7f",
    "accents": "Café Müller",
    "other-alphabet": "日本語 Ελληνικά العربية",
    "emoji": "🎨 by 👩\u200d🎨",
    "lone-surrogate": "\ud83c",
}


def read_as_spark_does(literal: str) -> str:
    """The text of a literal, by the rule of Spark's `unescapeSQLString`."""
    assert literal[0] == literal[-1] == "'"
    units = re.sub(
        r"\\u([0-9A-F]{4})", lambda found: chr(int(found.group(1), 16)), literal[1:-1]
    )
    return units.encode("utf-16-be", "surrogatepass").decode(
        "utf-16-be", "surrogatepass"
    )


def random_texts(count: int):
    dice = random.Random(20160303)
    alphabet = "ab ;'\"`\\/$*?[]{}\n\r\t\0-é日🎨\u2028"
    for _ in range(count):
        yield "".join(dice.choices(alphabet, k=dice.randrange(12)))


@pytest.mark.parametrize("text", NASTY.values(), ids=list(NASTY))
def test_a_literal_reads_back_as_the_text(text):
    assert read_as_spark_does(sql_literal(text)) == text


def test_any_mix_of_characters_reads_back_as_the_text():
    for text in random_texts(2000):
        assert read_as_spark_does(sql_literal(text)) == text


def test_a_literal_holds_nothing_that_could_end_it_or_the_statement():
    for text in [*NASTY.values(), *random_texts(2000)]:
        assert re.fullmatch(
            r"'([A-Za-z0-9 /._=:,+@-]|\\u[0-9A-F]{4})*'", sql_literal(text)
        )


def test_plain_text_stays_readable():
    assert sql_literal("s3://lake/a_b-c.csv.gz") == "'s3://lake/a_b-c.csv.gz'"


def test_an_emoji_is_two_units():
    assert sql_literal("🎨") == r"'\uD83C\uDFA8'"


def test_glob_characters_of_a_path_mean_themselves():
    path = "landing/a[1]*{x}?.csv"
    assert read_as_spark_does(sql_path(path)) == r"landing/a\[1\]\*\{x\}\?.csv"


def test_a_backslash_of_a_path_means_itself():
    assert read_as_spark_does(sql_path("a\\b")) == "a\\\\b"


def test_a_path_without_glob_characters_is_a_plain_literal():
    assert sql_path("s3://lake/a.csv") == "'s3://lake/a.csv'"


@pytest.mark.parametrize(
    ("name", "quoted"),
    [
        pytest.param("Wiki QID", "`Wiki QID`", id="space"),
        pytest.param("a`b", "`a``b`", id="backtick"),
        pytest.param("a'b\"c\\d", "`a'b\"c\\d`", id="quotes-and-backslash"),
        pytest.param("名前", "`名前`", id="other-alphabet"),
    ],
)
def test_a_name_is_quoted(name, quoted):
    assert sql_identifier(name) == quoted


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param("", "it is empty", id="empty"),
        pytest.param("a;b", "a semicolon ends the statement", id="semicolon"),
        pytest.param("${a}", "starts a variable", id="variable"),
        pytest.param("a\nb", "does not print", id="newline"),
        pytest.param("a\x00b", "does not print", id="nul"),
    ],
)
def test_a_name_that_no_sql_file_can_carry_is_refused(name, reason):
    with pytest.raises(ValueError, match=reason):
        sql_identifier(name)
