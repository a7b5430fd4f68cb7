"""A connection that cannot be read is one mistake, and no crash of the rules on others."""

from __future__ import annotations

import pytest

from lake_check.parsing.loader import load_environment
from lake_spec.diagnostics.errors import SpecErrors

ENVIRONMENT = """name: dev
region: eu-central-1
landing: s3://lake-landing/files
warehouse: s3://lake-tables/tables
artifacts: s3://lake-work/artifacts
runs: s3://lake-work/runs
logs: s3://lake-work/logs
connections:
  shop: &shop {kind: postgresql, host: h, database: d, secret: s, domains: [a]}
  copy: *shop
"""


def test_an_alias_for_a_connection_is_refused_with_its_line(tmp_path):
    (tmp_path / "dev.yml").write_text(ENVIRONMENT)
    with pytest.raises(SpecErrors) as error:
        load_environment("dev", tmp_path)
    assert "dev.yml:10: connections.copy: alias *shop. Write the value out" in str(
        error.value
    )
