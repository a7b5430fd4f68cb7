"""An emulator in this process, and a client of its S3."""

from __future__ import annotations

from typing import Any, Iterator

import pytest

from lake_emulator import client
from lake_emulator.server import Emulator


@pytest.fixture(scope="package")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    served = Emulator(tmp_path_factory.mktemp("aws"))
    served.start()
    yield served
    served.stop()


@pytest.fixture(scope="package")
def s3(emulator: Emulator) -> Any:
    return client("s3", emulator.url, secret=emulator.secret)
