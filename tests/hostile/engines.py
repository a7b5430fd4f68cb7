"""Other engines on the emulator: programs for those of Python, Spark and Trino.

    python -m tests.hostile.engines readers|spark|trino

It plays attacks by their names, as the caller that its environment has the key of.
"""

from __future__ import annotations

import os
import sys
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Mapping

from tests.hostile import names
from tests.hostile.child import Child, serve

ENDPOINT = os.environ["AWS_ENDPOINT_URL"]
KEY, SECRET = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]


class Engine:
    """A program that plays attacks on one layer of the table."""

    def answer(self, what: str, **about: Any) -> Any:
        """Do what is asked."""
        return getattr(self, what)(**about)

    def play(self, attack: str, layer: str) -> None:
        """Play an attack; raises what the engine raises."""
        from tests.hostile.attacks import ATTACKS

        ATTACKS[attack].play(self, layer)

    @staticmethod
    def folder(layer: str) -> str:
        """Return the folder of Hudi's table."""
        return names.addresses()[layer]


class Readers(Engine):
    """pyiceberg, delta-rs and DuckDB, and boto3 for what others send to AWS."""

    def rows(self) -> Dict[str, Dict[str, Any]]:
        """Return the rows of each layer as each library shows them; an error as its text."""
        reads = {
            "Iceberg": lambda layer: self.iceberg(layer).scan().to_arrow(),
            "Delta": lambda layer: self.delta(layer).to_pyarrow_table(),
        }
        return self._shown(reads)

    def rows_by_duckdb(self) -> Dict[str, Dict[str, Any]]:
        """Return the same as DuckDB's extensions show it."""
        from lake_local.show import published

        def read(kind: str, layer: str) -> Any:
            folder = self.folder(layer)
            found = published.duckdb_rows(self.duckdb, kind, folder, None)
            return found.to_arrow_table()

        return self._shown(
            {f"DuckDB's {each}": partial(read, each) for each in ("iceberg", "delta")}
        )

    @staticmethod
    def _shown(reads: Mapping[str, Callable[[str], Any]]) -> Dict[str, Dict[str, Any]]:
        found: Dict[str, Dict[str, Any]] = {}
        for name, read in reads.items():
            for layer in names.LAYERS:
                try:
                    shown = _texts(read(layer))
                except Exception as error:  # of any library: it is an answer
                    shown = f"{type(error).__name__}: {error}"
                found.setdefault(name, {})[layer] = shown
        return found

    @cached_property
    def catalog(self) -> Any:
        """Return Glue, as pyiceberg's catalogue."""
        from pyiceberg.catalog import load_catalog

        where = {"endpoint": ENDPOINT, "region": names.REGION}
        keys = {"access-key-id": KEY, "secret-access-key": SECRET, **where}
        given = {
            f"{of}.{name}": each for of in ("glue", "s3") for name, each in keys.items()
        }
        return load_catalog("lake", type="glue", **given)

    def iceberg_name(self, layer: str) -> str:
        """Return the name of a published table."""
        return f"{names.DOMAIN}_iceberg.{names.LAYERS[layer]}"

    def iceberg(self, layer: str) -> Any:
        """Return a table as the catalogue has it now."""
        return self.catalog.load_table(self.iceberg_name(layer))

    def delta(self, layer: str) -> Any:
        """Return a table as its log has it now."""
        from deltalake import DeltaTable

        return DeltaTable(self.folder(layer), storage_options=self.delta_options)

    @property
    def delta_options(self) -> Dict[str, str]:
        """Return what delta-rs must know of the store."""
        return {
            "AWS_ENDPOINT_URL": ENDPOINT,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": names.REGION,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "conditional_put": "etag",
        }

    @cached_property
    def duckdb(self) -> Any:
        """Return a connection with the extensions of both formats."""
        from lake_local.show import layers, published

        connection = layers.connect()
        for kind in ("iceberg", "delta"):
            published.load_extensions(connection, kind, ENDPOINT)
        return connection

    def aws(self, service: str) -> Any:
        """Return a client of a service, which asks once."""
        import boto3
        from botocore.config import Config

        style = {"addressing_style": "path"}
        return boto3.client(
            service,
            region_name=names.REGION,
            config=Config(s3=style, retries={"total_max_attempts": 1}, proxies={}),
        )

    def delete_entry(self, database: str, layer: str) -> None:
        """Delete the entry of a layer in a database of the catalogue."""
        glue = self.aws("glue")
        glue.delete_table(DatabaseName=database, Name=names.LAYERS[layer])

    def below(self, uri: str) -> Iterator[Any]:
        """Yield the objects below a folder, as a listing has them."""
        bucket, _, key = uri[len("s3://") :].partition("/")
        pages = self.aws("s3").get_paginator("list_objects_v2")
        prefix = key.rstrip("/") + "/"
        for each in pages.paginate(Bucket=bucket, Prefix=prefix).search("Contents[]"):
            if each:
                yield {**each, "Bucket": bucket, "Uri": f"s3://{bucket}/{each['Key']}"}

    def delete(self, objects: List[Any]) -> None:
        """Delete objects; RuntimeError with the first that is refused."""
        for start in range(0, len(objects), 1000):
            some = objects[start : start + 1000]
            reply = self.aws("s3").delete_objects(
                Bucket=some[0]["Bucket"],
                Delete={"Objects": [{"Key": each["Key"]} for each in some]},
            )
            if errors := reply.get("Errors"):
                raise RuntimeError(errors[0]["Message"])


class Spark(Engine):
    """Spark with Iceberg's catalogue of Glue, `glue`, and Delta by paths."""

    @cached_property
    def session(self) -> Any:
        """Return a session as an analyst makes it."""
        from pyspark.sql import SparkSession

        iceberg, delta = "org.apache.iceberg.spark", "org.apache.spark.sql.delta"
        glue = "spark.sql.catalog.glue"
        settings = {
            "spark.sql.extensions": f"{iceberg}.extensions.IcebergSparkSessionExtensions,"
            "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": f"{delta}.catalog.DeltaCatalog",
            "spark.databricks.delta.snapshotPartitions": "1",
            "spark.sql.shuffle.partitions": "1",
            glue: f"{iceberg}.SparkCatalog",
            f"{glue}.type": "glue",
            f"{glue}.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
            f"{glue}.glue.endpoint": ENDPOINT,
            f"{glue}.client.region": names.REGION,
            f"{glue}.s3.endpoint": ENDPOINT,
            f"{glue}.s3.path-style-access": "true",
            f"{glue}.cache-enabled": "false",
        }
        builder = SparkSession.builder.appName("hostile")
        for name, value in settings.items():
            builder = builder.config(name, value)
        made = builder.getOrCreate()
        made.sparkContext.setLogLevel("ERROR")
        return made

    def sql(self, statement: str) -> List[Any]:
        """Run a statement to its end."""
        return self.session.sql(statement).collect()

    def iceberg(self, layer: str) -> str:
        """Return the name of a table in Iceberg's catalogue."""
        return f"glue.{names.DOMAIN}_iceberg.{names.LAYERS[layer]}"

    def delta(self, layer: str) -> str:
        """Return the name of a table of Delta, anew: another may have changed its log."""
        log = self.session._jvm.org.apache.spark.sql.delta.DeltaLog
        log.clearCache()
        return f"delta.`{self.folder(layer)}`"

    def call(self, procedure: str, layer: str, more: str = "") -> List[Any]:
        """Call a procedure of Iceberg on a table."""
        table = self.iceberg(layer)[len("glue.") :]
        return self.sql(f"CALL glue.system.{procedure}(table => '{table}'{more})")


class Trino(Engine):
    """Trino's own connector of Iceberg over Glue, in a process of Java 25."""

    @cached_property
    def server(self) -> Child:
        """Return the server, which is started at its first use."""
        source = Path(__file__).resolve().parent / "java" / "TrinoServer.java"
        argv = [
            os.environ["TRINO_JAVA"],
            "-Xmx1g",
            "--enable-native-access=ALL-UNNAMED",
            "--add-modules=jdk.incubator.vector",
        ]
        argv += ["-cp", os.environ["TRINO_JARS"] + "/*", str(source)]
        return Child(argv, os.environ, Path("trino.log"), Path.cwd())

    def sql(self, statement: str) -> int:
        """Run a statement to its end; how many rows it has."""
        return self.server.ask(statement=statement)

    def iceberg(self, layer: str) -> str:
        """Return the name of a table."""
        return f"lake.{names.DOMAIN}_iceberg.{names.LAYERS[layer]}"


def _texts(table: Any) -> List[str]:
    from tests.readers.same_text import row_texts

    columns = [name for name in table.column_names if name in names.COLUMNS]
    listed = [table[name].to_pylist() for name in columns]
    return row_texts(columns, zip(*listed))


if __name__ == "__main__":
    kinds = {"readers": Readers, "spark": Spark, "trino": Trino}
    serve(lambda: kinds[sys.argv[1]]().answer)
