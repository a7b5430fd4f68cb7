"""What others have below the prefix of acceptance runs is named, and stays as it is."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError
from lake_acceptance import claim, removal, steps, storage
from lake_acceptance.__main__ import CHECKS, main
from lake_acceptance.check import CheckFailed, Outcome, play
from lake_acceptance.subject import DATABASES, DOMAIN, ROOTS, load
from lake_infra.resource_names import Root

from tests.acceptance.emulator import emulator

NEEDS_NO_STEP = [
    each
    for each in CHECKS
    if each.name in ("caller", "buckets", "unused", "release", "landing", "removed")
]


@pytest.fixture
def aws(tmp_path):
    with emulator(tmp_path / "aws") as served:
        yield served


@pytest.fixture
def subject(aws):
    found = subject_of()
    yield found
    glue = found.client("glue")  # whose databases outlive an emulator of this process
    for each in glue.get_databases()["DatabaseList"]:
        glue.delete_database(Name=each["Name"])


def subject_of():
    return load("local", cluster=None, emulated=True, say=print)


def stored(subject) -> dict:
    """Every object of the bucket, with its content."""
    s3 = subject.client("s3")
    return {
        key: s3.get_object(Bucket="lake", Key=key)["Body"].read()
        for key in storage.keys(s3, "s3://lake")
    }


def played(subject) -> dict:
    found = play(NEEDS_NO_STEP, subject, emulated=True, say=print)
    return {each.check.name: each for each in found}


def database(subject, name=DOMAIN, **tables):
    """A database of others, with tables at these places."""
    glue = subject.client("glue")
    glue.create_database(DatabaseInput={"Name": name})
    for table, place in tables.items():
        given = {"Name": table, "StorageDescriptor": {"Location": place}}
        glue.create_table(DatabaseName=name, TableInput=given)
    return glue


def test_objects_below_any_root_are_refused(subject):
    s3 = subject.client("s3")
    for name in ROOTS:
        root = getattr(subject.environment, name)
        storage.put(s3, root, "theirs/a.csv", b"theirs")
        with pytest.raises(CheckFailed, match=f"{root}/ has 1 objects"):
            claim.take(subject)
        storage.delete(s3, root, "theirs/a.csv")
        assert stored(subject) == {}


def test_objects_of_others_are_named_and_outlive_the_run(subject):
    root = subject.environment.landing
    storage.put(subject.client("s3"), root, "theirs/a.csv", b"theirs")
    before = stored(subject)
    found = played(subject)
    key = f"{Root.of(root).prefix}theirs/a.csv"
    assert found["unused"].evidence == (
        f"{root}/ has 1 objects that no acceptance run claims, the first is {key}."
    )
    assert found["unused"].fix == (
        "Move or delete it if nobody needs it, or give the environment other roots "
        "(dags/environments/); nothing was written."
    )
    assert found["release"].outcome is Outcome.NOT_REACHED
    assert found["removed"].evidence == "the run claimed nothing, so it made nothing"
    assert stored(subject) == before


def test_any_database_of_that_name_is_refused(subject):
    glue = subject.client("glue")
    for name in DATABASES:
        database(subject, name)
        with pytest.raises(CheckFailed, match=f"the database {name} exists in Glue"):
            claim.take(subject)
        glue.delete_database(Name=name)
        assert stored(subject) == {}


def test_a_database_of_others_is_named_and_outlives_the_run(subject):
    name = DATABASES[-1]
    place = f"{subject.environment.warehouse}/lake_acceptance/visits"
    glue = database(subject, name, visits=place)
    found = played(subject)
    assert found["unused"].evidence == f"the database {name} exists in Glue."
    assert glue.get_table(DatabaseName=name, Name="visits")
    assert stored(subject) == {}


def test_a_run_claims_and_leaves_nothing(subject):
    found = played(subject)
    assert {each.outcome for each in found.values()} == {Outcome.PASSED}
    assert stored(subject) == {}


def test_a_second_run_is_refused_and_leaves_the_first_as_it_is(subject, capsys):
    claim.take(subject)
    storage.put(subject.client("s3"), subject.environment.runs, "a.json", b"{}")
    before = stored(subject)
    found = played(subject_of())
    assert found["unused"].evidence.startswith(f"the acceptance run {subject.key} of ")
    assert found["unused"].fix.endswith("remove what it left with --remove.")
    assert found["removed"].evidence == "the run claimed nothing, so it made nothing"
    assert stored(subject) == before


def test_of_two_claims_at_once_one_is_withdrawn(subject, monkeypatch):
    other, put = subject_of(), claim.put

    def overtaken(s3, uri, body):
        if uri == other.environment.artifacts:
            monkeypatch.setattr(claim, "put", put)
            body_of_other = body.replace(subject.key.encode(), other.key.encode())
            assert put(s3, uri, body_of_other)
        return put(s3, uri, body)

    monkeypatch.setattr(claim, "put", overtaken)
    with pytest.raises(CheckFailed, match="claimed .* at the same moment"):
        claim.take(subject)
    assert claim.claimed_roots(subject) == []
    assert claim.claimed_roots(other) == [other.environment.artifacts]


def test_remove_says_what_it_removes_and_asks(subject, tmp_path, capsys):
    claim.take(subject)
    runs, warehouse = subject.environment.runs, subject.environment.warehouse
    storage.put(subject.client("s3"), runs, "a.json", b"{}")
    database(subject, visits=f"{warehouse}/lake_acceptance/visits/current")
    before = stored(subject)
    asked = ["local", "--remove", "--report", str(tmp_path)]
    assert main(asked) == 1  # there is no terminal that could be asked
    said = capsys.readouterr().out
    assert f"Left by the acceptance run {subject.key} of " in said
    assert f"  2 objects below {runs}/\n" in said
    assert f"  table {DOMAIN}.visits and its database" in said
    assert f"  clusters of {subject.key}\n" in said
    assert stored(subject) == before
    assert main([*asked, "--yes"]) == 0
    assert stored(subject) == {}
    glue = subject.client("glue")
    with pytest.raises(glue.exceptions.EntityNotFoundException):
        glue.get_database(Name=DOMAIN)


def test_remove_leaves_what_nobody_claimed(subject, tmp_path, capsys):
    """Objects, a database and a cluster that are called as ours are."""
    subject.release = "abc"
    cluster = steps.create_cluster(subject)
    storage.put(subject.client("s3"), subject.environment.runs, "a.json", b"{}")
    storage.put(subject.client("s3"), subject.environment.logs, claim.NAME, b"[]")
    database(subject, visits=f"{subject.environment.warehouse}/visits")
    before = stored(subject)
    capsys.readouterr()
    assert main(["local", "--remove", "--yes", "--report", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert said == "No acceptance run claims lake-acceptance/: nothing is removed.\n"
    assert stored(subject) == before
    assert subject.client("glue").get_table(DatabaseName=DOMAIN, Name="visits")
    assert cluster in steps._left(subject)


def test_a_cluster_of_another_run_is_not_ended(subject, tmp_path):
    other = subject_of()
    other.release = subject.release = "abc"
    theirs, ours = steps.create_cluster(other), steps.create_cluster(subject)
    claim.take(subject)
    main(["local", "--remove", "--yes", "--report", str(tmp_path)])
    assert steps._left(subject) == [theirs] != [ours]


def test_a_table_that_lies_elsewhere_stays_with_its_database(subject):
    claim.take(subject)
    warehouse = subject.environment.warehouse
    places = {"visits": f"{warehouse}/lake_acceptance/visits", "a": f"{warehouse}-2/a"}
    glue = database(subject, **places)
    with pytest.raises(CheckFailed) as left:
        removal.remove(subject)
    assert left.value.cause == (
        "tables of others, which lie elsewhere, are in Glue: lake_acceptance.a."
    )
    names = [e["Name"] for e in glue.get_tables(DatabaseName=DOMAIN)["TableList"]]
    assert names == ["a"]
    assert claim.of_earlier(subject)  # so that --remove goes on


def test_a_root_that_another_run_claims_stays(subject):
    other = subject_of()
    claim.take(other)
    s3, logs = subject.client("s3"), subject.environment.logs
    storage.put(s3, logs, "theirs.json", b"{}")
    storage.delete(s3, subject.environment.runs, claim.NAME)
    assert claim.put(s3, subject.environment.runs, _body(subject))
    assert removal.remove(subject).startswith("0 objects")
    assert storage.keys(s3, logs) == [claim.NAME, "theirs.json"]
    assert storage.keys(s3, subject.environment.runs) == []


def _body(subject) -> bytes:
    return f'{{"run": "{subject.key}", "at": "2026-01-01"}}'.encode()


class Stacks:
    """CloudFormation's client, with one stack at most."""

    def __init__(self, tags=None):
        self.tags, self.deleted = tags, []

    def describe_stacks(self, *, StackName):
        if self.tags is None or self.deleted:
            message = f"Stack with id {StackName} does not exist"
            error = {"Code": "ValidationError", "Message": message}
            raise ClientError({"Error": error}, "DescribeStacks")
        tags = [{"Key": key, "Value": value} for key, value in self.tags.items()]
        return {"Stacks": [{"StackName": StackName, "Tags": tags}]}

    def delete_stack(self, *, StackName):
        self.deleted.append(StackName)

    def get_waiter(self, name):
        return self

    def wait(self, **_):
        pass


def test_a_stack_that_exists_is_refused_and_stays(subject):
    subject.emulated = False
    stacks = subject.clients["cloudformation"] = Stacks({"lake:environment": "local"})
    with pytest.raises(CheckFailed, match="the stack lake-local-acceptance exists"):
        claim.take(subject)
    assert stored(subject) == {}
    removal.remove(subject)
    assert stacks.deleted == []


def test_the_stack_of_this_run_alone_is_deleted(subject):
    subject.emulated = False
    subject.clients["cloudformation"] = Stacks()
    claim.take(subject)
    stacks = subject.clients["cloudformation"] = Stacks({claim.TAG: "acceptance-other"})
    with pytest.raises(CheckFailed, match=f"is not of the run {subject.key}"):
        removal.remove(subject)
    assert stacks.deleted == []
    stacks.tags = {claim.TAG: subject.key}
    removal.remove(subject)
    assert stacks.deleted == ["lake-local-acceptance"]
    assert stored(subject) == {}
