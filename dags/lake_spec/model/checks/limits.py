"""Settings that limit a number: what is wrong with them, and them in a contract."""

from __future__ import annotations

from typing import Any, Dict, Iterator, Optional

from lake_spec.diagnostics.diagnostic import Problem, got
from lake_spec.text.numbers import plain_number


def limit_problems(
    kind: str,
    least: Optional[float],
    most: Optional[float],
    *others: str,
    is_limited_otherwise: bool = False,
) -> Iterator[Problem]:
    """List what is wrong with `at_least` and `at_most`; `others` may stand in their place."""
    if least is None and most is None and not is_limited_otherwise:
        of = "".join(f" or {each}" for each in others)
        hint = f"Write at_least, at_most{of}."
        yield Problem((), None, f"{kind} has no limit", hint)
    if least is not None and most is not None and least > most:
        hint = f"It is above at_most: {plain_number(most)}. Correct one of the two."
        yield got(("at_least",), least, hint)


def limits_of_contract(least: Optional[float], most: Optional[float]) -> Dict[str, Any]:
    """Return limits as those of the Open Data Contract Standard."""
    if least is None:
        return {"mustBeLessOrEqualTo": most}
    if most is None:
        return {"mustBeGreaterOrEqualTo": least}
    return {"mustBe": least} if least == most else {"mustBeBetween": [least, most]}
