"""Steps as main.py runs them, on a lake in a folder whose domain has a lease."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, List, Optional

from lake_spec.model import DomainSpec
from lake_spec.model.json_codec import to_data
from lake_spec.state.lease import Lease, lease_uri
from lake_spark.step import application
from lake_spark.storage.object_store import FolderStore
from tests.spark.lake import Lake


def grant(
    root: Path, run: Optional[str], token: int = 1, domain: str = "tests"
) -> None:
    """What Airflow writes when a run is given the lease, or gives it back (None)."""
    said = json.dumps(Lease(run, token).to_data()).encode()
    FolderStore().write(lease_uri(f"file://{root}/runs", domain), said)


class Interrupted(FolderStore):
    """A store in whose `at`-th look at a lease something happens just before."""

    def __init__(self, at: int, happens: Callable[[], Any]) -> None:
        self.looks, self._at, self._happens = 0, at, happens

    def read(self, uri: str, *, limit: Optional[int] = None) -> bytes:
        """An object's bytes; of the lease, as it is after what happens."""
        if "/leases/" in uri:
            self.looks += 1
            if self.looks == self._at:
                self._happens()
        return super().read(uri, limit=limit)


class Steps:
    """Runs the stages of one table's domain as steps, each by the grant it is given."""

    def __init__(self, lake: Lake, monkeypatch: Any, **domain: Any) -> None:
        self.lake, self._monkeypatch = lake, monkeypatch
        monkeypatch.setattr(application, "open_session", lambda name: lake.spark)
        words = {"description": "Tables of the tests", "owner": "test-team"}
        spec = DomainSpec(name="tests", tables=lake.domain, **words, **domain)
        self._release = {
            "release": "r1",
            "environment": to_data(lake.environment),
            "domain": to_data(spec),
        }
        (lake.root / "specs").mkdir(exist_ok=True)
        (lake.root / "specs" / "tests.json").write_text(json.dumps(self._release))

    def step(
        self,
        stage: str,
        run: str,
        token: int = 1,
        *more: str,
        store: Optional[FolderStore] = None,
    ) -> int:
        """One step's exit code; its store is the folder, or one that is interrupted."""
        argv: List[str] = [
            "--release",
            f"file://{self.lake.root}",
            "--region",
            "eu-central-1",
        ]
        argv += ["--domain", "tests"]
        argv += ["--run", run, "--lease-token", str(token), "--stage", stage, *more]
        with self._monkeypatch.context() as patched:
            patched.setattr(
                application, "open_store", lambda uri, region: store or FolderStore()
            )
            return application.main(argv)

    def report(self, run: str, stage: str) -> Any:
        """What a step said of the lake's table."""
        name = f"{run}/{stage}/{self.lake.spec.name}.json"
        return json.loads((self.lake.root / "runs" / name).read_text())

    def completed(self) -> List[str]:
        """Names of what was completed on the timelines of the lake's tables."""
        found = (self.lake.root / "warehouse").rglob(".hoodie/timeline/*")
        ends = (".requested", ".inflight", ".crc")
        return sorted(
            str(each)
            for each in found
            if each.is_file() and not each.name.endswith(ends)
        )
