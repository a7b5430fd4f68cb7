"""Roles of infra/ may do what was called in their name, of the things it was called of."""

from __future__ import annotations

from lake_spec.load import load_environment, load_lake
from tests.deploy.recorded import Judge, clusters_of


def test_every_call_of_the_story_is_granted_to_the_role_of_its_caller(lake, repeated):
    emr = lake.aws("emr")

    def steps(cluster):
        asked = {"ClusterId": cluster["Id"]}
        ids = [each["Id"] for each in lake.steps(cluster)]
        return [emr.describe_step(**asked, StepId=each)["Step"] for each in ids]

    found = [(each, steps(each)) for each in repeated.clusters]
    judge = Judge(
        load_environment(lake.environment.stem, lake.environment.parent),
        list(load_lake(lake.tables).domains.values()),
        clusters_of(found),
    )
    assert judge.faults(lake.calls()) == []
    steps_of = {"Tables", "FindTables", "Runs", "ReadLandingFiles", "Catalogue"}
    assert steps_of <= judge.used["lake-local-steps-moma"]
    assert steps_of <= judge.used["lake-local-steps-days"]
    airflow = {"MakeClustersOfThisEnvironment", "StepsAsTheRolesOfDomains", "FindRuns"}
    assert airflow <= judge.used["airflow"]
