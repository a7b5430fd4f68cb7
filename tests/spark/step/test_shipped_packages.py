"""A step of the emulator, as EMR starts it, reaches S3 with the release's own boto3."""

from __future__ import annotations

import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import bundle
import pytest

from lake_local.aws import runtimes


class S3(BaseHTTPRequestHandler):
    """Has no object, and keeps who asked."""

    agents: list = []

    def do_GET(self):
        self.agents.append(self.headers["User-Agent"])
        body = b"<Error><Code>NoSuchKey</Code></Error>"
        self.send_response(404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Print nothing."""


@pytest.mark.parametrize("brings", [True, False], ids=["brings", "forgets"])
def test_a_step_has_boto3_only_where_the_release_brings_it(tmp_path, brings):
    bundle.zip_packages(tmp_path / "lake.zip")
    bundle.zip_installed(tmp_path / "boto3.zip")
    files = ("lake.zip", "boto3.zip") if brings else ("lake.zip",)
    argv = ["spark-submit", "--py-files", ",".join(str(tmp_path / f) for f in files)]
    argv += [str(bundle.SPARK_JOBS / "main.py"), "--release", "s3://lake/releases/r"]
    argv += ["--region", "eu-central-1", "--domain", "tests", "--stage", "scd2"]
    argv += ["--run", "tests_scd2/1", "--lease-token", "1"]
    server = ThreadingHTTPServer(("127.0.0.1", 0), S3)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    made = runtimes.command(
        *("emr-7.13.0", argv),
        endpoint=f"http://127.0.0.1:{server.server_port}",
        secret="none",
        scratch=tmp_path / "scratch",
        properties={},
    )
    kept = ("PATH", "HOME", "JAVA_HOME")
    env = {name: os.environ[name] for name in kept if name in os.environ}
    S3.agents.clear()
    done = subprocess.run(
        made.argv, env={**env, **made.env}, capture_output=True, text=True, check=False
    )
    server.shutdown()
    server.server_close()
    said = done.stdout + done.stderr
    if brings:
        assert "KeyError: 's3://lake/releases/r/specs/tests.json'" in said, said[-3000:]
        assert [each.split()[0] for each in S3.agents] == ["Boto3/1.42.97"]
    else:
        assert "No module named 'boto3'" in said, said[-3000:]
        assert S3.agents == []
