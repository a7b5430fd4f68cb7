"""Which files and switches the DAGs go by."""

import pytest

from lake_airflow.settings import (
    DAGS,
    Release,
    SettingError,
    read_release,
    read_settings,
)
from lake_spec.diagnostics.errors import NoSuchFile
from lake_spec.layout.release_files import release_text


def test_without_variables_everything_is_beside_the_dags():
    found = read_settings({})
    assert found.tables == DAGS / "tables"
    assert found.release_file == DAGS / "release.json"
    assert (found.environment, found.poll_seconds) == ("local", 15)


def test_variables_point_elsewhere(tmp_path):
    found = read_settings(
        {
            "LAKE_TABLES": str(tmp_path),
            "LAKE_RELEASE_FILE": str(tmp_path / "r.json"),
            "LAKE_ENVIRONMENT": "prod",
            "LAKE_POLL_SECONDS": "2",
        }
    )
    assert found.tables == tmp_path
    assert found.release_file == tmp_path / "r.json"
    assert (found.environment, found.poll_seconds) == ("prod", 2)


@pytest.mark.parametrize("given", [{}, {"LAKE_ENVIRONMENT": ""}])
def test_on_mwaa_no_environment_is_assumed(given):
    """The startup script was lost, or failed: `local` would be another lake."""
    with pytest.raises(SettingError, match="LAKE_ENVIRONMENT is not set .* 'prod-2'"):
        read_settings({**given, "AIRFLOW_ENV_NAME": "prod-2"})


def test_a_release_names_its_environment_where_no_variable_does(tmp_path):
    """In an Airflow of others no start-up script of ours sets one."""
    path = tmp_path / "release.json"
    path.write_text(release_text("3f9c2a71", {}, "dev"))
    given = {"LAKE_RELEASE_FILE": str(path), "AIRFLOW_ENV_NAME": "theirs"}
    assert read_settings(given).environment == "dev"
    assert read_settings({**given, "LAKE_ENVIRONMENT": "prod"}).environment == "prod"
    assert read_release(path) == Release("3f9c2a71", {}, "dev")


def test_an_environment_may_be_a_file_of_its_own(tmp_path):
    (tmp_path / "mine.yml").touch()
    found = read_settings({"LAKE_ENVIRONMENT": str(tmp_path / "mine.yml")})
    assert (found.environments, found.environment) == (tmp_path, "mine")


@pytest.mark.parametrize("given", ["/none/mine.yml", "mine.yml", "a/b", "mine.yaml"])
def test_a_file_that_is_none_of_an_environment_is_told(given):
    with pytest.raises(NoSuchFile, match=f"got '{given}'. No such file"):
        read_settings({"LAKE_ENVIRONMENT": given})


@pytest.mark.parametrize("text", ["0", "301", "-1", "1.5", "soon", "²"])
def test_a_poll_time_that_is_none_is_refused(text):
    with pytest.raises(SettingError, match="LAKE_POLL_SECONDS: got .* from 1 to 300"):
        read_settings({"LAKE_POLL_SECONDS": text})


def test_the_release_is_read_from_its_file(tmp_path):
    path = tmp_path / "release.json"
    path.write_text('{"release": "3f9c2a71"}')
    assert read_release(path) == Release("3f9c2a71")
    path.write_text(release_text("3f9c2a71", {"main.py": "0" * 64}))
    assert read_release(path) == Release("3f9c2a71", {"main.py": "0" * 64})


def test_without_a_file_there_is_no_release_yet(tmp_path):
    assert read_release(tmp_path / "none.json") == Release("unreleased")


@pytest.mark.parametrize(
    "text",
    [
        *("{", "[]", "{}", '{"release": 7}', '{"release": "../x"}'),
        *('{"release": "a b"}', '{"release": "a", "artifacts": []}'),
        '{"release": "a", "artifacts": {"lake.zip": "0,--stage"}}',
        *(
            '{"release": "a", "environment": "../x"}',
            '{"release": "a", "environment": 7}',
        ),
    ],
)
def test_a_release_file_that_is_none_is_refused_by_name(tmp_path, text):
    path = tmp_path / "release.json"
    path.write_text(text)
    with pytest.raises(SettingError, match="release.json: .* (Deploy|Build) .* again"):
        read_release(path)
