"""The pages on loopback: served to who knows their path, and nothing else."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request

import pytest

from lake_local.page_server import Server, page_of, path_of
from lake_site.store import FolderStore

BELOW = path_of("secret")
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@pytest.fixture
def address(tmp_path):
    store = FolderStore(tmp_path / "site")
    store.write("index.html", b"<h1>Lake</h1>")
    store.write("assets/style.css", b"a {}")
    (tmp_path / "other.txt").write_text("not a page")
    server = Server(0, store, BELOW)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.05}
    )
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def status(url, **headers):
    try:
        with OPENER.open(
            urllib.request.Request(url, headers=headers), timeout=5
        ) as found:
            return found.status
    except urllib.error.HTTPError as error:
        return error.code


def test_pages_are_served_below_their_path(address):
    with OPENER.open(f"{address}/{BELOW}/", timeout=5) as found:
        assert found.read() == b"<h1>Lake</h1>"
        assert found.headers["Content-Type"] == "text/html; charset=utf-8"
        assert "default-src 'none'" in found.headers["Content-Security-Policy"]
    with OPENER.open(f"{address}/{BELOW}/assets/style.css?x=1", timeout=5) as found:
        assert found.headers["Content-Type"] == "text/css; charset=utf-8"


@pytest.mark.parametrize(
    "path", ["", "/index.html", f"/{BELOW}", "/0/index.html", f"/{BELOW}/none.html"]
)
def test_nothing_else_is_served(address, path):
    assert status(f"{address}{path}") == 404


@pytest.mark.parametrize(
    "rest",
    ["../other.txt", "%2e%2e/other.txt", "a/../../other.txt", "/other.txt"],
)
def test_no_path_leads_out_of_the_site(rest):
    assert page_of(f"/{BELOW}/{rest}", BELOW) is None


def test_a_name_that_leads_here_is_refused(address):
    assert status(f"{address}/{BELOW}/", Host="evil.example") == 403


def test_the_path_differs_by_state_directory():
    assert path_of("one") != path_of("other") and len(path_of("one")) == 32
