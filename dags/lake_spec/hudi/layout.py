"""How a Hudi table lies in its folder, and what Hudi adds to rows: names without options."""

from __future__ import annotations

HUDI_COLUMNS = (
    "_hoodie_commit_time",
    "_hoodie_commit_seqno",
    "_hoodie_record_key",
    "_hoodie_partition_path",
    "_hoodie_file_name",
)
"""What Hudi adds to each row, before its own columns."""

HUDI_PREFIX = "_hoodie_"
"""How the names of all of Hudi's columns begin, that of its flag of deletes too."""

METADATA_FOLDER = ".hoodie"
"""Folder of a table's properties and timeline."""

METADATA_TABLE_FOLDER = f"{METADATA_FOLDER}/metadata"
"""Folder of a table's indexes."""

PROPERTIES = f"{METADATA_FOLDER}/hoodie.properties"
"""The file that makes a folder a Hudi table."""

HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
"""What a folder is called by whose column has no value."""

NO_PARTITIONS = ("", HIVE_NULL, "default")
"""Values of partition columns that Hudi's readers take for no value."""
