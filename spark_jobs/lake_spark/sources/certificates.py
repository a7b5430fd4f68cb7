"""Whom a connection trusts, where the driver and every executor find it.

Drivers of databases take certificates from a file whose path all sessions have in common.
Spark puts a file into the working folder of each executor, so the path is a name alone,
and the driver finds it where the step was started. The name says the content.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from pathlib import Path

from pyspark.sql import SparkSession

from lake_spec.text.certificates import NoCertificates, certificates_in
from lake_spark.errors import WrongCertificates, first_line
from lake_spark.storage.object_store import ObjectStore


def certificates_of(store: ObjectStore, connection: str, uri: str) -> str:
    """Return the certificates of a connection's `ca`. Raise WrongCertificates."""
    try:
        return certificates_in(store.read(uri), uri)
    except NoCertificates as error:
        raise WrongCertificates(f"connection {connection!r}: ca: {error}") from None
    except KeyError:
        words = "it does not exist"
    except Exception as error:
        words = first_line(error)  # S3 denies what is missing to who may not list
    raise WrongCertificates(
        f"connection {connection!r}: ca: {uri} cannot be read: {words}. Put the file"
        " there, or correct `ca`; a role that is older than it is deployed again."
    )


def shared_file(spark: SparkSession, certificates: str) -> str:
    """Return the path of a file with the certificates, for the driver and executors."""
    content = certificates.encode()
    file = Path(f"lake-ca-{hashlib.sha256(content).hexdigest()[:16]}.pem")
    part = Path(f"{file}.{uuid.uuid4().hex}")
    part.write_bytes(content)
    os.replace(part, file)  # tables side by side may use one connection
    spark.sparkContext.addFile(str(file.resolve()))
    return file.name
