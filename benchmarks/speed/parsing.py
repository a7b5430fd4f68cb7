"""Target 12: 1,000 table specs into DAGs, by `benchmarks/dag_parsing.py`."""

from __future__ import annotations

import json
import subprocess
from typing import List

from benchmarks.speed.bench import Bench
from benchmarks.speed.measuring import say
from benchmarks.speed.result import Result, over
from benchmarks.speed.sources import ROOT

AIRFLOW = ROOT / ".venv-airflow" / "bin" / "python"
DOMAINS, TABLES = 50, 20


def specs(bench: Bench) -> List[Result]:
    """12: reading specs into DAGs / a bare loop of the same operators, CPU seconds."""
    if not AIRFLOW.exists():
        say(f"no {AIRFLOW}: run ./setup.sh --only airflow; target 12 is left out")
        return []
    domains = bench.sized(DOMAINS, least=10)
    asked = ["--domains", str(domains), "--tables", str(TABLES), "--json"]
    script = str(ROOT / "benchmarks" / "dag_parsing.py")
    done = subprocess.run(
        [str(AIRFLOW), script, *asked], stdout=subprocess.PIPE, text=True, check=True
    )
    found = json.loads(done.stdout.splitlines()[-1])
    ratios = [a / b for a, b in zip(found["compiled"], found["bare"])]
    what = f"{domains * TABLES:,} table specs into DAGs / a bare loop of operators"
    memory = found["compiled_bytes"] / found["bare_bytes"]
    kept = Result("12a", f"memory of the same: {what}", memory, memory, memory, 1.5)
    more = {name: found[name] for name in ("compiled_bytes", "bare_bytes", "yaml")}
    return [over("12", f"{what}, CPU seconds", ratios, 1.5, more), kept]
