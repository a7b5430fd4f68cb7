"""How a database is reached; its password is in memory alone."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Server:
    """A database and who asks it."""

    kind: str
    host: str
    port: int
    database: str
    username: str
    password: str = field(repr=False)
    tls: bool = True

    def without_password(self, text: str) -> str:
        """The text, fit to be told."""
        return text.replace(self.password, "***") if self.password else text


class Unreachable(Exception):
    """The database did not answer, or not this user; without the password."""


class NoSuchSchema(Exception):
    """The database has no tables in that schema; says which schemas it has."""
