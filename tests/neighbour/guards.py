"""Guards of what needs no pyspark, each of which can be taken away or made too strict."""

from __future__ import annotations

from typing import Any, Dict, Iterator

from lake_acceptance import claim, removal
from lake_acceptance.subject import ROOTS
from lake_airflow.emr import clusters as emr
from lake_airflow.operators import reaper
from lake_emulator import state_mark
from lake_local.capture import slots as noted
from lake_local.onboard import writing
from lake_local.workspace import dags_folder
from lake_release import airflow_bucket as released
from lake_release import mwaa
from lake_release.airflow_bucket import AirflowBucket
from lake_release.target import DAGS
from lake_release.mwaa import Airflow
from lake_release.store import listed
from lake_spec.platform.deployment import DEPLOYMENT_TAG, deployment

from tests.neighbour import acceptance_runs, airflow_bucket, clusters, folders, slots
from tests.neighbour.guard import Guard, TooStrict, always, setting
from tests.unit.lake_airflow.specs import ENVIRONMENT


def _puts_blindly(
    s3: Any, bucket: str, key: str, body: bytes, *, etag: Any, **more: Any
):
    s3.put_object(Bucket=bucket, Key=key, Body=body, **more)


def _deletes_blindly(self: AirflowBucket, key: str, etag: str) -> Iterator[str]:
    self._s3.delete_object(Bucket=self._bucket, Key=key)
    yield key


def _files_that_lie_there(self: AirflowBucket, release: str) -> Any:
    prefix = f"{DAGS}releases/{release}/"
    found = listed(self._s3, self._bucket, prefix)
    return [each["Key"][len(prefix) :] for each in found]


def _claims_blindly(s3: Any, uri: str, body: bytes) -> bool:
    claim.storage.put(s3, uri, claim.NAME, body)
    return True


def _by_name_alone(self: emr.ClusterFinder, name: Any = None, states: Any = ()) -> Any:
    pages = self.client.get_paginator("list_clusters")
    found = [each for page in pages.paginate() for each in page["Clusters"]]
    asked = states or emr.ALIVE
    return [
        self.describe(each["Id"])
        for each in found
        if name in (None, each["Name"]) and each["Status"]["State"] in asked
    ]


GUARDS: Dict[str, Guard] = {
    "the mark of objects": Guard(
        airflow_bucket.in_the_way, setting(AirflowBucket, "_is_ours", always(True))
    ),
    "If-None-Match and If-Match of what is put": Guard(
        airflow_bucket.overtaken_before_a_new_file,
        setting(released, "put", _puts_blindly),
    ),
    "If-Match of what is deleted": Guard(
        airflow_bucket.overtaken_before_a_delete,
        setting(AirflowBucket, "_delete", _deletes_blindly),
    ),
    "manifests of releases": Guard(
        airflow_bucket.beside_a_deployment,
        setting(AirflowBucket, "_own_files", _files_that_lie_there),
    ),
    "the place that Airflow reads": Guard(
        airflow_bucket.of_another_airflow, setting(Airflow, "check_reads", always(None))
    ),
    "a DAG for proofs alone": Guard(
        airflow_bucket.beside_a_deployment,
        setting(mwaa, "PROOF", airflow_bucket.THEIR_DAG),
    ),
    "the look for a use of the prefix": Guard(
        acceptance_runs.databases_in_use, setting(claim, "_refuse_used", always(None))
    ),
    "If-None-Match of a claim": Guard(
        acceptance_runs.another_run_at_once, setting(claim, "put", _claims_blindly)
    ),
    "whose claim it is": Guard(
        acceptance_runs.another_run,
        setting(
            claim, "claimed_roots", lambda s: [getattr(s.environment, r) for r in ROOTS]
        ),
    ),
    "the place of an acceptance run's table": Guard(
        acceptance_runs.beside_what_we_made,
        setting(
            removal,
            "_ours",
            lambda s, database: [e["Name"] for e in removal.glue_tables(s, database)],
        ),
    ),
    "the tag of its stack": Guard(
        acceptance_runs.beside_what_we_made,
        setting(removal, "_made_stack", always(True)),
    ),
    "the mark of a state directory": Guard(
        folders.named_with_state_dir, setting(state_mark, "check", always(None))
    ),
    "the first words of a generated DAG file": Guard(
        folders.in_a_state_directory,
        setting(dags_folder, "_is_generated", lambda path: path.suffix == ".py"),
    ),
    "the look for files in the way": Guard(
        folders.a_name_that_is_taken,
        setting(dags_folder, "_refuse_foreign", always(None)),
    ),
    "specs that exist": Guard(
        folders.edited_specs,
        setting(
            writing, "_write", lambda path, text, force: bool(path.write_text(text))
        ),
    ),
    "all tags of clusters": Guard(
        clusters.of_others, setting(emr.ClusterFinder, "living", _by_name_alone)
    ),
    "the tag of the deployment": Guard(
        clusters.of_others,
        setting(
            emr,
            "is_of",
            lambda c, e: emr.tags_of(c).get("lake:environment") == e.name,
        ),
    ),
    "the logs of clusters without that tag": Guard(
        clusters.of_others, setting(emr, "_logs_of", always(f"{ENVIRONMENT.logs}/"))
    ),
    "the tag of the Airflow": Guard(
        clusters.of_another_airflow, setting(reaper, "is_of_this_airflow", always(True))
    ),
    "the note of a slot": Guard(
        slots.of_colleagues, setting(noted, "_is_noted", always(True))
    ),
    "the look for a slot in use": Guard(
        slots.of_colleagues, setting(noted, "require_own", always(None))
    ),
    "what releases before put without a mark": TooStrict(
        airflow_bucket.of_the_release_before, setting(released, "UNMARKED", ())
    ),
    "files that a record has": TooStrict(
        airflow_bucket.of_the_release_before,
        setting(released, "_recorded", always(())),
    ),
    "records without an owner": TooStrict(
        airflow_bucket.of_the_release_before,
        setting(
            AirflowBucket,
            "_owns",
            lambda self, there: there.owner == self._target.owner,
        ),
    ),
    "state directories without a mark": TooStrict(
        folders.of_the_release_before,
        setting(state_mark, "_is_unmarked", always(False)),
    ),
    "slots without a note": TooStrict(
        slots.of_the_release_before, setting(noted, "_is_of_before", always(False))
    ),
    "clusters without the tag of a deployment": TooStrict(
        clusters.of_the_release_before,
        setting(
            emr,
            "is_of",
            lambda c, e: emr.tags_of(c).get(DEPLOYMENT_TAG) == deployment(e),
        ),
    ),
}
"""Each guard by what it goes by."""
