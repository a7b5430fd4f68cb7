"""A deployment in an Airflow of others: all that is theirs is as before, byte by byte.

Their bucket has DAGs, a plugins.zip, requirements and a start-up script.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile

import pytest
from lake_check.parsing.loader import load_environment
from lake_release import host as host_module
from lake_release import pointer
from lake_release.airflow_bucket import AirflowBucket
from lake_release.errors import ReleaseError
from lake_release.host import Host
from lake_release.mwaa import Airflow
from lake_release.removal import Removal
from lake_release.shared_files import (
    join,
    joined_zip,
    leave,
    without_our_files,
)
from lake_release.shared_requirements import joined as joined_requirements
from lake_release.shared_requirements import without_ours
from lake_release.target import Target
from lake_spec.layout.dag_names import PROOF, REAPER

from tests.unit.lake_release.buckets import BUCKET
from tests.unit.lake_release.conftest import SHOWN, Releases, write_dags
from tests.unit.lake_release.test_deploy import Dying, Killed

HOME = "dags/lake/"
PROVIDER = "apache-airflow-providers-amazon"
NEEDED = f"{PROVIDER}[aiobotocore]\n"


def packed(**files: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as opened:
        for name, content in files.items():
            opened.writestr(f"{name}.py", content)
    return target.getvalue()


THEIRS = {
    "dags/.airflowignore": b"team/old/\n",
    "dags/moma.py": b"SHOWN = 'theirs'\n",
    "dags/lake.py": b"import tables\nSHOWN = tables.NAME\n",
    "dags/tables.py": b"NAME = 'their tables'\n",
    "dags/lake/notes.md": b"# of theirs, in the folder that becomes ours\n",
    "dags/releases/0123456789abcdef/moma.py": b"x = 1\n",
    "plugins.zip": packed(their_plugin=b"A = 1\n"),
    "requirements.txt": b"pandas\n" + NEEDED.encode(),
    "startup.sh": b"export TEAM=1\n",
}


@pytest.fixture
def theirs(mwaa, s3):
    """The MWAA environment of others, and what lies in its bucket."""
    for key, body in THEIRS.items():
        s3.put_object(Bucket=BUCKET, Key=key, Body=body)
    mwaa.there.update(
        AirflowVersion="3.3.1",
        RequirementsS3Path="requirements.txt",
        PluginsS3Path="plugins.zip",
        StartupScriptS3Path="startup.sh",
        AirflowConfigurationOptions={},
    )
    mwaa.folder = "/usr/local/airflow/dags/lake"
    mwaa.dags["their_dag"] = {"fileloc": "/usr/local/airflow/dags/other.py"}
    return mwaa


class Guest(Releases):
    """The releases of an environment that names an Airflow of others."""

    def __init__(self, folder, project, s3, builds, mwaa):
        super().__init__(folder, project, s3, builds)
        environments = project / "dags" / "environments"
        file = environments / "prod.yml"
        text = file.read_text("utf-8")
        file.write_text(f"{text}airflow: {{name: theirs, bucket: {BUCKET}}}\n", "utf-8")
        for version in ("3.3.1", "3.0.6"):
            pins = f"{PROVIDER}==9.34.0\nboto3==1.43.56\n"
            (project / f"requirements/constraints-{version}.txt").write_text(pins)
            (project / f"requirements/mwaa-{version}.lock").write_text("")
        (project / "requirements" / "airflow.txt").write_text(NEEDED)
        self.target = Target.of(load_environment("prod", environments), None)
        self.mwaa = mwaa
        self.airflow = Airflow(mwaa.client, "theirs", say=self.said.append)
        self.host = Host(self.target, s3, self.airflow, project)

    def deployment(self, s3=None, airflow=None, take_over=()):
        found = super().deployment(s3, airflow or self.airflow, take_over)
        found._host = self.host
        return found

    def deploy(self, **more):
        self.mwaa.shows = [self.built().id]
        return super().deploy(**more)

    def remove(self, s3=None):
        found = (self.target, s3 or self.s3)
        more = {"airflow": self.airflow, "host": self.host, "say": self.said.append}
        Removal(*found, **more).run()

    def shown_of(self, folder: str) -> dict:
        """What each DAG file of a folder shows, in one process that has their path."""
        dags = self.copied()
        script = SHOWN.replace("Path(sys.argv[1]).glob", "Path(sys.argv[2]).glob")
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", script, str(dags), str(dags / folder)],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return dict(line.split(" ", 1) for line in done.stdout.splitlines())


@pytest.fixture
def guest(tmp_path, project, s3, builds, theirs, clock):
    return Guest(tmp_path, project, s3, builds, theirs)


def seen(buckets) -> dict:
    """All versions of each object of their bucket that is there now."""
    return {
        key: [each and each["Content"] for each in kept]
        for (bucket, key), kept in buckets.versions.items()
        if bucket == BUCKET and kept[-1]
    }


def refused(guest, buckets, *words):
    """Deploy and plan refuse with these words, and nothing is written."""
    before = seen(buckets)
    with pytest.raises(ReleaseError) as error:
        guest.deploy()
    for each in words:
        assert each in str(error.value)
    plan = list(guest.deployment().plan(guest.built()))
    assert f"deploy would refuse this: {error.value}" in plan
    assert seen(buckets) == before
    assert guest.mwaa.updates == []


def test_a_deploy_a_second_one_and_a_removal_leave_theirs_as_it_was(guest, buckets):
    before = seen(buckets)
    first = guest.deploy()
    assert guest.shown_of("lake") == {"moma.py": f"one {first}"}
    write_dags(guest.project, "two", "moma.py", "shop.py")
    second = guest.deploy()
    assert guest.shown_of("lake") == {
        "moma.py": f"two {second}",
        "shop.py": f"two {second}",
    }
    assert guest.shown_of("") == {"lake.py": "their tables", "moma.py": "theirs"}
    guest.mwaa.shows = [first]
    guest.deployment().rollback()
    ours = {key for key in seen(buckets) if key not in before}
    assert ours and all(key.startswith(HOME) for key in ours)
    assert {key: kept for key, kept in seen(buckets).items() if key in before} == before

    guest.mwaa.is_gone = lambda file: f"dags/lake/{file.rsplit('/', 1)[1]}" not in seen(
        buckets
    )
    guest.remove()
    assert seen(buckets) == before
    assert guest.mwaa.updates == []
    assert "dags/lake/notes.md: of others" in "\n".join(guest.said)
    assert ("DELETE", f"/dags/{PROOF}") in guest.mwaa.asked
    assert "their_dag" in guest.mwaa.dags
    guest.remove()  # again: there is nothing to do
    assert seen(buckets) == before


def test_what_is_installed_is_not_written_and_no_update_is_asked_for(guest, buckets):
    guest.deploy()
    assert guest.built().files("airflow") == {}
    for name in ("requirements.txt", "plugins.zip", "startup.sh"):
        assert len(buckets.versions[BUCKET, name]) == 2  # nothing, and theirs


def test_a_deploy_and_a_removal_that_die_can_be_repeated(guest, buckets):
    before = seen(buckets)
    for _ in range(300):
        try:
            guest.deploy(s3=Dying(guest.s3, 1))
            break
        except Killed:
            pass
    write_dags(guest.project, "two", "moma.py")
    second = guest.deploy()
    assert guest.shown_of("lake") == {"moma.py": f"two {second}"}
    guest.mwaa.is_gone = lambda file: True
    for _ in range(300):
        try:
            guest.remove(s3=Dying(guest.s3, 1))
            break
        except Killed:
            pass
    guest.remove()
    assert seen(buckets) == before


def test_a_removal_waits_for_runs_and_lets_dags_go_on(guest, buckets):
    guest.deploy()
    there = seen(buckets)
    guest.mwaa.busy = {PROOF: "running"}
    with pytest.raises(ReleaseError, match="Nothing was removed") as error:
        guest.remove()
    assert f"{PROOF} (" in str(error.value)
    assert guest.mwaa.paused is False
    guest.mwaa.busy = {}
    guest.mwaa.begins_at("PATCH", **{PROOF: "running"})  # as soon as it is paused
    with pytest.raises(ReleaseError, match="Nothing was removed"):
        guest.remove()
    assert guest.mwaa.paused is False
    assert seen(buckets) == there


def test_a_dag_of_others_with_an_id_of_ours_is_in_the_way_and_outlives_a_removal(
    guest, buckets
):
    file = "/usr/local/airflow/dags/team/moma.py"
    guest.mwaa.dags["moma_erase"] = {"fileloc": file}
    refused(guest, buckets, f"the DAG moma_erase is there already, of {file}")
    guest.mwaa.is_gone = lambda named: named == file  # its file is no more
    guest.deploy()
    guest.remove()
    assert "moma_erase" in guest.mwaa.dags


@pytest.mark.parametrize("id", [PROOF, REAPER])
def test_a_second_environment_of_ours_in_one_airflow_is_refused(guest, buckets, id):
    guest.mwaa.folder = "/usr/local/airflow/dags/lake_dev"
    guest.mwaa.dags[REAPER] = {"fileloc": f"{guest.mwaa.folder}/lake.py"}
    refused(guest, buckets, f"the DAG {id} is there already")


@pytest.mark.parametrize(
    "there, words",
    [
        (
            {"AirflowVersion": "2.10.3"},
            "it is Airflow 2.10.3; the DAGs are tested with",
        ),
        (
            {"AirflowConfigurationOptions": {"core.dag_ignore_file_syntax": "regexp"}},
            "core.dag_ignore_file_syntax is regexp",
        ),
        ({"SourceBucketArn": "arn:aws:s3:::another"}, "SourceBucketArn is"),
        ({"DagS3Path": "team/dags"}, "DagS3Path is team/dags, not dags"),
        ({"RequirementsS3Path": None}, f"lacks the line {NEEDED.strip()}"),
    ],
)
def test_an_environment_that_does_not_fit_is_refused(guest, buckets, there, words):
    guest.mwaa.there.update(there)
    refused(guest, buckets, words)


def test_an_environment_that_is_not_there_is_refused(guest, buckets):
    guest.mwaa.there = None
    before = seen(buckets)
    with pytest.raises(ReleaseError, match="there is no MWAA environment of that name"):
        guest.deploy()
    assert seen(buckets) == before


@pytest.mark.parametrize(
    "requirements, words",
    [
        ("pandas\n", f"lacks the line {NEEDED.strip()}"),
        (f"{PROVIDER}\n", f"lacks the line {NEEDED.strip()}"),
        (f"# {NEEDED}", f"lacks the line {NEEDED.strip()}"),
        (f'{NEEDED.strip()}; sys_platform == "win32"\n', "lacks the line"),
        (f"{NEEDED}boto3==1.30.0\n", "boto3==1.30.0: older than boto3==1.43.56"),
        (f"{NEEDED}boto3<1.40\n", "boto3<1.40: older than boto3==1.43.56"),
        (f"{NEEDED}boto3~=1.2.0\n", "older than boto3==1.43.56"),
        (NEEDED.replace("]", "]==9.0"), f"older than {PROVIDER}==9.34.0"),
        (
            f"--constraint /usr/local/airflow/dags/own.txt\n{NEEDED}",
            "own.txt: boto3==1.1: older than",
        ),
    ],
)
def test_requirements_that_do_not_fit_are_refused(guest, buckets, requirements, words):
    put(guest, "requirements.txt", requirements.encode())
    put(guest, "dags/own.txt", b"boto3==1.1 # old\n")
    refused(guest, buckets, words)


@pytest.mark.parametrize(
    "requirements, note",
    [
        (f"{NEEDED}boto3\n", None),
        (f"{NEEDED}boto3>=1.20,<2\n", None),
        (f'{NEEDED}boto3==1.1; python_version < "3.9"\n', None),
        (f"{NEEDED}boto3==1.50.0\n", "boto3==1.50.0: newer than boto3==1.43.56"),
        (f"-r more.txt\n{NEEDED}", "-r more.txt is not read"),
        (
            f"-c https://x.example/c.txt\n{NEEDED}",
            "-c https://x.example/c.txt is not read",
        ),
        (f"git+https://x.example/boto3\n{NEEDED}", None),
        (f"{NEEDED}boto3==1.43.56 \\\n    --hash=sha256:00\n", None),
    ],
)
def test_requirements_that_fit_are_taken_and_what_is_not_known_is_said(
    guest, requirements, note
):
    put(guest, "requirements.txt", requirements.encode())
    guest.deploy()
    said = "\n".join(guest.deployment().plan(guest.built()))
    assert (note or "and nothing that it installs") in said
    assert note or "newer" not in said and "not read" not in said


def test_the_version_that_is_installed_is_compared_not_the_newest(guest, buckets):
    put(guest, "requirements.txt", b"not yet installed\n")
    guest.mwaa.there["RequirementsS3ObjectVersion"] = "v1"
    guest.deploy()


@pytest.mark.parametrize("key", ["dags/lake_spec.py", "dags/lake_airflow/a.py"])
def test_a_module_of_theirs_that_would_be_imported_for_ours_is_refused(
    guest, buckets, key
):
    put(guest, key, b"")
    put(guest, "dags/lake_spec_of_ours.py", b"")
    refused(guest, buckets, f"{key} is of others")


def test_a_file_of_theirs_in_our_folder_is_refused_by_name(guest, buckets):
    put(guest, "dags/lake/moma.py", b"theirs = 1\n")
    refused(guest, buckets, "dags/lake/moma.py (11 bytes of")


def test_what_they_install_cannot_be_taken_over(guest):
    with pytest.raises(ReleaseError, match="no deploy writes this key"):
        guest.deploy(take_over=["requirements.txt"])


def put(guest, key, body):
    guest.s3.put_object(Bucket=BUCKET, Key=key, Body=body)


def joined(guest, to, **more):
    wanted = {"project": guest.project, "runs": "s3://work/runs", "plugin": True}
    return list(join(guest.host, to, **{**wanted, **more}))


@pytest.mark.parametrize("before", [b"", b"pandas\n", b"pandas", b"# x\r\npandas\r\n"])
def test_requirements_are_joined_behind_theirs_and_come_out_byte_by_byte(
    guest, tmp_path, before
):
    put(guest, "requirements.txt", before)
    joined(guest, tmp_path / "in", plugin=False)
    after = (tmp_path / "in" / "requirements.txt").read_bytes()
    assert after.startswith(before) and NEEDED.encode() in after
    put(guest, "requirements.txt", after)
    guest.deploy()
    list(leave(guest.host, tmp_path / "out"))
    assert (tmp_path / "out" / "requirements.txt").read_bytes() == before


@pytest.mark.parametrize(
    "before, behind, after",
    [
        ("pandas", "numpy\n", "pandas\nnumpy\n"),
        ("pandas\n", "numpy", "pandas\nnumpy"),
        ("", "numpy\n", "numpy\n"),
    ],
)
def test_lines_that_they_add_behind_ours_stay_lines(before, behind, after):
    with_ours = joined_requirements(before, ("boto3==1",)) + behind
    assert without_ours(with_ours) == after


@pytest.mark.parametrize("before", ["", "pandas", "pandas\n"])
def test_what_was_joined_twice_comes_out_whole(before):
    once = joined_requirements(before, ("boto3==1",))
    assert without_ours(joined_requirements(once, ("pytz==1",))) == before


def entries(archive: bytes) -> dict:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {each.filename: opened.read(each) for each in opened.infolist()}


def test_plugins_are_joined_behind_theirs_and_come_out_again(guest, tmp_path):
    (guest.project / "plugins" / "lake_plugin.py").write_text("OURS = 1\n")
    before = THEIRS["plugins.zip"]
    joined(guest, tmp_path)
    after = (tmp_path / "plugins.zip").read_bytes()
    files = entries(after)
    note = json.loads(files["lake_pages/joined.json"])
    assert note["runs"] == "s3://work/runs" and list(note["files"]) == [
        "lake_plugin.py"
    ]
    assert files["lake_plugin.py"] == b"OURS = 1\n"
    assert entries(before).items() <= files.items()
    put(guest, "plugins.zip", after)
    assert joined_zip(after, {"lake_plugin.py": b"OURS = 2\n"}, "s3://r") != after
    list(leave(guest.host, tmp_path / "out"))
    assert entries((tmp_path / "out" / "plugins.zip").read_bytes()) == entries(before)
    said = list(leave(guest.host, None))
    assert said[0].startswith("plugins.zip of the environment still have parts of ours")


def test_a_plugin_of_theirs_with_a_name_of_ours_is_refused(guest, tmp_path):
    (guest.project / "plugins" / "their_plugin.py").write_text("OURS = 1\n")
    with pytest.raises(ReleaseError, match="has other files named their_plugin.py"):
        joined(guest, tmp_path)
    assert not (tmp_path / "plugins.zip").exists()


def test_a_file_of_ours_that_they_changed_is_theirs():
    ours = joined_zip(THEIRS["plugins.zip"], {"a.py": b"1", "b.py": b"2"}, "s3://r")
    changed = io.BytesIO()
    with zipfile.ZipFile(changed, "w") as opened:
        for name, content in {**entries(ours), "a.py": b"theirs now"}.items():
            opened.writestr(name, content)
    left = entries(without_our_files(changed.getvalue()))
    assert left == {"their_plugin.py": b"A = 1\n", "a.py": b"theirs now"}


FAULTS = {
    "everything is ours": (AirflowBucket, "_is_ours", lambda *_: True),
    "no DAG is of others": (Host, "_taken", lambda *_: ()),
    "requirements are not compared": (Host, "_requirements", lambda *_: []),
    "any version is taken": (Host, "_version", lambda *_: ()),
    "modules are not looked for": (Host, "_modules", lambda *_: ()),
    "a removal asks for no runs": (Removal, "_refuse_under_way", lambda *_: None),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_guard_that_is_taken_away_is_seen(guest, buckets, monkeypatch, fault):
    """What the tests above hold is not held without the guard."""
    monkeypatch.setattr(*FAULTS[fault])
    put(guest, "dags/lake/moma.py", b"theirs = 1\n")
    if fault != "everything is ours":
        del buckets.versions[BUCKET, "dags/lake/moma.py"]
    if fault == "no DAG is of others":
        guest.mwaa.dags["moma_erase"] = {"fileloc": "/usr/local/airflow/dags/a.py"}
    if fault == "requirements are not compared":
        put(guest, "requirements.txt", b"pandas\n")
    if fault == "any version is taken":
        guest.mwaa.there["AirflowVersion"] = "3.0.6"
        monkeypatch.setattr(host_module, "supported", lambda project: ["3.3.1"])
    if fault == "modules are not looked for":
        put(guest, "dags/lake_spec.py", b"")
    before = seen(buckets)
    guest.deploy()  # and is not refused
    theirs = {key: kept for key, kept in seen(buckets).items() if key in before}
    assert (theirs != before) == (fault == "everything is ours")
    if fault == "a removal asks for no runs":
        guest.mwaa.busy = {PROOF: "running"}
        guest.remove()
        assert pointer.read(guest.s3, guest.target).current is None
