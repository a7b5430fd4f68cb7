"""Errors that stop a release, in words for the person who started it."""

from __future__ import annotations

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
    """Nothing that runs was changed, or the message says what was."""


class NotTried(ReleaseError):
    """Nobody could try the release, which says nothing about it."""


class CredentialsEnded(ReleaseError):
    """The credentials of who deploys ended before the deploy did."""


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
    return NotTried(f"{doing}: {error}")


def _code(error: Exception) -> str:
    return error.response["Error"]["Code"] if isinstance(error, ClientError) else ""
