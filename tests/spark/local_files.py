"""Lakes in folders of this machine, without a program for each file that is made.

Hadoop starts `chmod` for every file, its checksum and each folder, where its native
library is missing. That took two thirds of the time of writes of many small files.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Dict

PROJECT = Path(__file__).resolve().parents[2]
FOLDER = "local-files"
"""Below the folder of jars (local/runtimes/local-files)."""
CLASS = "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem"


def jars_folder() -> Path:
    """The folder of jars, which LAKE_JARS may name."""
    return Path(os.environ.get("LAKE_JARS", PROJECT / ".local" / "jars"))


def in_java() -> Dict[str, str]:
    """The settings of Spark by which Java itself sets the rights of files.

    The class must be there before `spark.jars` are, which Hadoop reads.
    """
    found = sorted((jars_folder() / FOLDER).glob("*.jar"))
    assert found, f"no jar in {jars_folder() / FOLDER}: run ./setup.sh"
    return {
        "spark.driver.extraClassPath": ":".join(map(str, found)),
        "spark.hadoop.fs.file.impl": CLASS,
    }
