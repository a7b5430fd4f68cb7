"""A key's text in other texts: where it counts as named, and what has none to search.

A text counts where it is a word, between signs that are neither letters nor
digits: an id within a hash, or a part of a longer name, is another thing.
"""

from __future__ import annotations

import json
import re
from typing import Any, Callable, Iterable, Iterator, List, Optional, Sequence

SHORTEST = 6
"""Texts of fewer characters are not searched for: they may mean anything."""

_EDGES = r"(?<![0-9A-Za-z]){}(?![0-9A-Za-z])"


def any_in(texts: Iterable[str]) -> Callable[[str], bool]:
    """Return whether one of these texts that is long enough is in a text."""
    # The functions go to the workers whole: they need no module of ours.
    long = {text for text in texts if len(text) >= SHORTEST}
    plain = frozenset(text for text in long if re.fullmatch("[0-9A-Za-z]+", text))
    others = [(t, re.compile(_EDGES.format(re.escape(t)))) for t in long - plain]
    word = re.compile("[0-9A-Za-z]+")

    def is_there(text: str) -> bool:
        if text is None:
            return False
        if not plain.isdisjoint(word.findall(text)):
            return True
        return any(t in text and pattern.search(text) for t, pattern in others)

    return is_there


def all_in(keys: Iterable[Sequence[str]]) -> Callable[[str], bool]:
    """Return whether all parts of a key that is long enough are in a text."""
    long = [parts for parts in keys if sum(map(len, parts)) >= SHORTEST]
    words = [[(p, re.compile(_EDGES.format(re.escape(p)))) for p in k] for k in long]

    def is_there(text: str) -> bool:
        # To look for a piece of text is much cheaper, and there may be many keys.
        return any(all(p in text and w.search(text) for p, w in each) for each in words)

    return is_there


def content_has(content: bytes, is_there: Callable[[str], bool]) -> bool:
    """Return whether a file's content has a text.

    Of JSON, in one document or in one for each line, its numbers, mere counts, apart.
    """
    for texts in ([content], content.splitlines()):
        found = _documents(texts)
        if found is not None:
            return any(map(is_there, strings(found)))
    return is_there(content.decode("utf-8", errors="replace"))


def _documents(texts: Sequence[bytes]) -> Optional[List[Any]]:
    """Return objects and lists of JSON; None where a text is none."""
    try:
        found = [json.loads(text) for text in texts]
    except ValueError:
        return None
    return found if all(isinstance(each, (dict, list)) for each in found) else None


def strings(data: Any) -> Iterator[str]:
    """Yield every string of JSON data, names included."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        yield from data
        for each in data.values():
            yield from strings(each)
    elif isinstance(data, list):
        for each in data:
            yield from strings(each)


def replaced(data: Any, change: Callable[[str], str]) -> Any:
    """Return the same JSON data with every string changed; names stay."""
    if isinstance(data, str):
        return change(data)
    if isinstance(data, dict):
        return {name: replaced(each, change) for name, each in data.items()}
    if isinstance(data, list):
        return [replaced(each, change) for each in data]
    return data
