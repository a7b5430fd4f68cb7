"""The command `onboard` run as by a user, its secrets in an emulator for AWS."""

from __future__ import annotations

import json
import os
import subprocess
import time
from contextlib import contextmanager

import boto3

from lake_check.parsing.loader import load_domain
from lake_emulator.keys import secret_of
from lake_emulator.pages import ask
from lake_local.capture.installed import PROJECT
from lake_local.capture.ports import HOST, free_ports

PASSWORD = "canary-9f2c"


@contextmanager
def emulator(home):
    """The address of an emulator for AWS and its key, while the block lasts."""
    (port,) = free_ports(1)
    python = PROJECT / ".venv-airflow/bin/python"
    path = f"{PROJECT}/emulator:{PROJECT}/local:{PROJECT}/dags"
    argv = [python, "-m", "lake_emulator", "--state-dir", home, "--port", str(port)]
    with open(f"{home}.log", "wb") as log:
        process = subprocess.Popen(
            argv, env={**os.environ, "PYTHONPATH": path}, stdout=log, stderr=log
        )
    url = f"http://{HOST}:{port}"
    try:
        wait_for(url, secret_of(home), process)
        yield url, secret_of(home)
    finally:
        process.terminate()
        process.wait(20)


def wait_for(url, secret, process):
    deadline = time.monotonic() + 60
    while not is_healthy(url, secret):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.2)


def is_healthy(url, secret):
    try:
        with ask(url, "health", secret=secret, seconds=5) as response:
            return response.status == 200
    except OSError:
        return False


def keys(aws):
    url, secret = aws
    return {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": secret,
        "NO_PROXY": HOST,
        "no_proxy": HOST,
    }


def keep_secret(aws, service, name, content):
    url, secret = aws
    client = boto3.client(
        service,
        endpoint_url=url,
        region_name="eu-central-1",
        aws_access_key_id="local",
        aws_secret_access_key=secret,
    )
    if service == "ssm":
        client.put_parameter(Name=name, Value=json.dumps(content), Type="SecureString")
    else:
        client.create_secret(Name=name, SecretString=json.dumps(content))


class Onboarding:
    """Runs the command, and keeps what it printed."""

    def __init__(self, aws, folder):
        self.aws = aws
        self.out = folder / "tables"
        self.environment = folder / "test.yml"
        self.env = {**os.environ, **keys(aws)}
        folders = ("emulator", "local", "dags", "spark_jobs")
        python = ":".join(f"{PROJECT}/{each}" for each in folders)
        self.env["PYTHONPATH"] = python

    def write_environment(self, connections):
        roots = ("landing", "warehouse", "artifacts", "runs", "logs")
        lines = ["name: test", "region: eu-central-1"]
        lines += [f"{each}: s3://lake/{each}" for each in roots]
        lines += ["connections:", *(f"  {each}" for each in connections)]
        self.environment.write_text("\n".join(lines) + "\n")

    def run(self, *arguments, code=0):
        python = PROJECT / ".venv-airflow/bin/python"
        argv = [python, "-m", "lake_local", "onboard", *arguments]
        argv += ["--environment", self.environment, "--out", self.out]
        done = subprocess.run(argv, env=self.env, capture_output=True, text=True)
        assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
        assert PASSWORD not in done.stdout + done.stderr
        for path in self.out.rglob("*.yml"):
            assert PASSWORD not in path.read_text()
        return done

    def columns(self, domain, table):
        (spec,) = [e for e in load_domain(domain, self.out).tables if e.name == table]
        return {name: (each.type, each.format) for name, each in spec.columns}
