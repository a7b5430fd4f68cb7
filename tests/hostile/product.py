"""The product in a process that stays: its stages, and rows as Hudi reads them.

Stages run as main.py runs them, in one Spark application: each would start its own.
"""

from __future__ import annotations

from typing import Any, Dict, List, Sequence
from unittest.mock import patch

from py4j.protocol import Py4JJavaError

from lake_spark.step import application
from lake_spark.storage.session import open_session
from tests.hostile import names
from tests.hostile.child import serve
from tests.readers.same_text import row_texts


class Product:
    """Stages and readings of the lake that is attacked."""

    def __init__(self) -> None:
        self._spark = open_session("hostile")
        self._spark.sparkContext.setLogLevel("ERROR")

    def answer(self, what: str, **about: Any) -> Any:
        """Do what is asked."""
        return getattr(self, what)(**about)

    def run(self, argv: Sequence[str]) -> int:
        """Run a step; its exit code."""
        with patch.object(application, "open_session", lambda name: self._spark):
            return application.main(argv)

    def rows(self) -> Dict[str, List[str]]:
        """Return the rows of each layer."""
        found = {}
        for layer, path in names.addresses().items():
            rows = self._spark.read.format("hudi").load(path)
            columns = [n for n in rows.columns if n in names.COLUMNS]
            found[layer] = row_texts(columns, rows.select(*columns).collect())
        return found

    def renamed(self, folder: str, keys: List[str]) -> Dict[str, str]:
        """Put, read, rename and delete an object of each key by Hadoop; what went wrong."""
        return {key: wrong for key in keys if (wrong := self._renamed(folder, key))}

    def _renamed(self, folder: str, key: str) -> str:
        jvm = self._spark._jvm
        path = jvm.org.apache.hadoop.fs.Path(f"{folder}/{key}")
        other = jvm.org.apache.hadoop.fs.Path(f"{folder}/{key}x")
        files = path.getFileSystem(self._spark._jsc.hadoopConfiguration())
        try:
            stream = files.create(path, True)
            stream.write(bytearray(key.encode()))
            stream.close()
            stream = files.open(path)
            read = bytes(stream.readAllBytes()).decode()
            stream.close()
            listed = [
                each.getPath().toString() for each in files.listStatus(path.getParent())
            ]
            moved = files.rename(path, other) and files.exists(other)
            gone = files.delete(other, False) and not files.exists(path)
        except Py4JJavaError as error:
            return str(error.java_exception)
        steps = {"read": read == key, "list": path.toString() in listed}
        steps.update(rename=moved, delete=gone)
        return ", ".join(name for name, done in steps.items() if not done)


if __name__ == "__main__":
    serve(lambda: Product().answer)
