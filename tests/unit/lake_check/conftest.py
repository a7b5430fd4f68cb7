"""A folder of specs for every test that wants one."""

import pytest

from .spec_files import SpecFiles


@pytest.fixture
def specs(tmp_path):
    """Sound specs of one table, one cluster and one environment."""
    return SpecFiles(tmp_path)
