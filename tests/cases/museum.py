"""The museum's two snapshots as a feed: a full load, and I, U, D made of the difference."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from typing import Dict, List

DATA = Path(__file__).resolve().parents[2] / "data" / "moma"
FIRST = DATA / "artists_2016-03-03.csv.gz"
SECOND = DATA / "artists_2016-05-12.csv.gz"
NAMES = "ConstituentID,DisplayName,ArtistBio,Nationality,Gender,BeginDate,EndDate,Wiki QID,ULAN"

FEED_SPEC = """
name: artists
description: Artists of the museum, as a full load and a change feed
owner: museum-data
engine: {engine}
source:
  kind: feed
  path: moma/artists_feed
  load: "load/*.csv.gz"
  changes: "changes/*.csv"
  format: {{type: csv, null_text: ["", "NULL"]}}
  operation: {{column: Op}}
columns:
  changed_at: {{type: timestamp, source: [ChangedAt]}}
  constituent_id: {{type: int, source: [ConstituentID]}}
  display_name: {{type: string, source: [DisplayName]}}
  artist_bio: {{type: string, source: [ArtistBio, DisplayDate]}}
  nationality: string
  gender: {{type: string, source: [Gender, Code]}}
  begin_date: {{type: int, source: [BeginDate]}}
  end_date: {{type: int, source: [EndDate]}}
  wiki_qid: {{type: string, source: [Wiki QID]}}
  ulan: string
key: [constituent_id]
order_by: [changed_at]
load_effective_at: "2016-03-03"
storage: {{type: {storage}, buckets: 2}}
maintenance: {{compact_after: 1, cluster_after: 2}}
"""


def rows(file: Path) -> Dict[str, List[str]]:
    """Rows of a snapshot by artist, missing text as ''."""
    with gzip.open(file, "rt", encoding="utf-8-sig", newline="") as stream:
        records = list(csv.reader(stream))[1:]
    return {r[0]: ["" if value == "NULL" else value for value in r] for r in records}


def change_feed(at: str = "2016-05-12 00:00:00") -> str:
    """I, U and D between the snapshots as CSV text, all at one time."""
    before, after = rows(FIRST), rows(SECOND)
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(["Op", "ChangedAt", *NAMES.split(",")])
    for key, row in after.items():
        if key not in before:
            writer.writerow(["I", at, *row])
        elif before[key] != row:
            writer.writerow(["U", at, *row])
    for key in before.keys() - after.keys():
        writer.writerow(["D", at, key, *[""] * 8])
    return out.getvalue()
