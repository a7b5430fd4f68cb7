"""What this project adds to the local AWS emulator."""

from __future__ import annotations
