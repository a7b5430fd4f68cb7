"""What S3 answers when it refuses: the codes and status numbers of AWS."""

from __future__ import annotations

from typing import Mapping


class S3Error(Exception):
    """A refusal that a client sees as `ClientError` with this code."""

    def __init__(
        self, status: int, code: str, message: str, headers: Mapping[str, str] = {}
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers


def no_such_key(key: str, of_marker: Mapping[str, str] = {}) -> S3Error:
    message = f"The specified key does not exist: {key}"
    return S3Error(404, "NoSuchKey", message, of_marker)


def is_delete_marker(key: str, of_marker: Mapping[str, str]) -> S3Error:
    message = f"The specified version is a delete marker: {key}"
    return S3Error(405, "MethodNotAllowed", message, of_marker)


def no_such_version(version: str) -> S3Error:
    message = f"The specified version does not exist: {version}"
    return S3Error(404, "NoSuchVersion", message)


def no_such_bucket(bucket: str) -> S3Error:
    return S3Error(
        404, "NoSuchBucket", f"The specified bucket does not exist: {bucket}"
    )


def no_such_upload(upload: str) -> S3Error:
    return S3Error(
        404, "NoSuchUpload", f"The specified upload does not exist: {upload}"
    )


def precondition_failed(condition: str) -> S3Error:
    message = "At least one of the pre-conditions you specified did not hold"
    return S3Error(412, "PreconditionFailed", f"{message}: {condition}")


def not_covered(what: str) -> S3Error:
    return S3Error(
        501,
        "NotImplemented",
        f"The emulator does not cover {what}: see emulator/COVERAGE.md",
    )
