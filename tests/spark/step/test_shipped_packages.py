"""A step of the emulator, as EMR starts it, reaches S3 with the release's own boto3."""

from __future__ import annotations

import hashlib
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import bundle
import pytest

from lake_emulator import runtimes


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


def sha256_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize(
    "brings, replaced",
    [(True, ""), (False, ""), (True, "lake.zip"), (True, "boto3.zip")],
    ids=["brings", "forgets", "code", "packages"],
)
def test_a_step_has_boto3_only_where_the_release_brings_it(tmp_path, brings, replaced):
    bundle.zip_packages(tmp_path / "lake.zip")
    bundle.zip_installed(tmp_path / "boto3.zip")
    files = ("lake.zip", "boto3.zip") if brings else ("lake.zip",)
    argv = ["spark-submit", "--py-files", ",".join(str(tmp_path / f) for f in files)]
    argv += [str(bundle.SPARK_JOBS / "main.py"), "--release", "s3://lake/releases/r"]
    sha256 = {each: sha256_of((tmp_path / each).read_bytes()) for each in files}
    if replaced:
        sha256[replaced] = "0" * 64
    told = ",".join(f"{name}={each}" for name, each in sha256.items())
    argv += ["--sha256", told]
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
    if replaced:
        assert f"{replaced} is not that of the release: its SHA-256 is" in said
        assert (done.returncode, S3.agents) == (1, [])
    elif brings:
        assert "KeyError: 's3://lake/releases/r/specs/tests.json'" in said, said[-3000:]
        assert [each.split()[0] for each in S3.agents] == ["Boto3/1.42.97"]
    else:
        assert "No module named 'boto3'" in said, said[-3000:]
        assert S3.agents == []
