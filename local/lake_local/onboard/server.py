"""The address and the login of a database; the password is only in memory."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Server:
    """A database and its user."""

    kind: str
    host: str
    port: int
    database: str
    username: str
    password: str = field(repr=False)
    tls: bool = True
    ca: str = ""
    """Certificates in PEM that it is checked by; '' checks nothing."""

    def without_password(self, text: str) -> str:
        """Return the text with the password replaced by ***."""
        return text.replace(self.password, "***") if self.password else text


class Unreachable(Exception):
    """A database did not answer, or refused the user.

    Its text is without the password.

    Fix: Check that the server runs and that host, port, user and password of its
    connection and secret are right.
    """


class NoSuchSchema(Exception):
    """A database has no tables in the schema that was asked for.

    Fix: Choose one of the schemas in the message with --schema NAME.
    """
