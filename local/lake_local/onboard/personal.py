"""Columns that seem to hold data of persons, by their names and by their values."""

from __future__ import annotations

import re

from lake_local.onboard.naming import lake_name

_NAMES = re.compile(
    r"(^|_)(e_?mail|mail|phone|telephone|telefon|tel|mobile|mobil|handy|fax|street|strasse"
    r"|address|adresse|addr|anschrift|(first|last|middle|given|family|full|maiden|sur)_?name"
    r"|vorname|nachname|familienname|(customer|patient|person|employee|contact|user|member"
    r"|guest|owner|driver|student|author)_?name|birth_?(date|day)|birth|born_on|dob"
    r"|date_of_birth|geburts(datum|tag)|ssn|social_security|passport|iban|ip_address|ip"
    r"|login)(_?(no|nr|number|line|address|\d+|1|2))?$"
)
_NOT_OF_PERSONS = re.compile(r"(^|_)(is|has|count|type|id|sent|verified|opt_in)(_|$)")
EMAIL = re.compile(r"[^@\s,;]+@[^@\s,;]+\.[A-Za-z]{2,}")
PHONE = re.compile(r"(\+|00)\d[\d ()/.-]{6,18}|\(?0\d{1,5}\)?[ /-]\d[\d /-]{3,14}")
MOST_OF = 0.8
"""The share of values that look like it."""


def by_name(name: str) -> str:
    """Return why a column of this name is taken as personal; empty if it is not."""
    made = lake_name(name)
    if _NAMES.search(made) and not _NOT_OF_PERSONS.search(made):
        return "personal by its name"
    return ""


def by_values(seen: int, emails: int, phones: int) -> str:
    """Return why a column with such values is taken as personal; empty if it is not."""
    if seen and emails >= seen * MOST_OF:
        return "personal: its values are e-mail addresses"
    if seen and phones >= seen * MOST_OF:
        return "personal: its values look like phone numbers"
    return ""
