"""Roles of infra/ may do what was called in their name, of the things it was called of."""

from __future__ import annotations

import pytest

from lake_check.parsing.loader import load_environment, load_lake
from tests.deploy.recorded import Judge, clusters_of

STORIES = [
    pytest.param("revived", ["moma"], id="by day"),
    pytest.param("queued", ["moma"], id="maintenance", marks=pytest.mark.nightly),
    pytest.param("backfilled", ["moma", "days"], id="night", marks=pytest.mark.nightly),
    pytest.param("treated", ["clinic"], id="products", marks=pytest.mark.nightly),
]


@pytest.mark.parametrize("chapter, domains", STORIES)
def test_every_call_of_the_story_is_granted_to_the_role_of_its_caller(
    lake, request, chapter, domains
):
    request.getfixturevalue(chapter)
    emr = lake.aws("emr")

    def steps(cluster):
        asked = {"ClusterId": cluster["Id"]}
        ids = [each["Id"] for each in lake.steps(cluster)]
        return [emr.describe_step(**asked, StepId=each)["Step"] for each in ids]

    found = [(each, steps(each)) for each in lake.clusters()]
    judge = Judge(
        load_environment(lake.environment.stem, lake.environment.parent),
        list(load_lake(lake.tables).domains.values()),
        clusters_of(found),
    )
    assert judge.faults(lake.calls()) == []
    steps_of = {"Tables", "FindTables", "Runs", "ReadLandingFiles", "Catalogue"}
    for domain in domains:
        assert steps_of <= judge.used[f"lake-local-steps-{domain}"]
    airflow = {"MakeClustersOfThisEnvironment", "StepsAsTheRolesOfDomains", "FindRuns"}
    assert airflow <= judge.used["airflow"]
