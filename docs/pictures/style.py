"""Colours and font of all pictures."""

FILLS = ("#d6e4ff", "#ffe3c7", "#d5f0dc", "#eadcfb")
STROKES = ("#2f5fb3", "#b35c14", "#2a7d46", "#6f42a8")
DELETED, INK, FAINT, LINE = "#b42318", "#1f2933", "#667085", "#e4e7ec"
FONT = "font-family='-apple-system, Segoe UI, Helvetica, Arial, sans-serif'"
