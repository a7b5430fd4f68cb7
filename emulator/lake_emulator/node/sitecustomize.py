"""Python of an EMR node: boto3 is not there, unless a step brings it.

No document of AWS says that a node has it. The Python that stands in for a node's has it
for other work, so that its own is hidden here. Python imports this file as it starts.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder

ABSENT = ("boto3", "botocore", "s3transfer")


class NodePackages:
    """Finds packages that a node lacks only where a step brought them."""

    @staticmethod
    def find_spec(
        name: str, path: "Sequence[str] | None" = None, target: object = None
    ) -> "ModuleSpec | None":
        if name not in ABSENT:
            return None
        brought = [each for each in sys.path if not each.endswith("-packages")]
        found = PathFinder.find_spec(name, brought)
        if found is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return found


sys.meta_path.insert(0, NodePackages)
