"""The state directory is its owner's: nobody else reads its passwords or writes its state."""

from __future__ import annotations

import os
import pickle
import stat

import pytest

from lake_emulator import private_folder
from lake_emulator.__main__ import main
from lake_emulator.keys import secret_of
from lake_emulator.moto_services import MotoServices
from lake_emulator.private_folder import NotPrivate, make_private
from lake_emulator.server import Emulator


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("before", [0o755, 0o777, 0o750, 0o701])
@pytest.mark.parametrize("use", [make_private, secret_of])
def test_a_folder_that_is_open_to_others_is_closed(tmp_path, before, use):
    tmp_path.chmod(before)
    use(tmp_path)
    assert mode(tmp_path) == 0o700


def test_an_emulator_closes_its_state_directory_and_its_files(tmp_path):
    tmp_path.chmod(0o755)
    umask = os.umask(0)
    try:
        served = Emulator(tmp_path)
        served._moto.create_bucket("bucket", "eu-central-1")
        served._lock.close()
        served.store.close()
        served._server.server_close()
    finally:
        os.umask(umask)
    assert mode(tmp_path) == mode(tmp_path / "services") == 0o700
    assert mode(tmp_path / "services" / "s3.pickle") == 0o600


@pytest.fixture
def of_another(monkeypatch):
    """All files belong to somebody else: I am another user from now on."""
    me = os.geteuid()
    monkeypatch.setattr(private_folder.os, "geteuid", lambda: me + 1)
    return me


def test_a_folder_of_another_user_is_refused(tmp_path, of_another, capsys):
    tmp_path.chmod(0o755)
    said = (
        f"{tmp_path} belongs to user {of_another}, not to you (user {of_another + 1}):"
        " choose another state directory with --state-dir DIR, or run sudo chown -R"
        f" {of_another + 1} '{tmp_path}'."
    )
    with pytest.raises(NotPrivate) as refused:
        secret_of(tmp_path)
    assert str(refused.value) == said
    assert main(["--state-dir", str(tmp_path), "--port", "1"]) == 1
    assert capsys.readouterr().err.strip() == said
    assert mode(tmp_path) == 0o755 and not list(tmp_path.iterdir())


class Planted:
    """What unpickles as a call."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return (os.mkdir, (str(self.mark),))


@pytest.mark.parametrize("open_to", [stat.S_IWGRP, stat.S_IWOTH])
def test_state_that_others_can_write_is_not_read(tmp_path, open_to):
    mark, file = tmp_path / "mark", tmp_path / "services" / "glue.pickle"
    file.parent.mkdir()
    file.write_bytes(pickle.dumps(Planted(mark)))
    file.chmod(0o600 | open_to)
    with pytest.raises(NotPrivate) as refused:
        MotoServices(file.parent)
    assert str(refused.value) == (
        f"{file} can be written by other users, and reading it runs what it says: see"
        f" that it is what you left there, then run chmod go-w '{file}'."
    )
    assert not mark.exists() and file.exists()


def test_state_of_another_user_is_not_read(tmp_path, of_another):
    mark, file = tmp_path / "mark", tmp_path / "glue.pickle"
    file.write_bytes(pickle.dumps(Planted(mark)))
    with pytest.raises(NotPrivate, match="belongs to user"):
        private_folder.read_own(file)
    assert not mark.exists()
