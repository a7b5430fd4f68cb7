"""Commands work on the specs of what is up."""

from __future__ import annotations

from types import SimpleNamespace

from lake_local.cli.commands import scope
from lake_local.cli.parser import parse


def test_the_tables_of_what_is_up_need_no_option(tmp_path, monkeypatch):
    up = SimpleNamespace(tables=str(tmp_path), environment="")
    monkeypatch.setattr(scope.Stack, "up_for_all", lambda home: up)
    assert scope.specs_of_args(parse(["status"])).tables == tmp_path
