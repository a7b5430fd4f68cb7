"""Store the login of a database, or of Kafka, for runs on this machine.

It asks for user name and password, or reads from standard input a JSON object with the
texts username and password (others are allowed, as RDS writes them). A password is never
an argument: other users of the machine can see those. It is stored unencrypted in the
state directory, so use the login of a test database.

Examples:
  ./run_locally.sh secret set lake/dev/shop
  ./run_locally.sh secret set lake/dev/shop < shop-secret.json
"""

from __future__ import annotations

import argparse
import getpass
import json
import sys
from argparse import ArgumentParser, Namespace

from botocore.exceptions import BotoCoreError, ClientError

from lake_spec.model import EnvironmentSpec
from lake_spec.model.choices import SecretStore

from lake_local.cli.commands.scope import home_of, specs_of_args
from lake_local.errors import BadRequest
from lake_local.onboard.secret import BadSecret, require_login
from lake_local.stack import secret_store, session
from lake_local.text import progress

NAME = "secret"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the secret's name and its store."""
    parser.add_argument("action", choices=["set"])
    parser.add_argument("name", metavar="NAME", help="as `secret` of a connection")
    # Accepted so that the message about it does not repeat a password.
    parser.add_argument("value", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument(
        "--secret-store",
        choices=[each.value for each in SecretStore],
        help="default: that of the environment's connection that names the secret, else"
        f" {SecretStore.SECRETS_MANAGER.value}",
    )


def run(args: Namespace) -> int:
    """Read the secret, check that it is a login, store it in the emulator."""
    if args.value:
        raise BadRequest(
            f"secret set {args.name}: got a value as an argument, which other users of this"
            " machine could see. Leave it out and type it at the prompt, or write it to"
            f" standard input: ./run_locally.sh secret set {args.name} < FILE"
        )
    specs = specs_of_args(args)
    at = store_of(args.name, args.secret_store, specs.environment)
    text = _read(args.name)
    try:
        require_login(text, args.name)
    except BadSecret as error:
        raise BadRequest(str(error)) from None
    home = home_of(args)
    with session.opened(home, specs, who=f"secret set {args.name}") as opened:
        try:
            is_new = secret_store.put(opened.aws, args.name, text, at)
        except (BotoCoreError, ClientError) as error:
            raise BadRequest(
                f"secret {args.name!r} cannot be stored: {error}. Correct its name, or see"
                " aws.log in the state directory's logs/."
            ) from None
    print(f"{'stored' if is_new else 'replaced'}  {args.name}  in {at.value}")
    progress(f"It is stored unencrypted in {home.root}.")
    return 0


def store_of(name: str, asked: str | None, environment: EnvironmentSpec) -> SecretStore:
    """Return the store in which runs look for a secret; warn if none does."""
    stores = {
        connection.secret_store
        for _, connection in environment.connections
        if connection.secret == name
    }
    if not stores:
        progress(
            f"WARNING: no connection of the environment {environment.name} names the"
            f" secret {name!r}. Add one to `connections` of its file, or point"
            " LAKE_ENVIRONMENT at a file that has it (docs/sources/jdbc.md)."
        )
    if asked:
        return SecretStore(asked)
    return min(stores, default=SecretStore.SECRETS_MANAGER)


def _read(name: str) -> str:
    """Read standard input, or ask for the login on a terminal."""
    if not sys.stdin.isatty():
        return sys.stdin.read().strip()
    try:
        print("User name: ", end="", file=sys.stderr, flush=True)
        user = sys.stdin.readline().strip()
        password = getpass.getpass("Password (not shown): ", sys.stderr)
    except EOFError:
        user = password = ""
    if not user or not password:
        raise BadRequest(
            f"secret set {name}: user name or password is empty. Nothing was stored. Run"
            " it again and type both."
        )
    return json.dumps({"username": user, "password": password})
