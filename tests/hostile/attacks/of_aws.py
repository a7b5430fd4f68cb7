"""boto3, as scripts and consoles do: objects, settings of the bucket, the catalogue."""

from __future__ import annotations

from typing import Any

from tests.hostile import names
from tests.hostile.attacks.attack import EVERY_LAYER, GUARDED, attack


@attack("boto3", "DeleteObject", on=EVERY_LAYER, roles=GUARDED, quick=GUARDED)
def aws_deletes_one_file(engine: Any, layer: str) -> None:
    file = next(each for each in _files(engine, layer, ".parquet"))
    engine.aws("s3").delete_object(Bucket=file["Bucket"], Key=file["Key"])


@attack("boto3", "DeleteObjects", on=EVERY_LAYER, roles=GUARDED, quick=GUARDED)
def aws_deletes_the_folder(engine: Any, layer: str) -> None:
    engine.delete(list(engine.below(engine.folder(layer))))


@attack("boto3", "DeleteObject with a VersionId", roles=GUARDED)
def aws_deletes_a_version(engine: Any, layer: str) -> None:
    file = next(each for each in _files(engine, layer, ".parquet"))
    s3, of = engine.aws("s3"), {"Bucket": file["Bucket"], "Key": file["Key"]}
    version = s3.head_object(**of).get("VersionId", "null")
    s3.delete_object(**of, VersionId=version)


@attack("boto3", "PutObject", on=EVERY_LAYER, roles=GUARDED, quick=GUARDED)
def aws_puts_a_foreign_file(engine: Any, layer: str) -> None:
    file = next(each for each in _files(engine, layer, ".parquet"))
    folder = file["Key"].rpartition("/")[0]
    source = {"Bucket": file["Bucket"], "Key": file["Key"]}
    key = f"{folder}/part-00000-0a1b2c3d-c000.snappy.parquet"
    engine.aws("s3").copy_object(Bucket=file["Bucket"], Key=key, CopySource=source)


@attack("boto3", "PutObject over a file", on=EVERY_LAYER, roles=GUARDED)
def aws_replaces_a_file(engine: Any, layer: str) -> None:
    file = next(each for each in _files(engine, layer, ".parquet"))
    engine.aws("s3").put_object(Bucket=file["Bucket"], Key=file["Key"], Body=b"x")


@attack("boto3", "PutObject of hoodie.properties", roles=GUARDED)
def aws_replaces_the_properties_of_hudi(engine: Any, layer: str) -> None:
    file = next(each for each in _files(engine, layer, "hoodie.properties"))
    engine.aws("s3").put_object(Bucket=file["Bucket"], Key=file["Key"], Body=b"x")


@attack("boto3", "DeleteObjects of landing files", roles=GUARDED)
def aws_deletes_landing_files(engine: Any, layer: str) -> None:
    engine.delete(list(engine.below(f"s3://{names.LANDING}/files")))


@attack("boto3", "PutBucketLifecycleConfiguration", roles=GUARDED)
def aws_lets_the_files_expire(engine: Any, layer: str) -> None:
    rule = {"ID": "x", "Status": "Enabled", "Filter": {"Prefix": ""}}
    rule["Expiration"] = {"Days": 1}
    engine.aws("s3").put_bucket_lifecycle_configuration(
        Bucket=names.WAREHOUSE, LifecycleConfiguration={"Rules": [rule]}
    )


@attack("boto3", "DeleteBucketPolicy", roles=GUARDED)
def aws_deletes_the_policy_of_the_bucket(engine: Any, layer: str) -> None:
    engine.aws("s3").delete_bucket_policy(Bucket=names.WAREHOUSE)


@attack("boto3", "PutBucketPolicy", roles=GUARDED)
def aws_replaces_the_policy_of_the_bucket(engine: Any, layer: str) -> None:
    policy = '{"Version": "2012-10-17", "Statement": []}'
    engine.aws("s3").put_bucket_policy(Bucket=names.WAREHOUSE, Policy=policy)


@attack("boto3", "PutBucketVersioning", roles=GUARDED)
def aws_suspends_versions(engine: Any, layer: str) -> None:
    engine.aws("s3").put_bucket_versioning(
        Bucket=names.WAREHOUSE, VersioningConfiguration={"Status": "Suspended"}
    )


@attack("boto3", "glue:DeleteTable", on=EVERY_LAYER, roles=GUARDED)
def aws_deletes_the_entry_of_iceberg(engine: Any, layer: str) -> None:
    engine.delete_entry(f"{names.DOMAIN}_iceberg", layer)


@attack("boto3", "glue:DeleteTable", roles=GUARDED)
def aws_deletes_the_entry_of_delta(engine: Any, layer: str) -> None:
    engine.delete_entry(f"{names.DOMAIN}_delta", layer)


@attack("boto3", "glue:DeleteTable", on=EVERY_LAYER, roles=GUARDED)
def aws_deletes_the_entry_of_hudi(engine: Any, layer: str) -> None:
    engine.delete_entry(names.DOMAIN, layer)


@attack("boto3", "glue:UpdateTable", roles=GUARDED)
def aws_moves_the_entry_of_iceberg(engine: Any, layer: str) -> None:
    _move_entry(engine, f"{names.DOMAIN}_iceberg", layer)


@attack("boto3", "glue:UpdateTable", roles=GUARDED)
def aws_moves_the_entry_of_delta(engine: Any, layer: str) -> None:
    _move_entry(engine, f"{names.DOMAIN}_delta", layer)


@attack("boto3", "glue:UpdateTable", roles=GUARDED)
def aws_moves_the_entry_of_hudi(engine: Any, layer: str) -> None:
    _move_entry(engine, names.DOMAIN, layer)


@attack("boto3", "glue:DeleteDatabase", roles=GUARDED)
def aws_deletes_the_database_of_iceberg(engine: Any, layer: str) -> None:
    engine.aws("glue").delete_database(Name=f"{names.DOMAIN}_iceberg")


@attack("boto3", "glue:DeleteDatabase", roles=GUARDED)
def aws_deletes_the_database_of_hudi(engine: Any, layer: str) -> None:
    engine.aws("glue").delete_database(Name=names.DOMAIN)


def _files(engine: Any, layer: str, ending: str) -> Any:
    return (e for e in engine.below(engine.folder(layer)) if e["Key"].endswith(ending))


def _move_entry(engine: Any, database: str, layer: str) -> None:
    """Let an entry lead elsewhere, as a crawler or a copied script does."""
    glue, of = engine.aws("glue"), {"DatabaseName": database}
    found = glue.get_table(**of, Name=names.LAYERS[layer])["Table"]
    kept = ("Name", "Owner", "TableType", "Parameters", "PartitionKeys")
    moved = {name: found[name] for name in kept if name in found}
    where = {**found["StorageDescriptor"], "Location": f"s3://{names.WORK}/elsewhere"}
    glue.update_table(**of, TableInput={**moved, "StorageDescriptor": where})
