"""Messages become lines, and names of files say what is landed."""

import json

import pytest

from lake_spark.landing.files import list_landing
from lake_spark.sources.kafka_offsets import Partition, Range, expired, landed, ranges
from lake_spark.sources.messages import Message, line
from lake_spark.storage.object_store import FolderStore

ID = "0123456789abcdefABC-_x"


def message(value, key=None):
    return Message("shop.orders", 3, 42, 1_700_000_000_123, key, value)


def test_a_line_keeps_every_digit_of_the_value():
    text = line(message(b'{"amount": 1.10, "n": 12345678901234567890}', b'{"id":1}'))
    assert '"value": {"amount": 1.10, "n": 12345678901234567890}' in text
    found = json.loads(text)
    assert (found["kafka_topic"], found["kafka_partition"]) == ("shop.orders", 3)
    assert (found["kafka_offset"], found["kafka_key"]) == (42, '{"id":1}')
    assert found["kafka_timestamp"] == 1_700_000_000_123


def test_a_value_over_several_lines_is_one_line():
    text = line(message('{\r\n  "a": "x\\ny"\n}'.encode()))
    assert "\n" not in text and json.loads(text)["value"] == {"a": "x\ny"}


@pytest.mark.parametrize(
    "value",
    [
        b"{broken",
        b"",
        b"7",
        b'["a"]',
        b'{"a": NaN}',
        b'{"a": 1, "A": 2}',
        b'{"a": "\xff"}',
        b"\x00\x00\x00\x00\x01avro",
        b"[" * 100_000,
    ],
)
def test_a_value_that_is_no_object_is_kept_as_text(value):
    found = json.loads(line(message(value)))
    assert "value" not in found
    assert found["kafka_broken"] == value.decode("utf-8", "backslashreplace")


def test_a_tombstone_has_no_value():
    assert json.loads(line(message(None, b"1")))["value"] is None


def test_names_of_files_say_what_is_landed():
    paths = [Range(0, 0, 9), Range(0, 10, 19), Range(12, 5, 5)]
    done = landed([f"changes/{each.path(ID)}" for each in paths] + ["load/x.json.gz"])
    assert done.topic_ids == [ID]
    assert done.after(ID, Partition(0, 0, 30)) == 20
    assert done.after(ID, Partition(12, 0, 6)) == 6
    assert done.after(ID, Partition(1, 7, 9)) == 7


@pytest.mark.parametrize("id", [ID, f"_{ID[1:]}", f"__{ID[2:]}"])
def test_a_file_of_any_topic_is_seen(tmp_path, id):
    path = f"changes/{Range(3, 0, 9).path(id)}"
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text("{}")
    (found,) = list_landing(FolderStore(), f"file://{tmp_path}", ["changes/**"])
    done = landed([found.path])
    assert (done.topic_ids, done.after(id, Partition(3, 0, 30))) == ([id], 10)


def test_ranges_go_on_after_the_last_file_in_pieces():
    done = landed([Range(0, 0, 9).path(ID)])
    parts = [Partition(0, 0, 25), Partition(1, 4, 5), Partition(2, 3, 3)]
    assert list(ranges(done, ID, parts, 10)) == [
        Range(0, 10, 19),
        Range(0, 20, 24),
        Range(1, 4, 4),
    ]


def test_offsets_that_are_gone_are_told():
    done = landed([Range(0, 0, 9).path(ID), Range(1, 0, 9).path(ID)])
    gone, cut, whole = Partition(0, 15, 20), Partition(1, 0, 4), Partition(2, 8, 9)
    assert expired(done, ID, [gone, cut, whole]) == [(gone, 10), (cut, 10)]
    assert list(ranges(done, ID, [gone], 100)) == [Range(0, 15, 19)]
