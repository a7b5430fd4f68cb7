"""Make the archive of classes with which the JVM of a step starts faster.

    python -m lake_local.emulator.class_data

setup.sh runs it once for each Java, Spark and Hudi. It plays a small table in an emulator
of its own: a first load, then an incremental run, at whose end the JVM writes the classes
that it has loaded, parsed and checked (`-XX:ArchiveClassesAtExit`). A step maps them into
its memory. Nothing depends on the archive: where it is missing or does not match, the JVM
reads the jars.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Dict

from lake_check.parsing.loader import load_domain
from lake_emulator import DEFAULT_REGION, client, runtimes
from lake_emulator.server import Emulator
from lake_spec.model import EnvironmentSpec
from lake_spec.model.json_codec import to_data
from lake_spec.platform.aws_releases import EMR_RELEASES
from lake_spec.state.lease import Lease, lease_uri

BUCKET = "lake"
RUN = "things_incremental/1"
STEPS = ("full_load", "incremental")
DOMAIN = """\
name: things
description: A table whose runs load the classes of a step
owner: set-up
"""
TABLE = """\
name: things
description: Things that change
owner: set-up
source:
  kind: feed
  path: things/things
  load: "load/*"
  changes: "changes/*"
  format: {type: csv}
  operation: {column: op}
columns: {id: int, name: string, price: "decimal(12,2)", at: timestamp}
key: [id]
order_by: [at]
effective_at: at
storage: {type: merge_on_read, buckets: 1}
"""
FILES = {
    "load/1.csv": "id,name,price,at\n"
    + "".join(f"{n},thing {n},{n}.50,2026-01-01\n" for n in range(100)),
    "changes/1.csv": "op,id,name,price,at\n"
    + "".join(f"U,{n},changed {n},{n}.75,2026-01-02\n" for n in range(10)),
}


def main() -> None:
    """Make the archive in its folder. Raises what a step that fails raises."""
    runtime = runtimes.SPARK_35
    folder = runtime.class_data
    (folder / runtimes.EMPTY).mkdir(parents=True, exist_ok=True)
    for old in folder.glob(runtimes.ARCHIVE.format(size="*")):
        old.unlink()
    made = folder / "made.jsa"
    try:
        with tempfile.TemporaryDirectory(prefix="class-data-") as scratch:
            _play(Path(scratch), made)
        name = runtimes.ARCHIVE.format(size=made.stat().st_size)
        made.rename(folder / name)
    finally:
        made.unlink(missing_ok=True)


def _play(scratch: Path, archive: Path) -> None:
    """Run both steps; the JVM of the last one writes the archive as it ends."""
    emulator = Emulator(scratch / "state")
    emulator.start()
    try:
        _land(emulator, scratch / "tables")
        for nth, stage in enumerate(STEPS, start=1):
            if nth == len(STEPS):
                more = f'"-XX:ArchiveClassesAtExit={archive}" -Xlog:cds*=off'
                os.environ["LAKE_JAVA_OPTIONS"] = f"{runtimes.JAVA_OPTIONS} {more}"
            _step(emulator, scratch / stage, stage)
    finally:
        emulator.stop()


def _land(emulator: Emulator, tables: Path) -> None:
    """Put what a run finds: landing files, its release and its lease."""
    (tables / "things").mkdir(parents=True)
    (tables / "things" / "_domain.yml").write_text(DOMAIN)
    (tables / "things" / "things.yml").write_text(TABLE)
    places = ("landing", "warehouse", "artifacts", "runs", "logs")
    roots: Dict[str, Any] = {place: f"s3://{BUCKET}/{place}" for place in places}
    environment = EnvironmentSpec(name="set_up", region=DEFAULT_REGION, **roots)
    release = {
        "release": "set-up",
        "environment": to_data(environment),
        "domain": to_data(load_domain("things", tables)),
    }
    objects = {f"landing/things/things/{name}": text for name, text in FILES.items()}
    objects["artifacts/specs/things.json"] = json.dumps(release)
    lease = lease_uri("runs", "things")
    objects[lease] = json.dumps(Lease(RUN, 1).to_data())
    s3 = client("s3", emulator.url, secret=emulator.secret)
    place = {"LocationConstraint": DEFAULT_REGION}
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration=place)
    for key, text in objects.items():
        s3.put_object(Bucket=BUCKET, Key=key, Body=text.encode())


def _step(emulator: Emulator, scratch: Path, stage: str) -> None:
    """Run a stage and the history after it; CalledProcessError if that fails."""
    scratch.mkdir()
    argv = ["spark-submit", str(runtimes.PROJECT / "spark_jobs" / "main.py")]
    argv += ["--release", f"s3://{BUCKET}/artifacts", "--region", DEFAULT_REGION]
    argv += ["--domain", "things", "--stage", stage, "--then", "scd2"]
    argv += ["--run", RUN, "--lease-token", "1"]
    made = runtimes.command(
        max(EMR_RELEASES),
        argv,
        endpoint=emulator.url,
        secret=emulator.secret,
        scratch=scratch,
        properties={},
    )
    # What a release brings as a zip: our code, and boto3 of the runtime's Python.
    code = os.pathsep.join(str(runtimes.PROJECT / n) for n in ("dags", "spark_jobs"))
    env = {**os.environ, **made.env, "PYTHONPATH": code}
    subprocess.run(made.argv, env=env, cwd=scratch, check=True)


if __name__ == "__main__":
    main()
