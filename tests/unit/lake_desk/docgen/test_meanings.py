"""What choices mean is read from the docstrings of an enum's members."""

from __future__ import annotations

from enum import Enum

import pytest

from lake_desk.docgen.meanings import meanings_of


class Season(str, Enum):
    """A quarter of the year."""

    WARM = "summer"
    """From June on,
    until August."""
    COLD = "winter"
    """The rest."""

    @property
    def is_cold(self) -> bool:
        return self is Season.COLD


class Bare(str, Enum):
    A = "a"
    """Said."""
    B = "b"
    C = "c"
    """Said too."""


def test_each_text_has_the_docstring_below_its_member():
    assert meanings_of(Season) == {
        "summer": "From June on, until August.",
        "winter": "The rest.",
    }


def test_a_member_that_does_not_say_what_it_means_is_refused():
    with pytest.raises(ValueError, match="Bare.B: say below it what it means"):
        meanings_of(Bare)
