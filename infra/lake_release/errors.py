"""Errors that stop a release, in words for the person who started it."""

from __future__ import annotations

from typing import Dict, NamedTuple, Type

from botocore.exceptions import BotoCoreError, ClientError

_ENDED = {
    *("ExpiredToken", "ExpiredTokenException", "RequestExpired"),
    *("InvalidClientTokenId", "UnrecognizedClientException"),
    *("TokenRefreshRequired", "ExpiredIdTokenException"),
}
"""AWS's error codes for expired credentials."""

_NO_CREDENTIALS = {
    *("NoCredentialsError", "CredentialRetrievalError", "TokenRetrievalError"),
    *("SSOError", "LoginError"),
}
"""Errors of botocore that say the same, by name: not every version has all of them."""

_NOT_RENEWED = "Credentials were refreshed, but"

AWS_ERRORS = (ClientError, BotoCoreError, RuntimeError)
"""What a call of AWS raises. RuntimeError is botocore's for credentials that it could
not renew; `as_release_error` raises any other again."""


class ReleaseError(Exception):
    """A deploy or rollback ended before it was complete.

    Fix: Follow the message, which also says what was changed, and run the same command
    again: it continues where it ended.
    """


class NotTried(ReleaseError):
    """MWAA or Airflow cannot be asked, which says nothing about the release.

    Fix: The release stays current. Deploy it again when Airflow runs DAGs; that repeats
    the trial run.
    """


class CredentialsEnded(ReleaseError):
    """The AWS credentials expired during a deploy.

    Fix: Get new credentials with a session of four hours and run the same command
    again.
    """


class Answer(NamedTuple):
    """What an error of MWAA's API means for a release, and what to do about it."""

    means: Type[ReleaseError]
    remedy: str


_AGAIN = "Deploy again in a few minutes."

ANSWERS: Dict[str, Answer] = {
    "AccessDeniedException": Answer(
        NotTried,
        "If the web server is private, deploy from inside its network "
        "(docs/deploy.md, `Where a deploy runs`); otherwise grant this action to the "
        "role that deploys.",
    ),
    "InternalServerException": Answer(NotTried, _AGAIN),
    "ResourceNotFoundException": Answer(
        NotTried,
        "Check the environment's name and region, or create it with the layer mwaa.",
    ),
    "RestApiClientException": Answer(
        NotTried,
        "Check that airflow:InvokeRestApi is granted for Airflow's role `User`, and "
        "that the DAG exists.",
    ),
    "RestApiServerException": Answer(
        ReleaseError, "Look at the logs of the web server and at the import errors."
    ),
    "ServiceUnavailableException": Answer(NotTried, _AGAIN),
    "ValidationException": Answer(
        NotTried,
        "Check the environment's state and the versions of the files that it "
        "installs.",
    ),
}
"""Every error of the calls that a release makes, by its name in AWS's model.

NotTried: cannot be asked. ReleaseError: asked and failed, so the release goes back.
"""

_OTHER = Answer(
    NotTried, "Check the network and AWS's message, then deploy again."
)  # no connection, throttling, errors that every service has


def answer_of(error: Exception) -> Answer:
    """Return what an error of AWS means."""
    return ANSWERS.get(_code(error), _OTHER)


def as_release_error(error: Exception, doing: str) -> ReleaseError:
    """Translate an error of AWS to a ReleaseError; `doing` is the call that it met."""
    if isinstance(error, RuntimeError) and _NOT_RENEWED not in str(error):
        raise error
    names = {each.__name__ for each in type(error).__mro__}
    if names & {"RuntimeError", *_NO_CREDENTIALS} or _code(error) in _ENDED:
        return CredentialsEnded(
            f"The credentials expired during {doing}: {error}. Get new ones that are "
            "valid for longer than --minutes."
        )
    answer = answer_of(error)
    return answer.means(f"{doing}: {error}. {answer.remedy}")


def _code(error: Exception) -> str:
    return error.response["Error"]["Code"] if isinstance(error, ClientError) else ""
