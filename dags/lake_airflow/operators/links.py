"""Links of a task in Airflow's pages: the run's page, and the logs of its step.

The provider adds those to the EMR cluster and its log folder. A worker computes a link
when its task ends and hands it on as an XCom, so that the web server needs none of this
code. The run's page is shown by the plugin (`plugins/`).
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from typing import Any
from urllib.parse import quote, urlencode

from airflow.sdk import BaseOperatorLink

from lake_airflow.reporting.notifier import airflow_address

PAGES = "/lake"
"""Where the plugin's pages are, below the address of Airflow."""

log = logging.getLogger(__name__)


class _Link(BaseOperatorLink):
    """A link that is left out where it cannot be made: Airflow 3.0 fails the task."""

    @abstractmethod
    def url(self, operator: Any, ti: Any) -> str:
        """Return the URL; empty for none."""

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """Return the URL of the link for a task instance that ends; empty for none."""
        try:
            return self.url(operator, ti_key)
        except Exception:
            log.exception("No link %r.", self.name)
            return ""


class RunPageLink(_Link):
    """Leads to the page of the run: its tables, steps, cluster and cost."""

    name = "Lake run"

    def url(self, operator: Any, ti: Any) -> str:
        """Return the URL of the run's page."""
        return f"{airflow_address()}{run_path(ti.dag_id, ti.run_id)}"


class StepLogLink(_Link):
    """Leads to the log of the stage's first step that failed, else of its last one."""

    name = "Step log"

    def url(self, operator: Any, ti: Any) -> str:
        """Return the log's URL in the S3 console."""
        logs = [end for end in operator.ends if end.get("log")]
        failed = [end for end in logs if end["state"] != "COMPLETED"]
        chosen = (*failed[:1], *logs[-1:])
        return (
            console_link(chosen[0]["log"], operator.environment.region)
            if chosen
            else ""
        )


def run_path(dag_id: str, run_id: str) -> str:
    """Return the path of a run's page."""
    return f"{PAGES}/runs/{quote(dag_id, safe='')}/{quote(run_id, safe='')}"


def console_link(uri: str, region: str) -> str:
    """Return the URL of an object in the S3 console; empty for another address."""
    scheme, _, rest = uri.partition("://")
    bucket, _, key = rest.partition("/")
    if scheme != "s3":
        return ""
    query = urlencode({"region": region, "prefix": key})
    return f"https://{region}.console.aws.amazon.com/s3/object/{bucket}?{query}"
