"""Things of other teams in the account and the folders of the lake, which stay as they are."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping

from tests.e2e.lake import BUCKET, Lake

TEAM = "team"
"""Their bucket, their database and the name of all else of theirs."""

KEYS = (
    *("warehouse/team/orders/part-0.parquet", "warehouse/moma/team/part-0.parquet"),
    *("warehouse/moma/artists-of-2015/current/a.parquet", "warehouse/_team/a.json"),
    *("landing/team/artists/2016.csv", "landing/moma/team/artists_2016-03-03.csv.gz"),
    *("landing/moma/artists.csv", "landing/artists/artists_2016-03-03.csv.gz"),
    *("runs/team/manual/1.json", "runs/team_full_load/manual-1/summary.json"),
    *("runs/erase/team/now.json", "runs/leases/team.json"),
    *("artifacts/releases/team/specs/moma.json", "artifacts/team.jar"),
    *("logs/team/nightly/stdout.gz", "team.txt", "releases/latest.json"),
)
"""Beside ours, under the lake's own roots and names."""

DAG = '''"""A DAG of a team, in the folder that Airflow reads."""

from airflow.sdk import DAG

with DAG("team_nightly", schedule=None):
    pass
'''


class Others:
    """What a team put there before the first run; `changed` says what became of it."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._dag = lake.home / "dags" / "team_nightly.py"
        self._note = lake.tables / "moma" / "NOTES.md"
        self._dag.write_text(DAG, encoding="utf-8")
        self._note.write_text("Ask the museum before you change a spec.\n")
        self._put()
        self._before = self._seen()

    def __len__(self) -> int:
        return len(self._before)

    def changed(self) -> List[str]:
        """The things that are gone or others now."""
        now = self._seen()
        return [name for name, each in self._before.items() if now.get(name) != each]

    def _put(self) -> None:
        s3, glue = self._lake.aws("s3"), self._lake.aws("glue")
        region = s3.meta.region_name
        s3.create_bucket(
            Bucket=TEAM, CreateBucketConfiguration={"LocationConstraint": region}
        )
        for bucket in (BUCKET, TEAM):
            for key in KEYS:
                s3.put_object(
                    Bucket=bucket, Key=key, Body=json.dumps({"of": TEAM, "key": key})
                )
        glue.create_database(DatabaseInput={"Name": TEAM, "Description": "A team's"})
        for name in ("artists", "works"):
            glue.create_table(DatabaseName=TEAM, TableInput=_table(name))
        glue.create_partition(
            DatabaseName=TEAM, TableName="works", PartitionInput=_partition()
        )
        self._lake.aws("ssm").put_parameter(Name="/team/a", Value="1", Type="String")
        self._lake.aws("secretsmanager").create_secret(
            Name="team/database", SecretString="{}"
        )

    def _seen(self) -> Dict[str, Any]:
        """Each thing with all that says whether it is as it was."""
        found: Dict[str, Any] = {
            str(each): each.read_bytes() if each.is_file() else None
            for each in (self._dag, self._note)
        }
        s3, glue = self._lake.aws("s3"), self._lake.aws("glue")
        for bucket in (BUCKET, TEAM):
            pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket)
            for each in pages.build_full_result()["Contents"]:
                if each["Key"] in KEYS:
                    said = (each["ETag"], each["LastModified"])
                    found[f"{bucket}/{each['Key']}"] = said
        for each in glue.get_tables(DatabaseName=TEAM)["TableList"]:
            found[f"table {each['Name']}"] = each
        asked = {"DatabaseName": TEAM, "TableName": "works"}
        found["partition"] = glue.get_partitions(**asked)["Partitions"]
        found["database"] = glue.get_database(Name=TEAM)["Database"]
        ssm, secrets = self._lake.aws("ssm"), self._lake.aws("secretsmanager")
        found["parameter"] = ssm.get_parameter(Name="/team/a")["Parameter"]
        secret = secrets.get_secret_value(SecretId="team/database")
        found["secret"] = (secret["VersionId"], secret["SecretString"])
        return found


def _table(name: str) -> Mapping[str, Any]:
    columns = [{"Name": "id", "Type": "int"}]
    location = f"s3://{BUCKET}/warehouse/team/{name}"
    return {
        "Name": name,
        "TableType": "EXTERNAL_TABLE",
        "Parameters": {"of": TEAM},
        "PartitionKeys": [{"Name": "day", "Type": "date"}],
        "StorageDescriptor": {"Columns": columns, "Location": location},
    }


def _partition() -> Mapping[str, Any]:
    location = f"s3://{BUCKET}/warehouse/team/works/day=2016-03-03"
    return {
        "Values": ["2016-03-03"],
        "StorageDescriptor": {
            "Columns": [{"Name": "id", "Type": "int"}],
            "Location": location,
        },
    }
