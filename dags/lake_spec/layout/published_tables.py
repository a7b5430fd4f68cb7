"""What keeps tools of other formats from writing to a published table.

The base files of a table are Hudi's, and so is its folder. Iceberg's tools take a table's
location for the table's own: to drop the table is to delete all below it, and what no
snapshot names is an orphan, Hudi's timeline among it. So Iceberg's location is a folder
next to Hudi's, which has Iceberg's metadata and no row. A Delta log must lie in the folder
of its files; writers leave a table alone whose protocol names a feature that they do not
know, as Delta's protocol asks of them, and readers do not look at features of writers.
"""

from __future__ import annotations

ICEBERG = "iceberg"
"""Folder of a table, next to its layers: in it a location of Iceberg for each of them."""

ICEBERG_FOLDER, DELTA_FOLDER = "metadata", "_delta_log"
"""Folders of published metadata, below the location."""

HUDI_INSTANT = "lake.hudi-instant"
"""Names the commit of Hudi in each Iceberg snapshot and each Delta version."""

DELTA_WRITER_FEATURE = "lakeHudi"
"""Named in the protocol of each Delta log: no engine has a feature of this name."""


def iceberg_location(folder: str) -> str:
    """Return the location of the Iceberg table that shows the layer in this folder."""
    table, _, layer = folder.rpartition("/")
    return f"{table}/{ICEBERG}/{layer}"
