"""The emulator with a lake on it that is put back before each attack."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional

from lake_emulator import client, runtimes, table_optimizers
from lake_emulator.keys import KEY_ID, secret_of
from lake_emulator.policies.enforcer import FILE, ROLE
from lake_infra.policies import policies
from lake_infra.template import load_template
from lake_spec.layout.table_folders import moved_folder
from lake_spec.model import DomainSpec
from lake_spec.model.json_codec import to_data
from lake_spec.platform.aws_releases import EMR_RELEASES
from lake_spec.state.erase_request import uri_of
from lake_spec.state.lease import Lease, lease_uri
from tests.hostile import lake_files, names
from tests.hostile.child import Child

ROUNDS = 3
"""Runs before the attack, so that there are older files and snapshots."""

RELEASE = f"{lake_files.ENVIRONMENT.artifacts}/releases/r1"
SECONDS_TO_START = 60
TEN_DAYS = 10 * 24 * 3600 * 1000
_PUBLISHED = ("/metadata/", "/_delta_log/", "/iceberg/")
_VENVS = {
    "readers": ".venv-readers",
    "trino": ".venv-readers",
    "author": ".venv-airflow",
}
_READ = ["s3:GetObject*", "s3:GetBucketLocation", "s3:ListBucket", "glue:Get*"]
_READ += ["glue:BatchGet*", "glue:SearchTables", "kms:Decrypt"]
_BUCKETS = dict(zip(("Landing", "Warehouse", "Work"), names.BUCKETS))
"""The buckets by their names in the template."""

_PATH = os.pathsep.join(
    str(runtimes.PROJECT / each)
    for each in ("dags", "spark_jobs", "emulator", "local", "infra", ".")
)
_RIGHTS: Mapping[str, Any] = {
    names.READER: {"Effect": "Allow", "Action": _READ, "Resource": "*"},
    names.ADMINISTRATOR: {"Effect": "Allow", "Action": "*", "Resource": "*"},
}


@dataclass(frozen=True)
class State:
    """All that an attack may change: objects by ETag, the catalogue, settings of buckets."""

    objects: Mapping[str, str]
    catalogue: Mapping[str, Any]
    settings: Mapping[str, Any]

    def changes(self, before: State) -> List[str]:
        """Say what differs from the state before."""
        found = [f"{n} of files" for n in _counts(self.objects, before.objects)]
        found += [f"{n} of entries" for n in _counts(self.catalogue, before.catalogue)]
        changed = {n for n, v in self.settings.items() if before.settings[n] != v}
        return found + [f"{each} changed" for each in sorted(changed)]

    def lost(self, before: State) -> List[str]:
        """Return objects of ours that are gone or others: all but published metadata."""
        return [
            key
            for key, etag in sorted(before.objects.items())
            if not any(each in key for each in _PUBLISHED)
            and self.objects.get(key) != etag
        ]


class World:
    """A lake below a folder, of one table; `restore` puts it back.

    `landed` returns the landing files of a round: their texts by their keys.
    """

    def __init__(
        self,
        folder: Path,
        domain: Optional[DomainSpec] = None,
        landed: Callable[[int], Mapping[str, str]] = lake_files.landed,
    ) -> None:
        self.folder = folder
        self._domain, self._landed = domain or lake_files.domain(), landed
        self._home, self._base = folder / "state", folder / "base"
        self._children: Dict[str, Child] = {}
        self._runs = ROUNDS
        self._home.mkdir()
        self._policies = _policies(self._domain)
        self._secret = secret_of(self._home)
        (self._home / FILE).write_text(json.dumps(self._policies))
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))
            self._port = held.getsockname()[1]
        self._start()

    def build(self) -> None:
        """Fill the table in some runs, and keep what is there then, as of ten days ago."""
        self._make_places()
        for round_ in range(ROUNDS):
            self.land(round_)
            stage = "incremental" if round_ else "full_load"
            told = self.step(stage, "--then", "scd2", run=round_)
            if told:
                raise RuntimeError(f"the lake was not made: {told}")
        self._stop()
        with sqlite3.connect(self._home / "s3" / "index.sqlite") as index:
            index.execute(
                "UPDATE objects SET modified = modified - ? WHERE bucket = ?",
                (TEN_DAYS, names.WAREHOUSE),
            )
        index.close()
        shutil.copytree(self._home, self._base)
        self._start()
        self.before = self.state()

    def restore(self) -> None:
        """Put all back as it was before the first attack."""
        self._stop()
        shutil.rmtree(self._home)
        shutil.copytree(self._base, self._home)
        self._start()
        self._runs = ROUNDS

    def state(self) -> State:
        """Return what there is now."""
        s3, found = self.client("s3"), {}
        for bucket in names.BUCKETS:
            pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket)
            for each in pages.search("Contents[]"):
                if each:
                    found[f"{bucket}/{each['Key']}"] = each["ETag"]
        return State(found, self._catalogue(), self._settings())

    def land(self, round_: int) -> None:
        """Land the files of a round."""
        s3 = self.client("s3")
        for key, text in self._landed(round_).items():
            s3.put_object(Bucket=names.LANDING, Key=key, Body=text.encode())

    def step(self, stage: str, *more: str, run: Optional[int] = None) -> str:
        """Run stages as a step; return why it failed, nothing where it did not."""
        if run is None:
            self._runs += 1
            run = self._runs
        name = f"{names.DOMAIN}_incremental/{run}"
        uri = lease_uri(lake_files.ENVIRONMENT.runs, names.DOMAIN)
        self._put(uri, json.dumps(Lease(name, run + 1).to_data()))
        argv = ["--release", RELEASE]
        argv += ["--region", names.REGION, "--domain", names.DOMAIN]
        argv += ["--stage", stage, *more, "--run", name]
        argv += ["--lease-token", str(run + 1)]
        try:
            code = self.child("product").ask(what="run", argv=argv)
        except Exception as error:
            return str(error)
        return self._errors(name) or f"exit code {code}" if code else ""

    def ask_erase(self, key: int) -> str:
        """Put a request to erase one key; its name."""
        name = f"erase-{key}"
        keys = {"keys": {names.TABLE: [{"id": str(key)}]}}
        uri = uri_of(lake_files.ENVIRONMENT.runs, names.DOMAIN, name)
        self._put(uri, json.dumps(keys))
        return name

    def delete_moved_files(self) -> None:
        """Delete what a maintenance moved out of the table's folder, as it asks for."""
        table = f"{names.DOMAIN}.{names.TABLE}"
        place = moved_folder(lake_files.ENVIRONMENT.warehouse, table)
        prefix = place.partition(f"{names.WAREHOUSE}/")[2]
        found = self.client("s3").list_objects_v2(
            Bucket=names.WAREHOUSE, Prefix=f"{prefix}/"
        )
        for each in found.get("Contents", ()):
            self.client("s3").delete_object(Bucket=names.WAREHOUSE, Key=each["Key"])

    def drop_moved_entries(self) -> None:
        """Drop entries of the catalogue that lead elsewhere than they did."""
        for name, entry in self._catalogue().items():
            before = self.before.catalogue.get(name)
            if before and entry and before["location"] != entry["location"]:
                database, _, table = name.partition(".")
                self.client("glue").delete_table(DatabaseName=database, Name=table)

    def is_kept(self, name: str) -> bool:
        """Return whether a landing file is there as a version, if no longer by its name."""
        bucket, _, key = name.partition("/")
        found = self.client("s3").list_object_versions(Bucket=bucket, Prefix=key)
        kept = {each["ETag"] for each in found.get("Versions", ())}
        return bucket == names.LANDING and self.before.objects[name] in kept

    def child(self, program: str, caller: str = names.STEPS) -> Child:
        """Return a program that calls the emulator as somebody; start it at first use."""
        name = f"{program}-{caller}"
        if name not in self._children:
            self._children[name] = self._started(program, caller, name)
        return self._children[name]

    def client(self, service: str) -> Any:
        """Return a client whom no policy is asked about."""
        return client(service, self._url, secret=self._secret)

    def close(self) -> None:
        """End all that was started."""
        for each in self._children.values():
            each.end()
        self._stop()

    @property
    def _url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def _start(self) -> None:
        argv = [sys.executable, "-m", "lake_emulator", "--region", names.REGION]
        argv += ["--state-dir", str(self._home), "--port", str(self._port)]
        with open(self.folder / "emulator.log", "ab") as log:
            env = {**os.environ, "PYTHONPATH": _PATH}
            self._emulator = subprocess.Popen(argv, env=env, stdout=log, stderr=log)
        until = time.monotonic() + SECONDS_TO_START
        while self._emulator.poll() is None and time.monotonic() < until:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self._port)):
                return
            time.sleep(0.05)
        raise RuntimeError(f"no emulator: see {self.folder / 'emulator.log'}")

    def _stop(self) -> None:
        """End it as a power cut does: what it answered is on disk."""
        self._emulator.kill()
        self._emulator.wait()

    def _make_places(self) -> None:
        s3 = self.client("s3")
        place = {"LocationConstraint": names.REGION}
        templates = load_template("data")["Resources"]
        for name, bucket in _BUCKETS.items():
            s3.create_bucket(Bucket=bucket, CreateBucketConfiguration=place)
            versions = templates[name]["Properties"].get("VersioningConfiguration")
            if versions:
                s3.put_bucket_versioning(
                    Bucket=bucket, VersioningConfiguration=versions
                )
            policy = self._policies["resources"][f"arn:aws:s3:::{bucket}"]
            s3.put_bucket_policy(Bucket=bucket, Policy=json.dumps(policy))
        self.client("ssm").put_parameter(
            Name=lake_files.ENVIRONMENT.erase_secret,
            Value="a secret of the tests",
            Type="SecureString",
        )
        release = {
            "release": "r1",
            "environment": to_data(lake_files.ENVIRONMENT),
            "domain": to_data(self._domain),
        }
        self._put(f"{RELEASE}/specs/{names.DOMAIN}.json", json.dumps(release))

    def _put(self, uri: str, text: str) -> None:
        bucket, _, key = uri[len("s3://") :].partition("/")
        self.client("s3").put_object(Bucket=bucket, Key=key, Body=text.encode())

    def _errors(self, run: str) -> str:
        """Return the errors in the reports of a run."""
        s3, found = self.client("s3"), []
        listed = s3.list_objects_v2(Bucket=names.WORK, Prefix=f"runs/{run}/")
        for each in listed.get("Contents", ()):
            if each["Key"].endswith(f"/{names.TABLE}.json"):
                body = s3.get_object(Bucket=names.WORK, Key=each["Key"])["Body"]
                report = json.load(body)
                if error := report.get("error"):
                    found.append(
                        f"{report['stage']}: {error['type']}: {error['message']}"
                    )
        return "; ".join(found)

    def _catalogue(self) -> Dict[str, Any]:
        """Return every entry of the catalogue, without what says when it was written."""
        glue, found = self.client("glue"), {}
        for database in glue.get_databases()["DatabaseList"]:
            name = database["Name"]
            found[name] = database.get("LocationUri", "")
            for each in glue.get_tables(DatabaseName=name)["TableList"]:
                found[f"{name}.{each['Name']}"] = {
                    "location": each["StorageDescriptor"].get("Location"),
                    "columns": each["StorageDescriptor"]["Columns"],
                    "parameters": each.get("Parameters"),
                    "optimizers": self._optimizers(name, each["Name"]),
                }
        return found

    def _optimizers(self, database: str, table: str) -> List[Any]:
        """Return the settings of each table optimizer that a table of the catalogue has."""
        entries = [
            {
                "catalogId": names.ACCOUNT,
                "databaseName": database,
                "tableName": table,
                "type": each,
            }
            for each in table_optimizers.SETTINGS
        ]
        found = self.client("glue").batch_get_table_optimizer(Entries=entries)
        return found["TableOptimizers"]

    def _settings(self) -> Dict[str, Any]:
        """Return the settings of the buckets that protect what is in them."""
        s3, found = self.client("s3"), {}
        for bucket in names.BUCKETS:
            for what in ("policy", "lifecycle_configuration", "versioning"):
                try:
                    reply = getattr(s3, f"get_bucket_{what}")(Bucket=bucket)
                except s3.exceptions.ClientError as error:
                    reply = {"none": error.response["Error"]["Code"]}
                reply.pop("ResponseMetadata", None)
                found[f"{what} of {bucket}"] = reply
        return found

    def _started(self, program: str, caller: str, name: str) -> Child:
        project = runtimes.PROJECT
        scratch = self.folder / name
        scratch.mkdir()
        made = runtimes.command(
            max(EMR_RELEASES),
            ["spark-submit", "none"],
            endpoint=self._url,
            secret=self._secret,
            scratch=scratch,
            properties={"spark.driver.memory": "1g"},
        )
        env = {**os.environ, **made.env}
        is_judged = caller != names.UNGUARDED
        env["AWS_ACCESS_KEY_ID"] = ROLE + caller if is_judged else KEY_ID
        env["AWS_REGION"] = env["AWS_DEFAULT_REGION"] = names.REGION
        env["PYSPARK_SUBMIT_ARGS"] = " ".join(
            [
                "--properties-file",
                made.argv[2],
                "--jars",
                _jars(program),
                "pyspark-shell",
            ]
        )
        env["PYTHONPATH"] = _PATH
        if program == "trino":
            env["TRINO_JAVA"] = str(java_25())
            env["TRINO_JARS"] = str(runtimes.jars_root() / "trino")
        if program == "readers":
            (boto,) = (project / ".venv-step").glob("lib/python3*/site-packages")
            env["PYTHONPATH"] += f"{os.pathsep}{boto}"
        venv = project / _VENVS.get(program, ".venv-spark")
        module = program if program in ("product", "author") else "engines"
        argv = [str(venv / "bin" / "python"), "-m", f"tests.hostile.{module}", program]
        return Child(argv, env, self.folder / f"{name}.log", scratch)


def _counts(now: Mapping[str, Any], before: Mapping[str, Any]) -> List[str]:
    gone = sum(1 for each in before if each not in now)
    new = sum(1 for each in now if each not in before)
    other = sum(1 for each in now if each in before and now[each] != before[each])
    counts = {"gone": gone, "new": new, "changed": other}
    return [f"{count} {what}" for what, count in counts.items() if count]


def _policies(domain: DomainSpec) -> Dict[str, Any]:
    """Return a deployment's policies, with those of two people beside it."""
    made = policies(lake_files.ENVIRONMENT, [domain])
    people = {name: [{"Statement": [_RIGHTS[name]]}] for name in _RIGHTS}
    return {**made, "roles": {**made["roles"], **people}}


def java_25() -> Optional[Path]:
    """Return the Java that Trino runs on, if this machine has it."""
    home = os.environ.get("JAVA_HOME_25_X64")
    found = [Path(home)] if home else sorted(Path("/usr/lib/jvm").glob("*-25-*"))
    javas = (each / "bin" / "java" for each in found)
    return next((each for each in javas if each.is_file()), None)


def can_play(program: str) -> bool:
    """Return whether what a program runs on is here."""
    jars = runtimes.jars_root() / "trino"
    return program != "trino" or bool(java_25() and jars.is_dir())


def _jars(program: str) -> str:
    """Return the jars that a program of Spark has beside those of every step."""
    found = [runtimes.SPARK_35.emr_jar("iceberg-spark3-runtime")]
    for folder in ("delta", "iceberg-aws") if program == "spark" else ():
        found += sorted((runtimes.jars_root() / folder).glob("*.jar"))
    return ",".join(map(str, found))
