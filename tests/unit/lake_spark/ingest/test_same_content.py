"""The same bytes put again are the same file, whatever ETag S3 gives them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lake_emulator import client
from lake_emulator.server import Emulator
from lake_spark.errors import RefusedInput
from lake_spark.ingest import same_content
from lake_spark.landing.files import list_landing
from lake_spark.landing.ingested_files import IngestedFilesFolder
from lake_spark.storage.object_store import FolderStore, S3Store, StoredObject

ROWS = b"id,note\n1,a\n"
KMS = {"ServerSideEncryption": "aws:kms"}


@pytest.fixture(scope="module")
def s3(tmp_path_factory):
    served = Emulator(tmp_path_factory.mktemp("aws"), grace=2, idle_scale=0.005)
    served.start()
    yield client("s3", served.url, secret=served.secret)
    served.stop()


@pytest.fixture
def bucket(s3, request):
    name = f"b{abs(hash(request.node.nodeid)):x}"
    where = {"LocationConstraint": "eu-central-1"}
    s3.create_bucket(Bucket=name, CreateBucketConfiguration=where)
    return name


@pytest.fixture
def run(s3, bucket):
    """What a comparison needs of a run, its files in a bucket that KMS encrypts."""
    store = S3Store.__new__(S3Store)
    store._s3 = s3
    return SimpleNamespace(store=store, landing=f"s3://{bucket}/things")


def taken(run):
    """The inputs of a commit of all that lies there."""
    folder = IngestedFilesFolder(FolderStore(), "file:///nowhere")
    files = list_landing(run.store, run.landing, ["**"])
    known = same_content.checksums(run.store, files)
    return folder.load(None).next(files, {}, {}, checksums=known)


def unseen(run, inputs, ours=0):
    found = list_landing(run.store, run.landing, ["**"])
    compared = same_content.compared(run.store, lambda files: files[:ours])
    return inputs.unseen(found, "tests", {}, compared)


def test_the_same_bytes_put_again_are_no_new_input(run, s3, bucket):
    s3.put_object(Bucket=bucket, Key="things/a.csv", Body=ROWS, **KMS)
    inputs = taken(run)
    first = inputs.find("a.csv")
    assert (first.size, first.checksum.split(":")[0]) == (12, "CRC32")
    s3.put_object(Bucket=bucket, Key="things/a.csv", Body=ROWS, **KMS)
    assert unseen(run, inputs) == []
    after = inputs.next([], {}, {}).find("a.csv")
    assert after.etag != first.etag and after.checksum == first.checksum


@pytest.mark.parametrize("other", [b"id,note\n1,b\n", b"id,note\n1,bc\n"])
def test_other_bytes_under_a_known_name_are_refused(run, s3, bucket, other):
    s3.put_object(Bucket=bucket, Key="things/a.csv", Body=ROWS, **KMS)
    inputs = taken(run)
    s3.put_object(Bucket=bucket, Key="things/a.csv", Body=other, **KMS)
    with pytest.raises(RefusedInput, match="a.csv was changed after it was ingested"):
        unseen(run, inputs)


@pytest.mark.parametrize("algorithm", ["CRC64NVME", "SHA256", "SHA1", "CRC32C"])
def test_who_puts_it_again_may_use_another_checksum(run, s3, bucket, algorithm):
    from lake_spec.state.checksums import s3_checksum

    headers = {f"Checksum{algorithm}": s3_checksum(algorithm, ROWS)}
    s3.put_object(Bucket=bucket, Key="things/a.csv", Body=ROWS, **KMS, **headers)
    inputs = taken(run)
    assert inputs.find("a.csv").checksum.startswith(f"{algorithm}:")
    s3.put_object(Bucket=bucket, Key="things/a.csv", Body=ROWS, **KMS)
    assert unseen(run, inputs) == []
    s3.put_object(Bucket=bucket, Key="things/a.csv", Body=ROWS[::-1], **KMS)
    with pytest.raises(RefusedInput):
        unseen(run, inputs)


def test_what_came_in_parts_may_come_again_as_one(run, s3, bucket, monkeypatch):
    monkeypatch.setattr("lake_emulator.s3.multipart.SMALLEST_PART", 1)
    rows, where = ROWS * 2, {"Bucket": bucket, "Key": "things/a.csv"}
    upload = s3.create_multipart_upload(**where, **KMS, ChecksumAlgorithm="CRC32")
    where["UploadId"] = upload["UploadId"]
    parts = [
        {"PartNumber": number, "ETag": part["ETag"], **crc(part)}
        for number in (1, 2)
        for part in [
            s3.upload_part(
                **where, PartNumber=number, Body=ROWS, ChecksumAlgorithm="CRC32"
            )
        ]
    ]
    s3.complete_multipart_upload(**where, MultipartUpload={"Parts": parts})
    inputs = taken(run)
    assert inputs.find("a.csv").etag.endswith("-2")
    s3.put_object(Bucket=bucket, Key="things/a.csv", Body=rows, **KMS)
    assert unseen(run, inputs) == []


def crc(part):
    return {name: part[name] for name in ("ChecksumCRC32",) if name in part}


def test_a_checksum_is_only_of_what_was_listed(run, s3, bucket):
    s3.put_object(Bucket=bucket, Key="things/a.csv", Body=ROWS, **KMS)
    (file,) = list_landing(run.store, run.landing, ["**"])
    s3.put_object(Bucket=bucket, Key="things/a.csv", Body=b"other", **KMS)
    assert same_content.checksums(run.store, [file]) == {}
    s3.delete_object(Bucket=bucket, Key="things/a.csv")
    assert same_content.checksums(run.store, [file]) == {}


def test_contents_that_are_to_be_there_are_no_others(run, s3, bucket):
    s3.put_object(Bucket=bucket, Key="things/a.csv", Body=ROWS, **KMS)
    inputs = taken(run)
    s3.put_object(Bucket=bucket, Key="things/a.csv", Body=b"id,note\n,\n", **KMS)
    assert unseen(run, inputs, ours=1) == []


def test_a_file_of_a_folder_has_the_hash_of_its_bytes(tmp_path):
    (tmp_path / "a.csv").write_bytes(ROWS)
    (found,) = FolderStore().list(f"file://{tmp_path}/")
    assert FolderStore().checksum(found) == (
        "SHA256:cAUurk8JLMseBHEvGQieBqdxNM+SmTnY3Qoa3CcEQBQ="
    )
    gone = StoredObject(found.uri + "x", "", 1, found.modified)
    assert FolderStore().checksum(gone) is None
