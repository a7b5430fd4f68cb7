"""The plugin as Airflow loads it, with an auth manager and files of runs."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from airflow.api_fastapi.app import create_auth_manager
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
from fastapi.testclient import TestClient

PLUGINS = Path(__file__).resolve().parents[3] / "plugins"
RUN_ID = "scheduled__2026-11-21T02:00:00+00:00"


class Files:
    """The objects of S3, as a client of boto3 gives them."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.reads = 0

    def put(self, path, content):
        text = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.objects[f"runs/{path}"] = text

    def get_object(self, Bucket, Key):
        from botocore.exceptions import ClientError

        assert Bucket == "lake"
        self.reads += 1
        if Key not in self.objects:
            raise ClientError({"Error": {"Code": "NoSuchKey"}}, "GetObject")
        from io import BytesIO

        body = self.objects[Key]
        return {"Body": BytesIO(body), "ContentLength": len(body)}

    def get_paginator(self, name):
        assert name == "list_objects_v2"
        return self

    def paginate(self, Bucket, Prefix):
        found = sorted(key for key in self.objects if key.startswith(Prefix))
        return [{"Contents": [{"Key": key} for key in found]}]


@pytest.fixture
def files():
    return Files()


@pytest.fixture
def lake_app(files, monkeypatch):
    """The app, whose store reads these files."""
    monkeypatch.syspath_prepend(str(PLUGINS))
    from lake_pages.app import app
    from lake_pages.storage import Store, store

    kept = Store("s3://lake/runs/", files)
    app.dependency_overrides[store] = lambda: kept
    yield app
    app.dependency_overrides.clear()


@pytest.fixture
def auth(monkeypatch):
    """The auth manager of this process; Airflow 3.2 and later ask their database for
    revoked tokens, which there are none of."""
    if find_spec("airflow.models.revoked_token"):
        monkeypatch.setattr(
            "airflow.models.revoked_token.RevokedToken.is_revoked",
            lambda *_, **__: False,
        )
    return create_auth_manager()


@pytest.fixture
def token_of(auth):
    """Make the token of a user with a role."""

    def make(role="admin"):
        return auth.generate_jwt(SimpleAuthManagerUser(username="ann", role=role))

    return make


@pytest.fixture
def anonymous(lake_app, auth):
    """A browser without a user, on the plugin as Airflow mounts it."""
    from fastapi import FastAPI

    root = FastAPI()
    root.mount("/lake", lake_app)
    return TestClient(root, base_url="http://localhost", raise_server_exceptions=False)


@pytest.fixture
def browser(anonymous, token_of):
    """A browser of a user who may see everything."""
    anonymous.cookies.set("_token", token_of())
    return anonymous
