"""Who may see a page: Airflow's users, by the permissions that Airflow gives them.

Airflow protects its own API only; what a plugin adds is open unless it asks. A browser
brings the token of Airflow's pages as a cookie. Those of Airflow 3.0 keep it in the
browser's storage instead: there a small script brings it once, and it becomes a cookie of
the lake's pages alone.
"""

from __future__ import annotations

from typing import Annotated, Any, Iterable

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.base_auth_manager import COOKIE_NAME_JWT_TOKEN
from airflow.api_fastapi.auth.managers.models.resource_details import (
    AccessView,
    DagDetails,
)
from fastapi import Depends, HTTPException, Request
from jwt import InvalidTokenError

from lake_pages.contract.dag_names import ids_of

COOKIE = "lake_token"
_BEARER = "bearer "


async def user_of_token(token: str) -> Any:
    """Return the user of a token. HTTPException 401 without a valid one."""
    if not token:
        raise HTTPException(401, "Log in to Airflow.")
    try:
        return await get_auth_manager().get_user_from_token(token)
    except InvalidTokenError:
        raise HTTPException(401, "Log in to Airflow.") from None


async def current_user(request: Request) -> Any:
    """Return the user, who may see Airflow's pages.

    HTTPException 401 without one, 403 without the permission.
    """
    user = await user_of_token(_token(request))
    if not get_auth_manager().is_authorized_view(
        access_view=AccessView.WEBSITE, user=user
    ):
        raise HTTPException(403, "You may not see Airflow's pages.")
    return user


User = Annotated[Any, Depends(current_user)]


def may_read(user: Any, dag_ids: Iterable[str]) -> bool:
    """Return whether the user may see one of the DAGs."""
    return any(
        get_auth_manager().is_authorized_dag(
            method="GET", details=DagDetails(id=dag_id), user=user
        )
        for dag_id in dag_ids
    )


def may_see_domain(user: Any, domain: str) -> bool:
    """Return whether the user may see pages and tables of a domain: one of its DAGs."""
    return may_read(user, sorted(ids_of(domain)))


def _token(request: Request) -> str:
    header = request.headers.get("authorization", "")
    if header.lower().startswith(_BEARER):
        return header[len(_BEARER) :].strip()
    cookies = request.cookies
    return cookies.get(COOKIE_NAME_JWT_TOKEN) or cookies.get(COOKIE) or ""
