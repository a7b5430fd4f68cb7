"""A lake for every test that wants one."""

import pytest

from tests.unit.lake_desk.products.shop import Shop


@pytest.fixture
def shop(tmp_path):
    """Sound specs without a product."""
    return Shop(tmp_path)
