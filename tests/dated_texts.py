"""Texts that are dates and times in a format: what onboarding finds, and the lake reads."""

from __future__ import annotations

DATED = (
    (("31.12.2026", "01.02.2027"), "date", "dd.MM.yyyy", "2026-12-31"),
    (("31.1.2026", "1.12.2027"), "date", "d.M.yyyy", "2026-01-31"),
    (("12/31/2026", "01/02/2027"), "date", "MM/dd/yyyy", "2026-12-31"),
    (("31/12/2026", "1/2/2027"), "date", "d/M/yyyy", "2026-12-31"),
    (("2026/02/01", "2027/03/04"), "date", "yyyy/MM/dd", "2026-02-01"),
    (("2026-2-1", "2027-03-04"), "date", "yyyy-M-d", "2026-02-01"),
    (("31-Dec-2026", "01-MAY-2027"), "date", "dd-MMM-yyyy", "2026-12-31"),
    (("1 May 2026", "31 December 2026"), "date", "d MMMM yyyy", "2026-05-01"),
    (("Dec 31, 2026", "Jan 1, 2027"), "date", "MMM d, yyyy", "2026-12-31"),
    (
        ("31.12.2026 23:59", "01.02.2027 00:00"),
        "timestamp",
        "dd.MM.yyyy HH:mm",
        "2026-12-31 23:59:00",
    ),
    (
        ("31.12.2026 9:05:07", "01.02.2027 10:00"),
        "timestamp",
        "dd.MM.yyyy H:mm[:ss]",
        "2026-12-31 09:05:07",
    ),
    (
        ("12/31/2026 9:05 PM", "01/02/2027 12:00 AM"),
        "timestamp",
        "MM/dd/yyyy h:mm a",
        "2026-12-31 21:05:00",
    ),
    (
        ("2026-12-31 10:00:00,123", "2027-01-01 00:00:00,5"),
        "timestamp",
        "yyyy-MM-dd HH:mm:ss,SSS",
        "2026-12-31 10:00:00.123",
    ),
    (
        ("31.12.2026 10:00:00.25", "01.01.2027 00:00:00"),
        "timestamp",
        "dd.MM.yyyy HH:mm:ss[.SS]",
        "2026-12-31 10:00:00.25",
    ),
    (
        ("31/12/2026T10:00:00+02:00", "01/01/2027T00:00:00Z"),
        "timestamp",
        "dd/MM/yyyy'T'HH:mm:ssXXX",
        "2026-12-31 08:00:00",
    ),
)
"""Texts, the type and the format that alone reads them, and what the first one is."""
