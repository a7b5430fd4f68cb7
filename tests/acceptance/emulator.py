"""An emulator in this process, which its clients of AWS use as they would use AWS."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Dict, Iterator

import boto3
from lake_acceptance.subject import load
from lake_emulator import DEFAULT_REGION
from lake_emulator.keys import KEY_ID
from lake_emulator.policies.enforcer import FILE as POLICIES
from lake_emulator.server import Emulator
from lake_infra.policies import policies
from lake_local.emulator.permitted_steps import OWN_STEPS
from lake_local.stack.objects import ensure_bucket

SECRET = "/lake/local/erase"
"""The erase secret of dags/environments/local.yml."""


@contextmanager
def emulator(folder: Path, *, without: str = "") -> Iterator[Emulator]:
    """An emulator that this process's clients use, with the buckets of `local`.

    It judges steps by the role that a deployment gives them, `without` an action.
    """
    home = folder / "aws"
    home.mkdir(parents=True)
    (home / POLICIES).write_text(json.dumps(_policies(without)), encoding="utf-8")
    served = Emulator(home, rules=OWN_STEPS)
    settings = {
        "AWS_ENDPOINT_URL": served.url,
        "AWS_ACCESS_KEY_ID": KEY_ID,
        "AWS_SECRET_ACCESS_KEY": served.secret,
        "AIRFLOW_HOME": str(folder / "airflow"),
    }
    before = dict(os.environ)
    os.environ.update(settings)
    served.start()
    try:
        session = boto3.Session(region_name=DEFAULT_REGION)
        ensure_bucket(session.client("s3"), "lake")
        ssm = session.client("ssm")
        ssm.put_parameter(
            Name=SECRET, Value="x" * 32, Type="SecureString", Overwrite=True
        )
        yield served
    finally:
        served.stop()
        os.environ.clear()
        os.environ.update(before)


def _policies(without: str) -> Dict[str, Any]:
    """What a deployment of the acceptance domain gives, by which steps are judged."""
    subject = load("local", cluster=None, emulated=True, say=print)
    given = policies(subject.environment, [subject.domain])
    # The policy of the bucket of tables is the environment's, which knows no such role.
    given["resources"] = policies(subject.deployed, [subject.domain])["resources"]
    return json.loads(json.dumps(given).replace(f'"{without}"', '"s3:GetNothing"'))
