"""Only signed requests of this machine's own clients reach the emulator."""

from __future__ import annotations

import json
import socket
import stat
from datetime import datetime, timedelta, timezone
from urllib.error import HTTPError
from urllib.parse import urlsplit

import boto3
import pytest
import urllib3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from lake_emulator import client
from lake_emulator.http_server import Server
from lake_emulator.keys import credentials_file, secret_of
from lake_emulator.pages import ask
from lake_emulator.state_mark import FILE as MARK

ORIGIN = {"Origin": "http://page.example"}
TEXT = {"Content-Type": "text/plain"}
FLOW = {
    "Name": "x",
    "ReleaseLabel": "emr-7.13.0",
    "Instances": {"MasterInstanceType": "m5.xlarge", "InstanceCount": 1},
}
PREFLIGHT = {
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "x-amz-target,content-type",
}


def target(name):
    return {"X-Amz-Target": f"ElasticMapReduce.{name}", **TEXT}


def steps(cluster, mark):
    jar = {"Jar": "command-runner.jar", "Args": ["bash", "-c", f"touch {mark}"]}
    step = {"Name": "s", "ActionOnFailure": "CONTINUE", "HadoopJarStep": jar}
    return {"JobFlowId": cluster, "Steps": [step]}


@pytest.fixture
def sent(emulator):
    """Send a request as it stands; its status and headers."""

    def send(method, path, headers, body=b"", host=None):
        named = {"Host": host or urlsplit(emulator.url).netloc, **headers}
        reply = urllib3.request(
            method, f"{emulator.url}{path}", headers=named, body=body, retries=False
        )
        return reply.status, {name.lower() for name in reply.headers}, reply.data

    return send


def refused(reply):
    status, headers, data = reply
    others = {name for name in headers if name.startswith("access-control-")}
    return (status, others) == (403, set()) and b"refused the request" in data


@pytest.mark.parametrize("origin", [ORIGIN, {"Origin": "null"}, {}], ids=str)
@pytest.mark.parametrize("host", ["page.example", "127.0.0.1", "page.example:80", None])
def test_what_a_page_can_send_is_refused_and_does_nothing(
    sent, emr, cluster, bucket, s3, tmp_path, origin, host
):
    mark = tmp_path / "mark"
    before = {each["Id"] for each in emr.list_clusters()["Clusters"]}
    add = json.dumps(steps(cluster, mark)).encode()
    flow = json.dumps(FLOW).encode()
    for reply in (
        sent("OPTIONS", "/", {**origin, **PREFLIGHT}, host=host),
        sent("POST", "/", {**origin, **target("RunJobFlow")}, flow, host=host),
        sent("POST", "/", {**origin, **target("AddJobFlowSteps")}, add, host=host),
        sent("PUT", f"/{bucket}/landing/x.csv", origin, b"id\n", host=host),
        sent("GET", f"/{bucket}?list-type=2", origin, host=host),
        sent("GET", "/_lake/health", origin, host=host),
        sent("POST", "/_lake/faults", origin, b"{}", host=host),
    ):
        assert refused(reply), reply
    assert not mark.exists()
    assert {each["Id"] for each in emr.list_clusters()["Clusters"]} == before
    assert "Contents" not in s3.list_objects_v2(Bucket=bucket)


def signed(emulator, method, path, *, secret=None, body=b"", **headers):
    asked = AWSRequest(method, f"{emulator.url}{path}", data=body, headers=headers)
    signer = SigV4Auth(Credentials("local", secret or emulator.secret), "s3", "x-1")
    signer.add_auth(asked)
    return dict(asked.headers)


def test_a_page_is_refused_although_it_has_a_signature(sent, emulator):
    headers = signed(emulator, "GET", "/_lake/health")
    assert sent("GET", "/_lake/health", headers)[0] == 200
    assert refused(sent("GET", "/_lake/health", {**headers, **ORIGIN}))
    assert refused(sent("GET", "/_lake/health", headers, host="page.example"))


def test_another_key_another_request_and_a_broken_signature_are_refused(sent, emulator):
    other = signed(emulator, "GET", "/_lake/health", secret="local")
    assert refused(sent("GET", "/_lake/health", other))
    headers = signed(emulator, "GET", "/_lake/health")
    assert refused(sent("GET", "/_lake/ledger", headers))
    assert refused(sent("POST", "/_lake/health", headers))
    assert refused(sent("GET", "/_lake/health?start_minutes=1", headers))
    for broken in ("", "AWS4-HMAC-SHA256", "AWS local:x", "Bearer x"):
        headers["Authorization"] = broken
        assert refused(sent("GET", "/_lake/health", headers))


def test_a_body_other_than_the_signed_one_is_refused(sent, emulator):
    headers = signed(emulator, "POST", "/_lake/faults", body=b'{"kind": "throttle"}')
    assert refused(sent("POST", "/_lake/faults", headers, b'{"kind": "fail"}'))


def test_a_signature_of_another_hour_is_refused(sent, emulator, monkeypatch):
    headers = signed(emulator, "GET", "/_lake/health")
    monkeypatch.setattr("lake_emulator.authenticator.datetime", clock(hours=1))
    assert refused(sent("GET", "/_lake/health", headers))


def clock(**later):
    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(timezone.utc) + timedelta(**later)

    return Clock


def test_objects_of_any_name_and_links_to_them_work(s3, bucket, monkeypatch):
    for key in ("a b+c%20é/ü&=?#.csv", "x//y/..z", "~-_.!*'()", "中"):
        s3.put_object(Bucket=bucket, Key=key, Body=b"1")
        assert s3.get_object(Bucket=bucket, Key=key)["Body"].read() == b"1"
        listed = s3.list_objects_v2(Bucket=bucket, Prefix=key)
        assert [each["Key"] for each in listed["Contents"]] == [key]
        asked = {"Bucket": bucket, "Key": key}
        link = s3.generate_presigned_url("get_object", Params=asked, ExpiresIn=60)
        if "X-Amz-Signature" in link:
            assert urllib3.request("GET", link).data == b"1"
            assert (
                urllib3.request(
                    "GET", link.replace("X-Amz-Date=2", "X-Amz-Date=1")
                ).status
                == 403
            )
            with monkeypatch.context() as later:
                later.setattr("lake_emulator.authenticator.datetime", clock(hours=1))
                assert urllib3.request("GET", link).status == 403


def test_a_client_with_another_key_is_told_where_the_key_is(emulator):
    for service, call in (("emr", "list_clusters"), ("s3", "list_buckets")):
        other = client(service, emulator.url, secret="local")
        with pytest.raises(ClientError, match="Use the keys in its file `credentials`"):
            getattr(other, call)()
    with pytest.raises(HTTPError):
        ask(emulator.url, "health", secret="local")


def test_the_key_of_a_home_is_its_owners_alone_and_stays(tmp_path, monkeypatch):
    secret = secret_of(tmp_path / "home")
    file = credentials_file(tmp_path / "home")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert secret_of(tmp_path / "home") == secret != secret_of(tmp_path / "other")
    assert len(secret) == 64
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    found = boto3.Session().get_credentials()  # as AWS's own tools read it
    assert (found.access_key, found.secret_key) == ("local", secret)
    assert {each.name for each in file.parent.iterdir()} == {file.name, MARK}


def test_nothing_but_loopback_is_listened_on():
    server = Server(0, lambda environ, start_response: [])
    try:
        assert server.socket.getsockname()[0] == "127.0.0.1"
        assert server.socket.family == socket.AF_INET
    finally:
        server.server_close()
