"""One Spark session for all Spark tests, and a lake in a folder for each."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def spark():
    """A local session with the project's own Hudi jars."""
    from tests.spark.local_session import local_session

    session = local_session()
    yield session
    session.stop()
