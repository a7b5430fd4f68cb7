"""Where rows come from is told where it is broken."""

import pytest

from tests.unit.lake_check.spec_files import FEED, LEFT_OUT, SNAPSHOT, diagnostics_of


@pytest.mark.parametrize(
    "path",
    [
        "../x",
        "/x",
        "x//y",
        "x/",
        "a; rm",
        "{{ ds }}",
        "' OR 1=1",
        "a\\b",
        "a\nb",
        "x/./y",
    ]
    + ["", "a b", "..", "s3://lake/x", "*", "größe"],
)
def test_a_path_outside_the_allow_list_is_refused(specs, path):
    (diagnostic,) = diagnostics_of(specs, FEED, {"source.path": path})
    assert diagnostic.startswith(
        f"source.path: got {path!r}. Write folders joined by single"
    )


@pytest.mark.parametrize(
    "glob",
    [
        "../*",
        "/x",
        "x//y",
        "a; rm",
        "{{ ds }}",
        "' OR 1=1",
        "a\\*",
        "a\n",
        "[a-z]*",
        "{a}",
    ],
)
def test_a_glob_outside_the_allow_list_is_refused(specs, glob):
    (diagnostic,) = diagnostics_of(specs, FEED, {"source.changes": glob})
    assert diagnostic.startswith(
        f"source.changes: got {glob!r}. Write file names of A-Z"
    )


def test_load_and_changes_must_be_other_files(specs):
    assert diagnostics_of(specs, FEED, {"source.load": "changes/*"}) == [
        "source.changes: got 'changes/*'. It matches the files of `load` too: give changes"
        " a pattern of their own."
    ]


@pytest.mark.parametrize(
    "zone, hint",
    [("Europe/Berln", "Did you mean 'Europe/Berlin'? "), ("../../etc/passwd", "")],
)
def test_the_timezone_must_exist(specs, zone, hint):
    (diagnostic,) = diagnostics_of(specs, FEED, {"source.timezone": zone})
    assert diagnostic.startswith(f"source.timezone: got {zone!r}. {hint}")
    assert diagnostic.endswith(
        "Name a zone of the tz database, as in UTC or Europe/Berlin."
    )


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"delimiter": ""}, "delimiter: got ''. Write one character."),
        ({"delimiter": "||"}, "delimiter: got '||'. Write one character."),
        ({"delimiter": "\n"}, "delimiter: got '\\n'. Write one character."),
        ({"quote": "''"}, "quote: got \"''\". Write one character."),
        (
            {"quote": ","},
            "delimiter: got ','. It is the quote too: choose another character.",
        ),
        ({"escape": ""}, "escape: got ''. Write one character."),
        ({"escape": ","}, "escape: got ','. It is the delimiter too: choose"),
        ({"escape": '"'}, "escape: got '\"'. It is the quote, which is doubled inside"),
        ({"escape": "n"}, "escape: got 'n'. Write a sign: no letter, digit or blank."),
        ({"encoding": "UTF-88"}, "encoding: got 'UTF-88'. Name one of utf-8, "),
        ({"encoding": "base64"}, "encoding: got 'base64'. Name one of utf-8, "),
    ],
)
def test_csv_files_must_be_readable(specs, changes, message):
    changes = {f"source.format.{key}": value for key, value in changes.items()}
    (diagnostic,) = diagnostics_of(specs, FEED, changes)
    assert message in diagnostic


def test_files_are_refused_only_for_the_want_of_declared_columns(specs):
    changes = {"source.missing_columns": "refuse"}
    assert diagnostics_of(specs, SNAPSHOT, changes) == []
    assert diagnostics_of(specs, SNAPSHOT, {**changes, "columns": LEFT_OUT}) == [
        "source.missing_columns: got 'refuse'. Declare `columns`: only a file that lacks"
        " a declared column is refused."
    ]


def test_absent_fields_are_unchanged_in_json_alone(specs):
    unchanged = {"source.absent_fields": "unchanged"}
    assert diagnostics_of(specs, FEED, unchanged) == [
        "source.absent_fields: got 'unchanged'. Leave it out: every record of csv has the "
        "columns of its file. Name the text of unchanged values under `placeholder`, or "
        "send JSON."
    ]
    json = {**unchanged, "source.format": {"type": "json"}}
    assert diagnostics_of(specs, FEED, json) == []
    both = {**json, "source.missing_columns": "refuse"}
    assert diagnostics_of(specs, FEED, both) == [
        "source.missing_columns: got 'refuse'. Leave it out: with `absent_fields: unchanged`"
        " no column of a file is missing."
    ]


def test_absent_fields_of_snapshots_say_nothing(specs):
    (found,) = diagnostics_of(specs, SNAPSHOT, {"source.absent_fields": "unchanged"})
    assert found.startswith("source.absent_fields: unknown key. source takes: ")


def test_csv_without_a_header_needs_columns(specs):
    changes = {"source.format.header": False, "columns": LEFT_OUT}
    assert diagnostics_of(specs, SNAPSHOT, changes) == [
        "source.format.header: got false. Declare `columns`, in the order of the "
        "file: files without a header need them."
    ]


@pytest.mark.parametrize(
    "key, value, message",
    [
        ("pattern", "orders_(", "Fix the regular expression: missing ), unterminated"),
        (
            "pattern",
            r"orders_\d+",
            "It has 0 groups; put one pair of parentheses around",
        ),
        (
            "pattern",
            r"(\d+)_(\d+)",
            "It has 2 groups; put one pair of parentheses around",
        ),
        ("format", "%Q", "Write the format of the time with strptime's directives"),
        ("format", "%m-%d", "Write the format of the time with strptime's directives"),
        ("format", "", "Write the format of the time with strptime's directives"),
        ("format", "%", "Write the format of the time with strptime's directives"),
        (
            "format",
            "%Y-%m-%d %Z",
            "The name of a zone says no instant, for many places",
        ),
    ],
)
def test_the_snapshot_time_must_be_readable(specs, key, value, message):
    (diagnostic,) = diagnostics_of(
        specs, SNAPSHOT, {f"source.snapshot_time.{key}": value}
    )
    assert diagnostic.startswith(
        f"source.snapshot_time.{key}: got {value!r}. {message}"
    )


@pytest.mark.parametrize("form", ["%Y-%m-%dT%H%z", "%Y%m%d%%Z", "%Y-%m-%dT%H:%M%z"])
def test_a_snapshot_time_may_have_an_offset(specs, form):
    where = {"pattern": "orders_([^/]+)[.]csv", "format": form}
    assert diagnostics_of(specs, SNAPSHOT, {"source.snapshot_time": where}) == []


@pytest.mark.parametrize(
    "where, message",
    [
        ({}, ": has no group for the time. Write `pattern` for a time in the path"),
        (
            {"pattern": "(.*)[.]csv", "column": "exported_at"},
            ".column: got 'exported_at'. `pattern` has the time already: remove one of",
        ),
        (
            {"column": "a;b"},
            ".column: got 'a;b'. In other formats than CSV it cannot be read: a",
        ),
        ({"column": "Status"}, ".column: got 'Status'. Column 'status' reads it, so"),
        (
            {"column": "exported_at", "format": "%m"},
            ".format: got '%m'. Write the format of the time with strptime's",
        ),
    ],
)
def test_the_snapshot_time_has_one_place(specs, where, message):
    (diagnostic,) = diagnostics_of(specs, SNAPSHOT, {"source.snapshot_time": where})
    assert diagnostic.startswith(f"source.snapshot_time{message}")


@pytest.mark.parametrize(
    "complete, message",
    [
        (
            {},
            ": has no way to recognize it. Write exactly one of: marker, parts, manifest.",
        ),
        (
            {"marker": "_SUCCESS", "parts": 2},
            ": has marker and parts. Write exactly one of: marker, parts, manifest.",
        ),
        ({"marker": "../_SUCCESS"}, ".marker: got '../_SUCCESS'. Write file names of"),
        (
            {"manifest": "**"},
            ".manifest: got '**'. It matches the files of the snapshot too: write",
        ),
        ({"parts": 0}, ".parts: got 0. Write a number of files from 1 to 1,000,000."),
        (
            {"parts": r"part-(\d+)"},
            r".parts: got 'part-(\\d+)'. Put parentheses around",
        ),
        ({"parts": r"(?P<part>\d+)"}, ".parts: got '(?P<part>"),
        (
            {"parts": "(a+)+-(b)"},
            ".parts: got '(a+)+-(b)'. Its quantifiers can match one text in too many",
        ),
        ({"parts": 1.5}, ".parts: got 1.5. Write a whole number or text."),
    ],
)
def test_a_snapshot_is_complete_in_one_way_that_can_be_read(specs, complete, message):
    (diagnostic,) = diagnostics_of(specs, SNAPSHOT, {"source.complete": complete})
    assert diagnostic.startswith(f"source.complete{message}")


@pytest.mark.parametrize(
    "complete",
    [
        {"marker": "_SUCCESS"},
        {"parts": 4},
        {"parts": r"part-(\d+)-of-(\d+)"},
        {"parts": r"of(?P<count>\d+)_(?P<part>\d+)"},
        {"manifest": "*.manifest"},
    ],
)
def test_every_way_is_taken(specs, complete):
    assert diagnostics_of(specs, SNAPSHOT, {"source.complete": complete}) == []


@pytest.mark.parametrize(
    "scope, message",
    [
        (
            {"column": "regoin"},
            "column: 'regoin' is not a declared column. Did you mean 'region'?",
        ),
        ({"column": "weight"}, "column: got 'weight'. It is of type double: choose a"),
        (
            {"column": "order_id", "pattern": "of=([0-9]+)/"},
            "column: got 'order_id'. Values from a path are text: declare it as",
        ),
        (
            {"column": "region", "pattern": "region=.+/"},
            "pattern: got 'region=.+/'. It has 0 groups; put one pair of parentheses"
            " around the value",
        ),
    ],
)
def test_a_scope_is_a_column_of_plain_values(specs, scope, message):
    columns = {"order_id": "long", "region": "string", "weight": "double"}
    changes = {"source.scope": scope, "columns": columns}
    (diagnostic,) = diagnostics_of(specs, SNAPSHOT, changes)
    assert diagnostic.startswith(f"source.scope.{message}")


def test_a_scope_needs_declared_columns(specs):
    changes = {
        "source.scope": {"column": "region"},
        "source.format": {"type": "parquet"},
        "columns": LEFT_OUT,
    }
    assert diagnostics_of(specs, SNAPSHOT, changes) == [
        "source.scope.column: got 'region'. Declare it, with its type, under `columns`."
    ]


@pytest.mark.parametrize("share", [-0.1, 1.1, 50])
def test_the_lost_share_is_a_share(specs, share):
    assert diagnostics_of(specs, SNAPSHOT, {"source.lost_share": share}) == [
        f"source.lost_share: got {float(share)}. Choose a number from 0 to 1."
    ]


@pytest.mark.parametrize(
    "changes, message",
    [
        (
            {"column": "O;p"},
            "column: got 'O;p'. In other formats than CSV it cannot be read: a semicolon",
        ),
        ({"upsert": []}, "upsert: got []. List the values of inserts and updates"),
        (
            {"delete": ["U"]},
            "delete: got 'U'. It is listed for upserts too: keep it in one",
        ),
        (
            {"truncate": ["D"]},
            "truncate: got 'D'. It is listed for deletes too: keep it in one",
        ),
        (
            {"ignore": ["U"]},
            "ignore: got 'U'. It is listed for upserts too: keep it in one",
        ),
        (
            {"delete": ["' OR 1=1"]},
            'delete[0]: got "\' OR 1=1". Write 1 to 32 letters, digits and _ . + -.',
        ),
    ],
)
def test_operations_must_be_told_apart(specs, changes, message):
    changes = {f"source.operation.{key}": value for key, value in changes.items()}
    (diagnostic,) = diagnostics_of(specs, FEED, changes)
    assert diagnostic.startswith(f"source.operation.{message}")


def test_the_streamer_takes_no_snapshots(specs):
    assert diagnostics_of(specs, SNAPSHOT, {"engine": "streamer"}) == [
        "engine: got 'streamer'. Choose one of: pyspark. Only a feed takes it."
    ]


def test_a_record_index_takes_no_partitions(specs):
    storage = {"storage.index": "record", "storage.partition_by": ["status"]}
    assert diagnostics_of(specs, FEED, storage) == [
        "storage.index: got 'record'. A record index spans all partitions and cannot "
        "follow a key that moves between them: choose bucket, bloom or simple, or "
        "remove partition_by."
    ]


def test_the_streamer_takes_feeds(specs):
    assert diagnostics_of(specs, FEED, {"engine": "streamer"}) == []


@pytest.mark.parametrize(
    "before", ["BI_", "{column}", "{column}{column}", "{{ x }}.{column}"]
)
def test_values_before_an_update_have_a_name_of_their_own(specs, before):
    assert diagnostics_of(specs, FEED, {"source.operation.before": before}) == [
        f"source.operation.before: got {before!r}. Write a name with one {{column}} in it,"
        " as in BI_{column} or old.{column}."
    ]


def test_events_have_an_image_before_of_their_own(specs):
    changes = {
        "source.format": {"type": "json"},
        "source.envelope": {"connector": "postgresql"},
        "source.operation": {"column": "__op", "before": "x_{column}"},
    }
    (diagnostic,) = diagnostics_of(specs, FEED, changes)
    assert diagnostic == (
        "source.operation.before: got 'x_{column}'. Leave it out: events have an image "
        "`before` of their own."
    )


@pytest.mark.parametrize(
    "operation, told",
    [
        (
            {},
            "source.operation.column: missing. Name the column with the words, or what "
            "tells deletes: deleted_when.",
        ),
        (
            {"deleted_when": {"column": "gone_at"}},
            "source.operation.deleted_when.column: got 'gone_at'. Declare it under "
            "`columns`, or name a field inside a column of the files, as in "
            "data.deleted_at.",
        ),
        (
            {"deleted_when": {"column": "status", "is": "empty"}},
            "source.operation.deleted_when.is: got 'empty'. Choose one of: not_null, null.",
        ),
    ],
)
def test_what_tells_deletes_is_known(specs, operation, told):
    assert diagnostics_of(specs, FEED, {"source.operation": operation}) == [told]


@pytest.mark.parametrize(
    "told",
    [{"column": "status"}, {"column": "data.x", "is": None}, {"column": "STATUS"}],
)
def test_deletes_may_be_told_without_words(specs, told):
    changes = {"source.operation": {"deleted_when": told}}
    assert diagnostics_of(specs, FEED, changes) == []
    found = diagnostics_of(specs, FEED, {**changes, "order_by": []})
    assert any("This feed has deletes, which need an order" in each for each in found)
