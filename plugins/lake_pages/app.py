"""The FastAPI app of the lake's pages: HTML without scripts, for Airflow's users only."""

from __future__ import annotations

import mimetypes
import re
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from urllib.parse import quote

from botocore.exceptions import BotoCoreError, ClientError
from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lake_pages.access import COOKIE, User, may_read, may_see_domain, user_of_token
from lake_pages.contract.site_pages import FOLDER, START, table_page
from lake_pages.run import run_of
from lake_pages.storage import NotSet, Store, store
from lake_pages.tables import age, lake_of, time_of

PREFIX = "/lake"
PAGE = 200
"""Tables on one page."""

_PATH = re.compile(r"[A-Za-z0-9_~-][A-Za-z0-9_.~-]*(/[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)*")
_POLICY = (
    "default-src 'none'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'; "
)
_STYLES = "style-src 'self' 'unsafe-inline'"
_HEADERS = {
    "Cache-Control": "private, no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": _POLICY + _STYLES,
}
_LOGIN_HEADERS = {
    **_HEADERS,
    "Content-Security-Policy": f"{_POLICY}{_STYLES}; script-src 'self'; connect-src 'self'",
}

_pages = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_pages.filters["part"] = lambda text: quote(str(text), safe="")
_pages.globals.update(age=age, time_of=time_of, START=START, table_page=table_page)

app = FastAPI(title="Lake", docs_url=None, redoc_url=None, openapi_url=None)
_OPEN = ("/bring.js",)
"""Paths that need no user; a test asks all others without one."""


def _page(
    name: str, request: Request, status: int = 200, **values: Any
) -> HTMLResponse:
    headers = _LOGIN_HEADERS if name == "login.html" else _HEADERS
    text = _pages.get_template(name).render(
        root=request.scope.get("root_path", "").rstrip("/"),
        now=datetime.now(timezone.utc),
        **values,
    )
    return HTMLResponse(text, status, headers)


@app.get("/bring.js")
def bring() -> Response:
    """Return the script that brings the token of Airflow 3.0's pages."""
    script = (Path(__file__).parent / "pages" / "bring.js").read_text("utf-8")
    return Response(script, media_type="text/javascript", headers=_HEADERS)


@app.post("/session")
async def session(request: Request) -> Response:
    """Keep a token that was brought as the cookie of these pages."""
    token = request.headers.get("authorization", "")[len("Bearer ") :].strip()
    await user_of_token(token)
    response = Response(status_code=204)
    response.set_cookie(
        COOKIE,
        token,
        path=request.scope.get("root_path") or "/",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return response


@app.get("/")
def tables(
    request: Request, user: User, page: int = 1, lake: Store = Depends(store)
) -> Response:
    """Show the state of all tables, problems first."""
    return _tables(request, lake, user, page, None)


@app.get("/dags/{dag_id}")
def tables_of_dag(
    request: Request,
    user: User,
    dag_id: str,
    page: int = 1,
    lake: Store = Depends(store),
) -> Response:
    """Show the state of the tables of one DAG."""
    if not may_read(user, [dag_id]):
        raise HTTPException(403, "You may not see this DAG.")
    return _tables(request, lake, user, page, dag_id)


def _tables(
    request: Request, lake: Store, user: Any, page: int, dag_id: Any
) -> Response:
    found = lake_of(lake, user, dag_id)
    pages = max(-(-len(found.tables) // PAGE), 1)
    page = min(max(page, 1), pages)
    return _page(
        "tables.html",
        request,
        lake=found,
        lines=found.tables[(page - 1) * PAGE : page * PAGE],
        page=page,
        pages=pages,
        dag_id=dag_id,
        has_site=lake.content(f"{FOLDER}/{START}") is not None,
    )


@app.get("/runs/{dag_id}/{run_id:path}")
def run(
    request: Request, user: User, dag_id: str, run_id: str, lake: Store = Depends(store)
) -> Response:
    """Show one run: its tables, steps, cluster, minutes and logs."""
    if not may_read(user, [dag_id]):
        raise HTTPException(403, "You may not see this DAG.")
    found = run_of(lake, dag_id, run_id)
    if found is None:
        raise HTTPException(404, "The run left no summary yet, or is none of the lake.")
    return _page("run.html", request, run=found)


@app.get("/site/{path:path}")
def site(user: User, path: str, lake: Store = Depends(store)) -> Response:
    """Serve a file of the site; pages of a domain to users who may see its DAGs."""
    if not _PATH.fullmatch(path):
        raise HTTPException(404, "There is no such page.")
    first, _, rest = path.partition("/")
    if first == "domains":
        if not may_see_domain(user, rest.partition("/")[0]):
            raise HTTPException(403, "You may not see this domain.")
    content = lake.content(f"{FOLDER}/{path}")
    if content is None:
        raise HTTPException(404, "There is no such page.")
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
    return Response(content, media_type=kind, headers=_HEADERS)


@app.exception_handler(HTTPException)
def refused(request: Request, error: HTTPException) -> Response:
    """Show why there is no page; without a user, how to log in."""
    name = "login.html" if error.status_code == 401 else "refused.html"
    return _page(name, request, error.status_code, words=error.detail)


@app.exception_handler(NotSet)
@app.exception_handler(BotoCoreError)
@app.exception_handler(ClientError)
def unreadable(request: Request, error: Exception) -> Response:
    """Show that the files of the runs cannot be read now."""
    return _page("refused.html", request, 503, words=str(error))
