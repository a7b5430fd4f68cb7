"""The one door for SQL of specs: what comes in is judged, what runs is written from that.

Two parsers read such a text: ours at the desk, and Spark's in the step. Where they part, as
at comments, escapes and settings, the text is refused. What Spark gets is never the text of
a spec but is written from the judged tree, every name in backticks and without comments,
and read once more here, word by word.
"""

from __future__ import annotations

import re
from typing import Collection, Iterator, List, Optional, Tuple

from lake_check.messages.product_ids import ProductId
from lake_desk.products.findings import Findings, place_of
from lake_desk.products.spark_functions import BY_RUN_NAMES, FUNCTIONS
from lake_desk.products.sql_tree import BadSql, exp, parse, to_sql, tokens
from lake_spec.diagnostics.diagnostic import Path, shown

_SETTING = re.compile(r"\$\{[^}\n]*\}?")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[0-7]{3}|.)", re.DOTALL)
_ESCAPES = frozenset("\\'\"nrtb%_")
"""What may follow a backslash: both parsers take these alike."""
_SPACE = re.compile(r"\s*")
_COMMENTS = re.compile(r"(?:--[^\n]*|/\*(?!\+)(?:(?!/\*).)*?\*/|\s)*", re.DOTALL)
"""Comments in which nothing looks like a hint, or like the begin of another one."""
_NUMBER = re.compile(r"[0-9.]+(?:e[+-]?[0-9]+)?bd|0x[0-9a-f]*", re.IGNORECASE)
"""Numbers that the two parsers take for different ones."""

_WRITTEN = re.compile(
    r"(?P<space>\s+)|`(?:[^`]|``)*`|'(?:[^'\\]|\\[\\'nrtb])*'|X'[0-9A-F]*'"
    r"|[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?(?![A-Za-z0-9_`'])"
    r"|[A-Za-z_][A-Za-z0-9_]*(?!['`])|<=>|->|=>|<>|<=|>=|\|\|"
    r"|-(?!-)|/(?!\*)|:(?= )|[()\[\],.+*%&|^~=<>!]"
)
"""A word of what is written for Spark, and nothing that begins a comment or a setting."""
_BEFORE_PARENTHESES = frozenset(
    "all as between by case cube decimal distinct else except from group having ilike "
    "intersect interval is join lateral on over rlike rollup select sets struct then "
    "union using values varchar where within array map".split()
)
"""Words of SQL that call nothing although a parenthesis follows."""
_CALLED = (FUNCTIONS - BY_RUN_NAMES) | {"try_cast", "timestampdiff"}


def read(
    text: str, found: Findings, path: Optional[Path] = None
) -> Optional[List[exp.Expr]]:
    """Parse the text of a SQL file, or of an expression at a key of the spec.

    Return None where it cannot be parsed; an expression is returned as a SELECT of it.
    What the two parsers may read in two ways is refused.
    """
    try:
        _check_words(text, found, path)
        return parse(text if path is None else f"SELECT {text}")
    except BadSql as error:
        if path is None:
            hint = "Correct the SQL in this line or the one before."
            found.add(error.line, None, error.message, hint, ProductId.INVALID_SQL)
        else:
            message = f"got {shown(text)}: {error.message}"
            found.add(path, text, message, "Correct the SQL.", ProductId.INVALID_SQL)
        return None


def _check_words(text: str, found: Findings, path: Optional[Path]) -> None:
    for start, message, hint in _doubtful(text, is_file=path is None):
        place = path or text.count("\n", 0, start) + 1
        found.add(place, None, message, hint, ProductId.UNSUPPORTED_SQL)


def _doubtful(text: str, *, is_file: bool) -> Iterator[Tuple[int, str, str]]:
    """List what two parsers may read in two ways: where, what it is, and what to do."""
    end = 0
    for start, token in [*tokens(text), (len(text), "")]:
        if start < end:
            continue  # `1L` is three words of the parser at one place
        begun = (_COMMENTS if is_file else _SPACE).match(text, end, start)
        assert begun is not None, "both match nothing too"
        sound = begun.end()
        if sound < start:
            yield sound, *_of_comment(text[sound:start].strip(), is_file)
        end = start + len(token)
        if token.startswith("/*"):
            yield start, *_of_comment(token, is_file)
        if _NUMBER.fullmatch(token):
            hint = "Write CAST('1.5' AS decimal(2,1)), with your digits."
            yield start, f"the number {token} is not supported", hint
        for match in _SETTING.finditer(token if token != "$" else text[start:]):
            hint = "Spark puts a setting there: write concat('$', '{...')."
            yield start, f"{shown(match[0])}, which has '${{', is not supported", hint
            break
        for match in _ESCAPE.finditer(token) if token[:1] in ("'", '"') else ():
            if match[1] not in _ESCAPES:
                hint = "Write the character itself."
                yield start, f"the escape {match[0]} is not supported", hint


def _of_comment(text: str, is_file: bool) -> Tuple[str, str]:
    if text.startswith("/*+"):
        return f"the hint {shown(text)} is not supported", "Remove it."
    if is_file:
        hint = "Spark may end it elsewhere: write each line of it after --."
        return f"the comment {shown(text)} has the begin of another one", hint
    hint = "Remove it; the spec's own comments begin with #."
    return f"the comment {shown(text)} is not supported", hint


def without_reference(tree: exp.Expr, views: Collection[str]) -> Iterator[exp.Table]:
    """List the tables that a text reads: neither one of the views nor of its own WITH."""
    for table in tree.find_all(exp.Table):
        is_plain = not table.db and isinstance(table.this, exp.Identifier)
        if not (is_plain and (table.name in views or _is_query(table))):
            yield table


def _is_query(table: exp.Table) -> bool:
    """Return whether a WITH that is in force at this place names a query so.

    A query of a WITH knows those before it, and not itself: there the same name is that
    of a table of the catalogue.
    """
    above: List[exp.Expr] = [table]
    while above[-1].parent is not None:
        above.append(above[-1].parent)
        named = above[-1].args.get("with_")
        for query in named.expressions if named else ():
            if any(query is each for each in above):
                break
            if query.alias == table.name:
                return True
    return False


def written(tree: exp.Expr, views: Collection[str], found: Findings) -> str:
    """Return the text of a judged tree that Spark gets.

    It is read once more as Spark will: what is not the same then is refused.
    """
    text = ""
    try:
        text = to_sql(tree)
        is_query = isinstance(tree, exp.Query)
        fault = _unlike(text if is_query else f"SELECT {text}", views)
    except BadSql as error:
        fault = error.message
    if fault:
        hint = "Write it in another form."
        message = f"the SQL cannot be passed on to Spark as it is read: {fault}"
        place = place_of(tree)
        found.add(place, None, message, hint, ProductId.UNSUPPORTED_SQL)
    return text


def _unlike(text: str, views: Collection[str]) -> str:
    """Return in words what Spark may read in another way; nothing if there is none.

    Raises BadSql.
    """
    words, again = list(_words(text)), parse(text)
    for (over, word), (_, after) in zip(words, words[1:]):
        is_known = over != "." and word.lower() in _CALLED
        if after == "(" and _calls(word) and not is_known:
            return f"it calls {word}"
    if [to_sql(each) for each in again] != [text]:
        return "it is another text when it is read again"
    tables = [each.name for each in without_reference(again[0], views)]
    return f"it reads {shown(tables[0])}" if tables else ""


def _words(text: str) -> Iterator[Tuple[str, str]]:
    """List the words of a written text, each with the one before. Raises BadSql."""
    end, before = 0, ""
    while end < len(text):
        match = _WRITTEN.match(text, end)
        if match is None or "${" in match[0]:
            raise BadSql(1, f"unexpected {shown(text[end : end + 20])}")
        end = match.end()
        if not match["space"]:
            yield before, match[0]
            before = match[0]


def _calls(word: str) -> bool:
    """Return whether a word before a parenthesis names a function."""
    is_word = word[0].isalpha() or word[0] == "_"
    return is_word and word.lower() not in _BEFORE_PARENTHESES
