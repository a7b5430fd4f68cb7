"""The rule that holds what the fields of the model say of their values."""

from __future__ import annotations

from typing import Any, Iterator, Tuple

from lake_check.rules.rule_set import RuleSet
from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.model.field_types import (
    ListOf,
    MapOf,
    Maybe,
    OneOf,
    Record,
    Scalar,
    Setting,
    shape_of,
)

LIMITS = RuleSet()


@LIMITS.rule()
def values_fit_their_settings(spec: Any) -> Iterator[Problem]:
    """Refuse a number, a number of entries or a text that its setting does not take.

    Fix: Write what the message says; the reference pages say it of every key.
    """
    yield from _of_record((), spec)


def _of_record(top: Path, value: Any) -> Iterator[Problem]:
    record: Record = shape_of(type(value))
    for setting in record.settings.values():
        if not setting.given:
            found = getattr(value, setting.attribute)
            yield from _of(setting, setting.shape, (*top, setting.name), found)


def of_setting(setting: Setting, value: Any) -> Iterator[Problem]:
    """Yield what is beyond the limits in the value of one setting, and below it."""
    yield from _of(setting, setting.shape, (setting.name,), value)


def _of(setting: Setting, shape: Any, path: Path, value: Any) -> Iterator[Problem]:
    if value is None:  # left out, or unreadable, which is reported
        return
    if isinstance(shape, Maybe):
        yield from _of(setting, shape.inner, path, value)
    elif isinstance(shape, (ListOf, MapOf)):
        yield from _of_entries(setting, shape, path, value)
    elif isinstance(shape, (OneOf, Record)):
        yield from _of_record(path, value)
    elif isinstance(shape, Scalar):
        yield from _of_scalar(setting, path, value)


def _of_entries(
    setting: Setting, shape: Any, path: Path, value: Tuple[Any, ...]
) -> Iterator[Problem]:
    if setting.entries is not None and not setting.entries.hold(len(value)):
        what = setting.name.replace("_", " ")
        hint = f"Give {setting.entries.how_many} {what}."
        yield Problem(path, len(value), f"got {len(value)} {what}", hint)
    for position, each in enumerate(value):
        name, found = each if isinstance(shape, MapOf) else (position, each)
        yield from _of(setting, shape.item, (*path, name), found)


def _of_scalar(setting: Setting, path: Path, value: Any) -> Iterator[Problem]:
    limits, form = setting.limits, setting.form
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if limits is not None and is_number and not limits.hold(value):
        yield got(path, value, limits.hint)
    if form is None or form.is_rough or not isinstance(value, str):
        return
    if not form.fits(value):
        yield got(path, value, form.hint)
