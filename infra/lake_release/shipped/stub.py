"""The Airflow DAGs of the file of this name in the current release: see current.json."""

from pathlib import Path
from runpy import run_path

_loader = run_path(str(Path(__file__).with_name("lake_current.py")))
globals().update(_loader["dags_of"](__file__))
