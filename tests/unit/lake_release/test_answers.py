"""Every error that AWS's model of MWAA has for our calls, and what becomes of a release.

The errors are read from botocore's model, so that one which AWS adds fails here until
`ANSWERS` says what it means. An error of InvokeRestApi means one of two results: Airflow
cannot be asked (the release stays, not proven), or was asked and failed (it goes back).
"""

from __future__ import annotations

import boto3
import pytest
from lake_release.errors import ANSWERS, NotTried, ReleaseError, as_release_error

from tests.unit.lake_release.buckets import REGION
from tests.unit.lake_release.conftest import write_dags
from tests.unit.lake_release.test_proof import deploy_another, proven, unproven

CALLS = ("GetEnvironment", "InvokeRestApi", "UpdateEnvironment")
ASKED_AND_FAILED = {"RestApiServerException"}


def errors_of(operation: str) -> dict[str, int]:
    """The errors of an operation by name, with the status that AWS's model gives."""
    model = boto3.client("mwaa", region_name=REGION).meta.service_model
    return {
        shape.name: shape.metadata["error"]["httpStatusCode"]
        for shape in model.operation_model(operation).error_shapes
    }


def unanswered(errors) -> list[str]:
    return sorted(set(errors) - set(ANSWERS))


OF_THE_MODEL = {name for operation in CALLS for name in errors_of(operation)}
OF_AIRFLOW = sorted(errors_of("InvokeRestApi").items())


def test_every_error_of_the_model_has_an_answer_and_no_answer_is_of_another():
    assert unanswered(OF_THE_MODEL) == []
    assert set(ANSWERS) == OF_THE_MODEL
    failed = {name for name, a in ANSWERS.items() if a.means is not NotTried}
    assert failed == ASKED_AND_FAILED


def test_an_error_that_aws_adds_is_found():
    assert unanswered([*OF_THE_MODEL, "ConflictException"]) == ["ConflictException"]


@pytest.mark.parametrize("error, status", OF_AIRFLOW, ids=lambda each: str(each))
def test_an_error_of_the_rest_api_is_one_of_two_results(
    lake, mwaa, airflow, error, status
):
    first = lake.deploy(airflow=airflow)
    write_dags(lake.project, "two", "moma.py")
    mwaa.fails = lambda method, path: (status, error, status) if path else None
    mwaa.shows = [lake.built().id]
    if error in ASKED_AND_FAILED:
        with pytest.raises(ReleaseError) as failed:
            lake.deploy(airflow=airflow)
        said, again = str(failed.value).split("\n")
        assert again == f"{first} is the current release again."
        assert lake.current() == first
    else:
        second = lake.deploy(airflow=airflow)
        said = lake.said[-2]
        assert lake.said[-1] == unproven(second)
        assert lake.current() == second
        assert proven(lake) == [False, True]
    assert "lake-prod" in said and error in said and "GET /dags" in said
    assert said.endswith(ANSWERS[error].remedy)


@pytest.mark.parametrize("operation", ["GetEnvironment", "UpdateEnvironment"])
def test_an_error_before_the_switch_leaves_the_release_before(
    lake, mwaa, airflow, operation
):
    first = lake.deploy(airflow=airflow)
    (lake.project / "requirements" / "airflow.txt").write_text("newer\n")
    write_dags(lake.project, "two", "moma.py")
    for error, status in sorted(errors_of(operation).items()):
        if (operation, error) == ("GetEnvironment", "ResourceNotFoundException"):
            continue  # no error: there is no environment yet
        mwaa.fails = lambda method, path: (
            (status, error) if method == operation else None
        )
        with pytest.raises(ReleaseError) as refused:
            lake.deploy(airflow=airflow)
        said = str(refused.value)
        assert said.startswith(f"{operation} of lake-prod: ") and error in said
        assert said.endswith(ANSWERS[error].remedy)
        assert lake.current() == first


def test_an_error_that_every_service_has_cannot_be_asked_and_says_what_to_do(
    lake, mwaa, airflow
):
    lake.deploy(airflow=airflow)
    mwaa.fails = lambda method, path: (400, "ThrottlingException") if path else None
    second = deploy_another(lake, mwaa, airflow)
    assert lake.said[-1] == unproven(second)
    assert "ThrottlingException" in lake.said[-2]
    assert lake.said[-2].endswith("then deploy again.")


def test_no_route_to_the_web_server_cannot_be_asked():
    error = as_release_error(OSError("no route"), "InvokeRestApi of lake-prod")
    assert type(error) is NotTried
    assert str(error).startswith("InvokeRestApi of lake-prod: no route. Check the")
