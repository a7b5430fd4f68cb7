"""Registers the pages of the lake with Airflow: the only module that it loads from here."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Dict, List

from airflow.plugins_manager import AirflowPlugin

from lake_pages.app import PREFIX, app

_HAS_VIEWS = hasattr(AirflowPlugin, "external_views")  # Airflow 3.1 and later
_HAS_MENU = find_spec("airflow.providers.fab") is not None
"""With menu items and without that provider the web server of Airflow 3.0 does not start."""


def _views() -> List[Dict[str, Any]]:
    """Return the pages that Airflow shows in its own frame."""
    return [
        {
            "name": "Lake",
            "href": f"{PREFIX}/",
            "destination": "nav",
            "url_route": "lake",
        },
        {
            "name": "Lake run",
            "href": f"{PREFIX}/runs/{{DAG_ID}}/{{RUN_ID}}",
            "destination": "dag_run",
            "url_route": "lake-run",
        },
        {
            "name": "Lake tables",
            "href": f"{PREFIX}/dags/{{DAG_ID}}",
            "destination": "dag",
            "url_route": "lake-tables",
        },
    ]


class LakePlugin(AirflowPlugin):
    """The page of all tables, a page per run, and the site of the lake."""

    name = "lake"
    fastapi_apps = [{"name": "lake", "app": app, "url_prefix": PREFIX}]
    if _HAS_VIEWS:
        external_views = _views()
    elif _HAS_MENU:
        appbuilder_menu_items = [{"name": "Lake", "href": f"{PREFIX}/"}]
