"""Checksums are those that S3 keeps: the check values that their definitions give."""

from __future__ import annotations

import base64

import pytest

from lake_spec.state.checksums import ALGORITHMS, s3_checksum

OF_123456789 = {
    "CRC32": "cbf43926",
    "CRC32C": "e3069283",
    "CRC64NVME": "ae8b14860a799888",
    "SHA1": "f7c3bc1d808e04732adf679965ccc34ca7ae3441",
    "SHA256": "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225",
}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_checksum_is_that_of_its_definition(algorithm):
    expected = base64.b64encode(bytes.fromhex(OF_123456789[algorithm])).decode()
    assert s3_checksum(algorithm, b"123456789") == expected


def test_an_unknown_algorithm_gives_nothing():
    assert s3_checksum("MD5", b"") is None
