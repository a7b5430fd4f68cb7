"""What libraries do again and again in one process of tests, done once.

None of it changes what a test sees: the same objects are there, and made earlier.
"""

from __future__ import annotations

import gc
import sys
from functools import lru_cache


def make_quicker() -> None:
    """To be called when all tests, and so most of their libraries, were imported."""
    # Else searches for garbage, many a second, go through all of Airflow's modules.
    gc.freeze()
    gc.enable()
    if "pyspark" not in sys.modules:  # whose garbage keeps objects of the JVM
        gc.set_threshold(20_000, 20, 10)
    if "botocore" in sys.modules:
        _read_models_once()
        _remember_texts()
    if "moto" in sys.modules:
        _import_urls_once()
        _answer_boto_alone()


def _read_models_once() -> None:
    """Each session of boto3 reads AWS's models again: megabytes of JSON per client."""
    from botocore import session

    session.create_loader = lru_cache(maxsize=None)(session.create_loader)


def _remember_texts() -> None:
    """A client names its hundreds of events again, a request who calls, a list its times."""
    from botocore import parsers, useragent
    from botocore.hooks import EventAliaser

    known = lru_cache(maxsize=None)
    EventAliaser._alias_event_name = staticmethod(
        known(EventAliaser(None)._alias_event_name)
    )
    words = useragent.sanitize_user_agent_string_component
    useragent.sanitize_user_agent_string_component = known(words)
    parsers.DEFAULT_TIMESTAMP_PARSER = known(parsers.DEFAULT_TIMESTAMP_PARSER)


def _answer_boto_alone() -> None:
    """moto also names its 1,300 URLs to `requests` for each account, half of its start.

    No code of ours asks AWS by that library; what does is refused as another machine.
    """
    from moto.core import models

    models.RESPONSES_METHODS.clear()


def _import_urls_once() -> None:
    """moto imports its URLs of S3 twice per request: a variable might have changed."""
    from moto.s3 import urls
    from moto.s3.models import S3Backend

    S3Backend._url_module = urls
