"""Computes the checksums that S3 keeps of objects, as it writes them: base64."""

from __future__ import annotations

import base64
import hashlib
import zlib
from functools import lru_cache
from typing import Callable, Dict, List, Optional

ALGORITHMS = ("SHA256", "CRC64NVME", "SHA1", "CRC32C", "CRC32")
"""Names in S3, the strongest first."""


def s3_checksum(algorithm: str, content: bytes) -> Optional[str]:
    """Return the checksum of a whole content; None for an unknown algorithm."""
    digest = _DIGESTS.get(algorithm)
    return base64.b64encode(digest(content)).decode() if digest else None


def _reflected_crc(content: bytes, polynomial: int, size: int) -> bytes:
    """Compute a CRC of `size` bytes: about 10 MB/s, for few and small contents."""
    table, every = _table(polynomial), (1 << 8 * size) - 1
    value = every
    for byte in content:
        value = table[(value ^ byte) & 0xFF] ^ (value >> 8)
    return (value ^ every).to_bytes(size, "big")


@lru_cache(maxsize=None)
def _table(polynomial: int) -> List[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (polynomial if value & 1 else 0)
        table.append(value)
    return table


_DIGESTS: Dict[str, Callable[[bytes], bytes]] = {
    "SHA256": lambda content: hashlib.sha256(content).digest(),
    "SHA1": lambda content: hashlib.sha1(content).digest(),
    "CRC32": lambda content: zlib.crc32(content).to_bytes(4, "big"),
    "CRC32C": lambda content: _reflected_crc(content, 0x82F63B78, 4),
    "CRC64NVME": lambda content: _reflected_crc(content, 0x9A6C9329AC4BC9B5, 8),
}
