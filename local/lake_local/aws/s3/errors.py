"""What S3 answers when it refuses: the codes and status numbers of AWS."""

from __future__ import annotations


class S3Error(Exception):
    """A refusal that a client sees as `ClientError` with this code."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


def no_such_key(key: str) -> S3Error:
    return S3Error(404, "NoSuchKey", f"The specified key does not exist: {key}")


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
        f"The emulator does not cover {what}: see local/COVERAGE.md",
    )
