"""Run a tool as `python -m` does, without searches for garbage: half of black's time.

    python -m tests.less_garbage black --check .

For tools that end within a minute, as what they leave stays in memory.
"""

from __future__ import annotations

import gc
import runpy
import sys

if __name__ == "__main__":
    gc.disable()  # also for the processes that it forks
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
