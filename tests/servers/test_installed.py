"""What is said where the servers are not installed. No data."""

from __future__ import annotations

import os
import platform

import pytest

from lake_local.capture import installed
from tests.servers import server
from tests.servers.postgresql import PostgreSql


def test_missing_programs_are_named_with_what_installs_them(tmp_path, monkeypatch):
    monkeypatch.setattr(installed, "SERVERS", tmp_path)
    with pytest.raises(installed.NotInstalled) as refused:
        PostgreSql(tmp_path)
    message = f"{tmp_path}/postgresql is missing: run ./setup.sh --only servers"
    assert str(refused.value) == message


def test_another_machine_is_named_where_nothing_can_be_installed(tmp_path, monkeypatch):
    monkeypatch.setattr(installed, "SERVERS", tmp_path)
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    with pytest.raises(installed.NotInstalled, match="only, not Darwin arm64"):
        installed.installed("kafka")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs servers as another user")
def test_as_root_programs_are_copied_where_the_servers_user_may_not_enter(
    server_folder, monkeypatch
):
    monkeypatch.setattr(server, "lets_in", lambda folder: False)
    programs = PostgreSql(server_folder)._programs
    assert programs == server_folder / "programs" / "bin"
    assert (programs / "postgres").is_file()
