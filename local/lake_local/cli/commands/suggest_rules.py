"""Propose quality rules for a table, as YAML, from what its columns had in the last profile.

A full load and maintenance make the profile. Each rule is one that all rows of current
keep, with the figures as a comment. It changes nothing: copy what is right into the
table's file.

Examples:
  ./run_locally.sh suggest-rules moma.artists
  ./run_locally.sh suggest-rules moma.artists > rules.yml
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from functools import partial

from lake_site.store import S3Store
from lake_spec.lineage.sensitivity import ColumnSensitivity
from lake_spec.model import EnvironmentSpec, TableSpec
from lake_spec.state.table_profile import (
    TableProfile,
    profile_file,
    profile_uri,
    read_profile,
)

from lake_local.cli.commands.scope import home_of, specs_of_args
from lake_local.errors import BadRequest
from lake_local.onboard.suggested_rules import rules_text, suggestions
from lake_local.stack import session
from lake_local.stack.session import Session

NAME = "suggest-rules"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the table."""
    parser.add_argument("table", metavar="DOMAIN.TABLE")


def run(args: Namespace) -> int:
    """Print the rules as YAML."""
    specs = specs_of_args(args)
    table = specs.table(args.table)
    known = ColumnSensitivity(t for d in specs.planned_domains() for t in d.tables)
    with session.observed(home_of(args), specs, who=NAME) as opened:
        profile = _profile(opened, specs.environment, table)
    profile = profile.redacted(partial(known.may_show, table))
    print(rules_text(table, profile, suggestions(table, profile)), end="")
    return 0


def _profile(
    opened: Session, environment: EnvironmentSpec, table: TableSpec
) -> TableProfile:
    """Return the stored profile. Raises BadRequest if there is none."""
    store = S3Store(opened.aws("s3"), environment.runs)
    content = store.read(profile_file(table.stored_as))
    uri = profile_uri(environment.runs, table.stored_as)
    if content is None:
        raise BadRequest(
            f"{table.full_name} has no profile ({uri}). Run {table.domain}_full_load or "
            f"{table.domain}_maintenance; with `profile: never` in its spec none is made."
        )
    return read_profile(content, uri)
