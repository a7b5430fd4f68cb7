"""One lake on this machine, driven by its command line and read from outside."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from lake_emulator import client
from lake_emulator.calls import FILE as CALLS
from lake_emulator.keys import secret_of
from lake_emulator.pages import ask
from lake_local.airflow.rest import Airflow
from lake_spec.layout.run_key import run_key
from tests.e2e import environment
from tests.e2e.command_line import CommandLine, Done
from tests.e2e.museum_lake import write_landing_files, write_specs

BUCKET = "lake"
APRIL = "2016-04-01"
VERSION_COLUMNS = "constituent_id,wiki_qid,valid_from,valid_to,is_current"
ADDRESS = re.compile(r"^AWS +(http://127\.0\.0\.1:\d+) ", re.MULTILINE)
_PASSWORD = re.compile(r"^Airflow +(\S+)\n +user (\S+), password (\S+)$", re.MULTILINE)
_RUN = re.compile(r"^(\w+)  run (\S+)  release \S+$", re.MULTILINE)


@dataclass(frozen=True)
class Run:
    """A run that ended, and all that it left to be read."""

    done: Done
    dag_id: str
    run_id: str
    key: str
    cluster: Dict[str, Any]
    steps: List[Dict[str, Any]]
    summary: Dict[str, Any]
    reports: Dict[str, Dict[str, Any]]

    @property
    def name(self) -> str:
        return f"{self.dag_id}/{self.key}"

    def files(self, report: str) -> List[Tuple[Any, ...]]:
        """Landing files of `<stage>/<table>`: path, landed and the four parts."""
        parts = ("accepted", "unchanged", "duplicates", "quarantined")
        return [
            (each["path"], each["landed"], *(each[part] for part in parts))
            for each in self.reports[report]["files"]
        ]


@dataclass(frozen=True)
class Figures:
    """What can be counted of a museum's table."""

    current: int
    current_without_qid: int
    versions: int
    versions_open: int
    in_april: int
    in_april_without_qid: int


class Lake:
    """A home and a tables folder of their own; nothing of it leaves `folder`."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.tables = folder / "tables"
        write_specs(self.tables)
        self.files = write_landing_files(folder / "sources")
        self.environment = environment.write(folder / "environment")
        self.command = CommandLine(
            home=self.home,
            tables=self.tables,
            environment=self.environment,
            output=folder / "output",
        )
        self._url = ""

    def up(self) -> None:
        """Bring it up, or find out where it is up."""
        told = self.command("up").out
        self._url = ADDRESS.search(told)[1]
        url, user, password = _PASSWORD.search(told).groups()
        self.airflow = Airflow(url, user=user, password=password)

    def aws(self, service: str) -> Any:
        """A client of the emulator that is up."""
        return client(service, self._url, secret=secret_of(self.home))

    def fault(self, kind: str, call: str, **more: Any) -> None:
        """Let the emulator do this to the next call of that name."""
        rule = json.dumps({"kind": kind, "call": call, **more}).encode()
        secret = secret_of(self.home)
        ask(self._url, "faults", secret=secret, method="POST", body=rule).close()

    def land(self, file: Path, to: str) -> None:
        """Land a file under an address of the museum."""
        self.command("put", str(file), to)

    def run(self, dag_id: str, *options: str, code: int = 0) -> Run:
        """Run a DAG to its end."""
        return self.ended(self.command("run", dag_id, *options, code=code))

    def ended(self, done: Done) -> Run:
        """What a run left."""
        return self.runs_of(done)[0]

    def runs_of(self, done: Done) -> List[Run]:
        """What the runs of a command left, in their order."""
        return [self._left(done, *found) for found in _RUN.findall(done.err)]

    def _left(self, done: Done, dag_id: str, run_id: str) -> Run:
        key = run_key(run_id)
        cluster = next(c for c in self.clusters() if tags(c).get("lake:run") == key)
        steps = self.steps(cluster)
        found = self._json_below(f"runs/{dag_id}/{key}/")
        summary = found.pop("summary")
        reports = {name: each for name, each in found.items() if "stage" in each}
        return Run(done, dag_id, run_id, key, cluster, steps, summary, reports)

    def clusters(self) -> List[Dict[str, Any]]:
        """Every cluster there ever was, as EMR describes it."""
        emr = self.aws("emr")
        listed = emr.get_paginator("list_clusters").paginate().build_full_result()
        ids = [each["Id"] for each in listed["Clusters"]]
        return [emr.describe_cluster(ClusterId=each)["Cluster"] for each in ids]

    def steps(self, cluster: Dict[str, Any]) -> List[Dict[str, Any]]:
        """The steps of a cluster, the last one first."""
        pages = self.aws("emr").get_paginator("list_steps")
        return pages.paginate(ClusterId=cluster["Id"]).build_full_result()["Steps"]

    def holder(self) -> Optional[str]:
        """The run that has the lease of the museum."""
        return self._json_below("runs/leases/").get("moma", {}).get("holder")

    def receipt(self, domain: str, request: str) -> Dict[str, Any]:
        """What took the place of a request to erase."""
        return self._json_below(f"runs/erase/{domain}/")[request]

    def living_clusters(self) -> List[Dict[str, Any]]:
        """Those that have not ended."""
        return [c for c in self.clusters() if "TERMINATED" not in c["Status"]["State"]]

    def calls(self) -> List[Dict[str, str]]:
        """Every call that the emulator was asked, each once."""
        lines = (self.home / CALLS).read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def make_cluster(self, environment: str) -> str:
        """A cluster of nobody's run, which may be no hour old; its id."""
        tags = {"lake:environment": environment, "lake:max-hours": "0"}
        instances = {
            "InstanceCount": 1,
            "MasterInstanceType": "m7g.xlarge",
            "KeepJobFlowAliveWhenNoSteps": True,
        }
        made = self.aws("emr").run_job_flow(
            Name="lake left over",
            ReleaseLabel="emr-7.13.0",
            Instances=instances,
            JobFlowRole="EMR_EC2_DefaultRole",
            ServiceRole="EMR_DefaultRole_V2",
            Tags=[{"Key": key, "Value": value} for key, value in tags.items()],
        )
        return made["JobFlowId"]

    def objects(self, prefix: str) -> Dict[str, Tuple[str, Any]]:
        """Every object below a prefix with its ETag and time: equal means untouched."""
        pages = self.aws("s3").get_paginator("list_objects_v2")
        found = pages.paginate(Bucket=BUCKET, Prefix=prefix).build_full_result()
        return {
            o["Key"]: (o["ETag"], o["LastModified"]) for o in found.get("Contents", ())
        }

    def glue_tables(self) -> Dict[str, Dict[str, str]]:
        """Columns and their types of the museum's tables in the catalogue."""
        pages = (
            self.aws("glue").get_paginator("get_tables").paginate(DatabaseName="moma")
        )
        found = pages.build_full_result()["TableList"]
        return {t["Name"]: _columns(t) for t in found}

    def shown(self, *questions: Tuple[str, ...]) -> List[str]:
        """What `show` prints for several questions asked at once."""
        asked = [self.command.start("show", *each) for each in questions]
        try:
            return [each.end().out for each in asked]
        finally:
            for each in asked:
                each.stop()

    def figures(self, table: str) -> Figures:
        """Count by two commands what takes many to ask one by one."""
        artists = (table, "--columns", "constituent_id,wiki_qid")
        history = (table, "--layer", "history", "--columns", VERSION_COLUMNS)
        as_csv = ("--format", "csv")
        now, versions = map(_rows, self.shown((*artists, *as_csv), (*history, *as_csv)))
        april = [each for each in versions if _is_valid(each, APRIL)]
        return Figures(
            current=len(now),
            current_without_qid=_without_qid(now),
            versions=len(versions),
            versions_open=sum(each["is_current"] == "true" for each in versions),
            in_april=len(april),
            in_april_without_qid=_without_qid(april),
        )

    def _json_below(self, prefix: str) -> Dict[str, Any]:
        s3 = self.aws("s3")
        return {
            key[len(prefix) : -len(".json")]: json.load(
                s3.get_object(Bucket=BUCKET, Key=key)["Body"]
            )
            for key in self.objects(prefix)
            if key.endswith(".json")
        }


def tags(cluster: Dict[str, Any]) -> Dict[str, str]:
    """A cluster's tags by name."""
    return {tag["Key"]: tag["Value"] for tag in cluster["Tags"]}


def step(run: Run, name: str) -> Optional[Dict[str, Any]]:
    """The step whose name begins with a stage's."""
    return next((s for s in run.steps if s["Name"].startswith(f"{name} ")), None)


def _rows(text: str) -> List[Dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def _columns(table: Dict[str, Any]) -> Dict[str, str]:
    return {c["Name"]: c["Type"] for c in table["StorageDescriptor"]["Columns"]}


def _is_valid(version: Dict[str, str], at: str) -> bool:
    """Times are ISO text in UTC; no end is empty."""
    return version["valid_from"] <= at and (
        at < version["valid_to"] or not version["valid_to"]
    )


def _without_qid(rows: List[Dict[str, str]]) -> int:
    return sum(not each["wiki_qid"] for each in rows)
