"""What EMR answers when it refuses: the codes of AWS."""

from __future__ import annotations


class EmrError(Exception):
    """A refusal that a client sees as `ClientError` with this code."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status


def invalid_request(message: str) -> EmrError:
    return EmrError("InvalidRequestException", message)


def validation(message: str) -> EmrError:
    return EmrError("ValidationException", message)


def not_covered(what: str) -> EmrError:
    message = f"The emulator does not cover {what}: see emulator/COVERAGE.md"
    return EmrError("NotCovered", message, status=501)
