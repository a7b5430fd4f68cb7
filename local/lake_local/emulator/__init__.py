"""The local AWS emulator as this project runs it: its own steps alone, and class archives."""

from __future__ import annotations
