"""EMR's two writes that may be sent once only: RunJobFlow and AddJobFlowSteps.

Neither has a token that makes a repetition harmless, and botocore repeats a request
whose reply was lost: a second cluster, or every step twice. Here only a refusal
that did nothing is sent again; who gets no reply looks for what it asked for.
"""

from __future__ import annotations

import re
import shlex
import time
from typing import Any

from airflow.providers.amazon.aws.hooks.emr import EmrHook
from botocore.config import Config
from botocore.exceptions import (
    ClientError,
    ConnectionError,
    CredentialRetrievalError,
    HTTPClientError,
)

PAUSES = (1, 2, 4, 8, 16)  # seconds before each further try
_THROTTLED = {
    "Throttling",
    "ThrottlingException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "RequestThrottledException",
    "TooManyRequestsException",
}
_EXPIRED = {
    "ExpiredToken",
    "ExpiredTokenException",
    "RequestExpired",
    "RequestTimeout",
    "RequestTimeoutException",
}
_FAULTS = {
    "InternalError",
    "InternalFailure",
    "InternalServerError",
    "InternalServerException",
    "ServiceUnavailable",
    "ServiceUnavailableException",
    "SlowDown",
}
"""Faults of the service by name: not all of them come with a status of 500 or more."""

_NOT_YET = re.compile("cluster id .*is not valid", re.I)
"""EMR's error for a cluster that was just created, or that does not exist."""


class ReplyLost(RuntimeError):
    """EMR's reply to a request was lost, and EMR does not show whether it was carried out.

    Fix: Look for the run's cluster in EMR by its tags; then clear the failed task.
    `lake_reaper` terminates a cluster that nobody uses.
    """


class NonRetryingEmrHook(EmrHook):
    """The provider's hook, with writes that botocore does not repeat."""

    def create_job_flow(self, job_flow_overrides: dict[str, Any]) -> dict[str, Any]:
        """Create a cluster and return RunJobFlow's reply. Raises ReplyLost without
        one."""
        return self._send("run_job_flow", **job_flow_overrides)

    def add_job_flow_steps(  # type: ignore[override]
        self,
        job_flow_id: str,
        steps: Any = None,
        execution_role_arn: str | None = None,
        **_: Any,
    ) -> list[str]:
        """Submit steps and return their ids. Raises ReplyLost if EMR returns none."""
        request = {"JobFlowId": job_flow_id, "Steps": steps}
        if execution_role_arn:
            request["Steps"] = [_escaped(step) for step in steps]
            request["ExecutionRoleArn"] = execution_role_arn
        ids: list[str] = self._send("add_job_flow_steps", **request)["StepIds"]
        return ids

    def _send(self, name: str, **request: Any) -> dict[str, Any]:
        # A new one each time: a client writes its own mode into the dict of retries.
        once = Config(retries={"total_max_attempts": 1})
        # Next to what the connection says: a proxy, timeouts.
        client = self.get_client_type(config=(self.config or Config()).merge(once))
        for pause in PAUSES:
            try:
                return self.send(client, name, request)
            except ClientError as error:
                if error.response["Error"]["Code"] not in _THROTTLED:
                    raise
                self.log.info("EMR throttles requests; retrying in %s s.", pause)
                time.sleep(pause)
        return self.send(client, name, request)

    @staticmethod
    def send(client: Any, name: str, request: dict[str, Any]) -> dict[str, Any]:
        """Send one request, which is not sent again."""
        try:
            reply: dict[str, Any] = getattr(client, name)(**request)
            return reply
        except HTTPClientError as error:
            raise ReplyLost(f"{name}: no reply from EMR: {error}") from error
        except ClientError as error:
            if _may_have_worked(error):
                raise ReplyLost(f"{name}: {error}") from error
            raise


def is_passing(error: Exception) -> bool:
    """Return whether an error of AWS, or its silence, may pass in some minutes."""
    if not isinstance(error, ClientError):
        kinds = (HTTPClientError, ConnectionError, CredentialRetrievalError)
        return isinstance(error, kinds)
    details = error.response["Error"]
    is_named = details.get("Code") in _THROTTLED | _EXPIRED
    is_not_yet = bool(_NOT_YET.search(details.get("Message", "")))
    return is_named or is_not_yet or _is_of_the_server(error)


def _escaped(step: dict[str, Any]) -> dict[str, Any]:
    """Quote a step for EMR with a runtime role: its arguments pass a shell."""
    jar = step["HadoopJarStep"]
    args = [shlex.quote(argument) for argument in jar["Args"]]
    return {**step, "HadoopJarStep": {**jar, "Args": args}}


def _may_have_worked(error: ClientError) -> bool:
    """Return whether a request may have succeeded: not if refused, maybe after a
    server error."""
    return (
        _is_of_the_server(error) and error.response["Error"]["Code"] not in _THROTTLED
    )


def _is_of_the_server(error: ClientError) -> bool:
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status >= 500 or error.response["Error"].get("Code") in _FAULTS
