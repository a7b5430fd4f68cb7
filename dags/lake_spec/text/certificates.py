"""Certificates of those whom a connection trusts, as its `ca` holds them."""

from __future__ import annotations

import re

_CERTIFICATE = re.compile(
    r"-----BEGIN CERTIFICATE-----\s[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----"
)


class NoCertificates(Exception):
    """The `ca` of a connection is no PEM file with certificates.

    Fix: Put a PEM file with certificates of authorities there, such as RDS's
    global-bundle.pem.
    """


def certificates_in(content: bytes, uri: str) -> str:
    """Return the certificates of a PEM file and nothing else. Raises NoCertificates."""
    found = _CERTIFICATE.findall(content.decode("ascii", errors="replace"))
    if not found:
        raise NoCertificates(
            f"{uri} holds no certificate in PEM (-----BEGIN CERTIFICATE-----). Put the"
            " certificates there that signed the server's, such as RDS's"
            " global-bundle.pem."
        )
    return "\n".join(found) + "\n"
