"""The rows of a published table, as pyiceberg and delta-rs read them, as JSON.

    python -m tests.spark.publish.engine_rows PATH [SNAPSHOT VERSION]

runs in the environment of the readers, which has neither Spark nor Hudi.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import datetime, timezone
from typing import Any, List, Optional


def main(
    path: str, snapshot: Optional[str] = None, version: Optional[str] = None
) -> None:
    """Print the rows of each engine."""
    from deltalake import DeltaTable
    from pyiceberg.table import StaticTable

    from lake_spec.layout.published_tables import iceberg_location

    folder = path[len("file://") :]
    iceberg = StaticTable.from_metadata(iceberg_location(path))
    scan = iceberg.scan(snapshot_id=int(snapshot) if snapshot else None)
    delta = DeltaTable(folder, version=int(version) if version else None)
    found = {
        "pyiceberg": scan.to_arrow().to_pylist(),
        "delta-rs": delta.to_pyarrow_table().to_pylist(),
    }
    print(json.dumps({name: texts(rows) for name, rows in found.items()}))


def texts(rows: List[dict]) -> List[str]:
    """Rows as texts that do not depend on the engine, nor on the order of rows."""
    return sorted(json.dumps(plain(row), sort_keys=True) for row in rows)


def plain(value: Any) -> Any:
    """A value as JSON; instants in UTC."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, datetime):
        zoned = value if value.tzinfo else value.replace(tzinfo=timezone.utc)
        return zoned.astimezone(timezone.utc).isoformat()
    return value if value is None or isinstance(value, (bool, int)) else str(value)


if __name__ == "__main__":
    main(*sys.argv[1:])
    sys.stdout.flush()
    # Threads of the engines' libraries sometimes abort the exit on a slow machine.
    os._exit(0)
