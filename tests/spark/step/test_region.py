"""A step on a node that knows no region: what it asks of AWS goes to the region given."""

from __future__ import annotations

import ast
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import boto3
import pytest
from botocore.exceptions import NoRegionError

from lake_spec.model.choices import SecretStore
from lake_spec.model.json_codec import to_data
from lake_spec.state.lease import lease_uri
from lake_spark.errors import LeaseLost
from lake_spark.step import application
from lake_spark.step.arguments import parse
from lake_spark.tables import catalog
from tests.unit.lake_airflow.specs import ENVIRONMENT, domain, table

REGION = ENVIRONMENT.region
ROOT = "s3://lake/artifacts/releases/r"
ARGV = ["--release", ROOT, "--region", REGION, "--domain", "sales", "--stage", "scd2"]
ARGV += ["--run", "sales_scd2/1", "--lease-token", "1"]
SPARK_JOBS = Path(__file__).resolve().parents[3] / "spark_jobs"

RELEASE = {
    "release": "r",
    "environment": to_data(ENVIRONMENT),
    "domain": to_data(domain(table("orders"))),
}
LEASE = {"format": 1, "holder": "another/run", "token": 2, "since": ""}
OBJECTS = {
    f"{ROOT}/specs/sales.json": RELEASE,
    lease_uri(ENVIRONMENT.runs, "sales"): LEASE,
}
OTHERS = {"Parameter": {"Value": "x"}, "SecretString": "y"}


class Aws(BaseHTTPRequestHandler):
    """Answers what the step asks, and keeps for which region it was signed."""

    signed: list = []

    def do_GET(self):
        self.answer(OBJECTS[f"s3:/{self.path}"])

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(OTHERS)

    def answer(self, data):
        scope = re.search(r"Credential=test/\d+/(.+?)/(.+?)/", str(self.headers))
        self.signed.append(scope.group(2, 1))
        body = json.dumps(data).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Print nothing."""


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """Calls of AWS with their regions, in a process that knows none of its own."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Aws)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setattr(Aws, "signed", [])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Aws.signed
    server.shutdown()
    server.server_close()


def test_a_step_reads_its_release_and_asks_its_lease(asked):
    # The lease is of another run: the step got so far, and ends before it needs Spark.
    with pytest.raises(LeaseLost, match="another/run"):
        application.main(ARGV)
    assert asked == [("s3", REGION)] * 2


def test_a_step_reads_secrets_and_registers_tables(asked, monkeypatch):
    region = parse(ARGV, ["scd2"]).region
    store = application.open_store("s3://lake/", region)
    assert store.secret("/lake/erase") == b"x"
    assert store.secret("lake/shop", SecretStore.SECRETS_MANAGER) == b"y"
    run = SimpleNamespace(
        home="s3://lake/t",
        earlier=SimpleNamespace(is_registered=False),
        environment=SimpleNamespace(region=region),
        check_lease=lambda: None,
        spec=SimpleNamespace(domain="sales", description="Sales"),
    )
    monkeypatch.setattr(catalog, "registered_tables", lambda run: [])
    catalog.register(run)
    assert asked == [(name, REGION) for name in ("ssm", "secretsmanager", "glue")]


def test_here_a_client_without_a_region_would_fail(asked):
    with pytest.raises(NoRegionError):
        boto3.client("glue")


def test_every_client_of_a_step_is_given_the_region():
    clients = [
        (file.name, call.lineno, [keyword.arg for keyword in call.keywords])
        for file in SPARK_JOBS.rglob("*.py")
        for call in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "boto3.client"
    ]
    assert len(clients) == 5
    assert [each for each in clients if "region_name" not in each[2]] == []


@pytest.mark.parametrize("region", ["", "none", "eu-central-1;x", "EU-CENTRAL-1"])
def test_what_is_no_region_is_a_usage_error(region, capsys):
    argv = [region if each == REGION else each for each in ARGV]
    with pytest.raises(SystemExit) as ended:
        parse(argv, ["scd2"])
    assert ended.value.code == 2
    assert "is not a region (expected [a-z]" in capsys.readouterr().err
