"""Rules on the form of AWS's ids, ARNs and tags, in any spec."""

from __future__ import annotations

import re
from typing import Iterator, Optional, Sequence, Tuple

from lake_spec.diagnostics.diagnostic import Path, Problem, got
from lake_spec.model import names
from lake_spec.model.forms import KMS_KEY

MOST_TAGS = 20
"""Tags of one file: EMR allows 50 for environment, cluster and run together."""

PARAMETER = re.compile(r"(/[A-Za-z0-9_.-]+){1,15}|[A-Za-z0-9_.-]+")
"""Valid names of SSM parameters."""

_OURS = ("lake:", "for-use-with-amazon-emr-managed-policies")


def kms_key(path: Path, value: Optional[str], region: str) -> Iterator[Problem]:
    """Require a KMS key to be in the region, if there is one."""
    if value is not None and KMS_KEY.fits(value) and value.split(":")[3] != region:
        hint = (
            "Write the ARN of a KMS key of the environment's region, as in"
            f" arn:aws:kms:{region}:111122223333:key/01234567-89ab-cdef-0123-456789abcdef."
        )
        yield got(path, value, hint)


def tags(pairs: Sequence[Tuple[str, str]]) -> Iterator[Problem]:
    """Require tags that AWS accepts and the project does not reserve."""
    if len(pairs) > MOST_TAGS:
        hint = f"Keep at most {MOST_TAGS}: EMR allows 50, and a run adds its own."
        message = f"got {len(pairs)} tags"
        yield Problem(("tags",), len(pairs), message, hint)
    for key, value in pairs:
        path = ("tags", key)
        yield from names.label(path, key, 128)
        yield from names.label(path, value, 256)
        if key.lower().startswith("aws:"):
            hint = "AWS reserves keys that begin with aws: - choose another key."
            yield got(path, key, hint)
        if key.lower().startswith(_OURS):
            hint = "The project sets this tag on every cluster: choose another key."
            yield got(path, key, hint)
