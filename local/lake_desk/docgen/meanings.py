"""What a setting and its choices mean, as the model says it at the field and the member."""

from __future__ import annotations

import ast
import inspect
from enum import Enum
from functools import lru_cache
from textwrap import dedent
from typing import Dict, Sequence, Type

from lake_spec.model.field_types import Setting, shape_of


def setting_of(cls: type, name: str) -> Setting:
    """Return a setting of a class of the model, by its name in YAML.

    Raises KeyError where the class has none of that name.
    """
    found: Setting = shape_of(cls).settings[name]
    return found


def meanings_of(enum: Type[Enum], only: Sequence[str] = ()) -> Dict[str, str]:
    """Return the text of each member with the docstring that follows it.

    `only` are the texts that a setting takes, if not all. Raises ValueError for a member
    without one.
    """
    found = _docstrings(enum)
    members = [each for each in enum if not only or each.value in only]
    return {member.value: found[member.name] for member in members}


@lru_cache(maxsize=None)
def _docstrings(enum: Type[Enum]) -> Dict[str, str]:
    (body,) = ast.parse(dedent(inspect.getsource(enum))).body
    assert isinstance(body, ast.ClassDef)
    found: Dict[str, str] = {}
    for member, after in zip(body.body, [*body.body[1:], ast.Pass()]):
        if isinstance(member, ast.Assign) and isinstance(member.targets[0], ast.Name):
            name = member.targets[0].id
            if not (
                isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            ):
                raise ValueError(f"{enum.__name__}.{name}: say below it what it means")
            found[name] = " ".join(str(after.value.value).split())
    return found
