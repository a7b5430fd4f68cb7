"""Where acceptance runs put their things: folders, databases, a stack and clusters in use."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Dict, Iterator, List

from lake_acceptance import claim, removal, steps, storage
from lake_acceptance.__main__ import main
from lake_acceptance.check import CheckFailed
from lake_acceptance.subject import DATABASES, DOMAIN, ROOTS, Subject
from lake_infra.resource_names import Root

from tests.acceptance.emulator import emulator
from tests.neighbour.scene import Beside, Seen
from tests.unit.lake_acceptance.test_claim import (
    NEEDS_NO_STEP,
    Stacks,
    database,
    subject_of,
)


@contextmanager
def _account(beside: Beside) -> Iterator[Subject]:
    """Our run in an account that others use too, on an emulator in this process."""
    with emulator(beside.folder):
        found = subject_of()
        try:
            yield found
        finally:  # databases and clusters outlive an emulator of this process
            glue = found.client("glue")
            for each in glue.get_databases()["DatabaseList"]:
                glue.delete_database(Name=each["Name"])


def _objects(subject: Subject, uri: str = "s3://lake") -> Seen:
    """Every object below an address, with its content."""
    s3, bucket = subject.client("s3"), Root.of(uri).bucket
    return {
        each["Key"]: s3.get_object(Bucket=bucket, Key=each["Key"])["Body"].read()
        for each in storage.stored(s3, uri)
    }


def _tables(subject: Subject) -> Seen:
    """Every database and table, with the place that it leads to."""
    glue = subject.client("glue")
    found: Dict[str, Any] = {}
    for each in glue.get_databases()["DatabaseList"]:
        name = each["Name"]
        found[f"database {name}"] = name
        for table in glue.get_tables(DatabaseName=name)["TableList"]:
            place = table["StorageDescriptor"].get("Location")
            found[f"table {name}.{table['Name']}"] = place
    return found


def _remove(beside: Beside) -> None:
    """The command that removes what an earlier run left, with its answer given."""
    main(["local", "--remove", "--yes", "--report", str(beside.folder / "report")])


def _run(beside: Beside) -> None:
    """The command, as far as its checks need no step."""
    asked = ["local", "--yes", "--report", str(beside.folder / "report")]
    main(asked, NEEDS_NO_STEP)


def folders_in_use(beside: Beside) -> Iterator:
    """Objects of others in each folder of acceptance runs; no run claims them."""
    with _account(beside) as subject:
        for name in ROOTS:
            root = getattr(subject.environment, name)
            storage.put(subject.client("s3"), root, "theirs/a.csv", b"theirs")
        storage.put(subject.client("s3"), subject.environment.logs, claim.NAME, b"[]")
        yield lambda: _objects(subject)
        beside.refuses("claim", CheckFailed, claim.take, subject)
        beside.does("a run", _run, beside)
        beside.does("--remove", _remove, beside)
        yield None


def databases_in_use(beside: Beside) -> Iterator:
    """Databases of the names of acceptance runs, with tables where such runs have them."""
    with _account(beside) as subject:
        place = f"{subject.environment.warehouse}/lake_acceptance/visits"
        for name in DATABASES:
            database(subject, name, visits=place)
        yield lambda: _tables(subject)
        beside.refuses("claim", CheckFailed, claim.take, subject)
        beside.does("a run", _run, beside)
        beside.does("--remove", _remove, beside)
        yield None


def another_run(beside: Beside) -> Iterator:
    """A run of a colleague with objects, claims and a cluster, while ours begins and ends."""
    with _account(beside) as subject:
        theirs = subject_of()
        theirs.release = "abc"
        claim.take(theirs)
        for name in ROOTS:
            root = getattr(theirs.environment, name)
            storage.put(theirs.client("s3"), root, "result.json", b"{}")
        cluster = steps.create_cluster(theirs)
        yield lambda: {
            **_objects(theirs),
            "a cluster": cluster in steps._left(theirs),
        }
        beside.refuses("claim", CheckFailed, claim.take, subject)
        beside.does("a run", _run, beside)
        beside.does("teardown", steps.teardown, subject)
        beside.does("remove", removal.remove, subject)
        yield None


def another_run_at_once(beside: Beside) -> Iterator:
    """A run of a colleague claims a folder between our look and our claim."""
    with _account(beside) as subject:
        theirs, put = subject_of(), claim.put
        root = theirs.environment.runs
        body = b'{"run": "theirs", "at": "2026-01-01"}'
        place = f"{Root.of(root).prefix}{claim.NAME}"
        met: List[str] = []

        def overtaken(s3: Any, uri: str, own: bytes) -> bool:
            if uri == root and not met:
                met.append(uri)
                storage.put(s3, root, claim.NAME, body)
            return put(s3, uri, own)

        beside.patch.setattr(claim, "put", overtaken)
        yield lambda: {"a claim": not met or _objects(subject).get(place) == body}
        beside.refuses("claim", CheckFailed, claim.take, subject)
        yield None


def beside_what_we_made(beside: Beside) -> Iterator:
    """A table that lies elsewhere, folders of others and a stack, while ours is removed."""
    with _account(beside) as subject:
        s3, elsewhere = subject.client("s3"), subject.deployed
        claim.take(subject)
        warehouse = subject.environment.warehouse
        places = {
            "visits": f"{warehouse}/lake_acceptance/visits",
            "a": f"{warehouse}-2/a",
        }
        database(subject, **places)
        for name in ROOTS:
            storage.put(s3, getattr(elsewhere, name), "production/a.csv", b"theirs")
        storage.put(s3, f"{warehouse}-2", "a/1.parquet", b"theirs")
        stack = Stacks({claim.TAG: "acceptance-other"})
        subject.clients["cloudformation"] = stack
        storage.put(s3, subject.environment.runs, "ours.json", b"{}")
        yield lambda: {
            f"table {DOMAIN}.a": _tables(subject).get(f"table {DOMAIN}.a"),
            f"stack {subject.stack}": not stack.deleted,
            **{
                k: v for k, v in _objects(subject).items() if "a.csv" in k or "-2/" in k
            },
        }
        beside.refuses("remove", CheckFailed, removal.remove, subject)
        subject.emulated = False  # as in an account, where there are stacks
        beside.refuses("remove with a stack", CheckFailed, removal.remove, subject)
        yield None


SCENES = (
    folders_in_use,
    databases_in_use,
    another_run,
    another_run_at_once,
    beside_what_we_made,
)
