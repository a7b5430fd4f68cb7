"""Authorities of tests, and certificates that they sign, by OpenSSL's own program."""

from __future__ import annotations

import subprocess
from pathlib import Path

_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc")


class Authority:
    """A certificate authority, with its files in a folder of its own."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder / name
        self._folder.mkdir(parents=True)
        self.certificate, self._key = self._folder / "ca.pem", self._folder / "ca.key"
        made = ("-x509", *_KEY, "-days", "2", "-subj", f"/CN={name}")
        _openssl("req", *made, "-keyout", self._key, "-out", self.certificate)

    def sign(self, host: str) -> tuple[Path, Path]:
        """Return certificate and key of a server of that name."""
        certificate, key = self._folder / f"{host}.pem", self._folder / f"{host}.key"
        made = ("-x509", *_KEY, "-days", "2", "-subj", f"/CN={host}")
        signed = ("-CA", self.certificate, "-CAkey", self._key)
        named = ("-addext", f"subjectAltName=DNS:{host}")
        plain = ("-addext", "basicConstraints=critical,CA:FALSE")
        _openssl(
            *("req", *made, *signed, *named, *plain),
            *("-keyout", key, "-out", certificate),
        )
        return certificate, key


def _openssl(*arguments: object) -> None:
    argv = ["openssl", *(str(each) for each in arguments)]
    subprocess.run(argv, check=True, capture_output=True, timeout=60)
