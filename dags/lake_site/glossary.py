"""Which terms of a glossary name a column or table: by the words of names and tags."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lake_spec.model import DomainSpec, Term

_WORD = re.compile(r"[^\W_]+")


def terms_of(
    domain: DomainSpec, name: str, tags: Iterable[str] = ()
) -> list[tuple[str, Term]]:
    """List the terms all of whose words are in a name or in one of its tags.

    Plurals count as their singular: `artist` names the table `artists`.
    """
    texts = [_words(text) for text in (name, *tags)]
    return [
        (term, meaning)
        for term, meaning in domain.glossary
        if (wanted := _words(term)) and any(wanted <= text for text in texts)
    ]


def _words(text: str) -> set[str]:
    return {word.lower().removesuffix("s") for word in _WORD.findall(text)}
