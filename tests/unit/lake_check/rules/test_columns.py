"""Columns and what refers to them are told where they are broken."""

import pytest

from tests.unit.lake_check.spec_files import FEED, LEFT_OUT, SNAPSHOT, diagnostics_of


@pytest.mark.parametrize(
    "changes, path",
    [
        ({"history.track": ["amonut"]}, "history.track[0]"),
        ({"history.ignore": ["amonut"]}, "history.ignore[0]"),
        ({"storage.partition_by": ["amonut"]}, "storage.partition_by[0]"),
        ({"effective_at": "amonut"}, "effective_at"),
        ({"key": ["order_id", "amonut"]}, "key[1]"),
        ({"order_by": ["updated_at", "amonut"]}, "order_by[1]"),
        ({"quality": [{"column": "amonut", "not_null": True}]}, "quality[0].column"),
    ],
)
def test_a_column_that_cannot_exist_is_told_with_the_nearest(specs, changes, path):
    assert diagnostics_of(specs, FEED, changes) == [
        f"{path}: 'amonut' is not a declared column. Did you mean 'amount'? Declared "
        "columns: order_id, status, amount, is_paid, lines, updated_at."
    ]


def test_of_many_columns_a_few_are_listed(specs):
    columns = {f"c{number}": "int" for number in range(2000)}
    (diagnostic,) = diagnostics_of(specs, SNAPSHOT, {"columns": columns})
    assert diagnostic.endswith("c18, c19 and 1980 more.") and len(diagnostic) < 250


def test_without_declared_columns_references_must_still_be_names(specs):
    changes = {"columns": LEFT_OUT, "key": ["id", "' OR 1=1"]}
    assert diagnostics_of(specs, SNAPSHOT, changes) == [
        'key[1]: got "\' OR 1=1". Write 1 to 63 of a-z, 0-9 and _, beginning with a '
        "letter."
    ]


@pytest.mark.parametrize(
    "name, message",
    [
        ("Total", "got 'Total'. Write 1 to 63 of a-z"),
        (
            "lake_key",
            "got 'lake_key'. The prefixes lake_ and _hoodie_ are reserved",
        ),
        (
            "valid_to",
            "History adds this column: rename yours, or set history.columns.valid_to",
        ),
        ("is_deleted", "rename yours, or set history.columns.is_deleted"),
        ("version_key", "rename yours, or set history.surrogate_key.column"),
    ],
)
def test_a_column_cannot_have_that_name(specs, name, message):
    (diagnostic,) = diagnostics_of(specs, FEED, {f"columns.{name}": "string"})
    assert diagnostic.startswith(f"columns.{name}: ") and message in diagnostic


def test_a_column_of_history_can_be_named_otherwise_instead(specs):
    changes = {"columns.valid_to": "date", "history.columns.valid_to": "ends_at"}
    assert diagnostics_of(specs, FEED, changes) == []


def test_columns_of_history_have_names_of_their_own(specs):
    changes = {
        "history.columns.valid_to": "valid_from",
        "history.columns.is_current": "X",
    }
    assert diagnostics_of(specs, FEED, changes) == [
        "history.columns.valid_to: got 'valid_from'. history.columns.valid_from has "
        "that name: choose another name.",
        "history.columns.is_current: got 'X'. Write 1 to 63 of a-z, 0-9 and _, "
        "beginning with a letter.",
    ]


@pytest.mark.parametrize(
    "column, message",
    [
        (
            {"type": "lonng"},
            "columns.total.type: got 'lonng'. Did you mean 'long'? Types:",
        ),
        (
            {"type": "int", "source": ["a" * 257]},
            "Write at most 256 characters.",
        ),
        ({"type": "int", "source": ["STATUS"]}, "Column 'status' reads it already"),
        (
            {"type": "int", "format": "yyyy"},
            "Only a date or timestamp has one, not int",
        ),
        ({"type": "date", "format": "yyyy;"}, "Write one of Spark's datetime patterns"),
        (
            {"type": "int", "description": "x" * 256},
            "Write 1 to 255 characters.",
        ),
        ({"type": "int", "description": "a\nb"}, "Write one line of plain text"),
        ({"type": "int", "tags": ["{{ x"]}, "columns.total.tags[0]: got '{{ x'."),
        (
            {"type": "int", "sensitivity": "personel"},
            "columns.total.sensitivity: got 'personel'. Did you mean 'personal'?",
        ),
    ],
)
def test_a_column_must_be_readable(specs, column, message):
    (diagnostic,) = diagnostics_of(specs, FEED, {"columns.total": column})
    assert message in diagnostic


@pytest.mark.parametrize(
    "kind, form",
    [
        *(("timestamp", f"epoch_{unit}") for unit in ("seconds", "micros", "nanos")),
        *(("date", form) for form in ("epoch_days", "yyyy_MM_dd")),
        ("binary", "base64"),
        ("decimal(12,2)", "base64_unscaled"),
    ],
)
def test_encodings_fit_the_types_of_their_columns(specs, kind, form):
    column = {"type": kind, "format": form}
    assert diagnostics_of(specs, FEED, {"columns.total": column}) == []


@pytest.mark.parametrize(
    "kind, form, message",
    [
        ("bigint", "epoch_days", "the type date or timestamp, not bigint: remove it."),
        ("string", "base64", "It is for columns of the type binary, not string"),
        ("binary", "base64_unscaled", "of the type decimal, not binary: remove it."),
        ("decimal(9,2)", "base64", "of the type binary, not decimal: remove it."),
        ("array<date>", "epoch_days", "not array: remove it."),
        ("timestamp", "epoch_milis", "Did you mean 'epoch_millis'? Write one of Spark"),
    ],
)
def test_encodings_of_other_types_are_told(specs, kind, form, message):
    column = {"type": kind, "format": form}
    (diagnostic,) = diagnostics_of(specs, FEED, {"columns.total": column})
    assert diagnostic.startswith(f"columns.total.format: got '{form}'. ")
    assert message in diagnostic


@pytest.mark.parametrize("kind", ["int", "bigint", "double", "decimal(9,2)"])
def test_numbers_of_csv_have_a_form(specs, kind):
    column = {"type": kind, "numbers": {"decimal": ",", "group": "."}}
    assert diagnostics_of(specs, FEED, {"columns.total": column}) == []


@pytest.mark.parametrize(
    "changes, diagnostic",
    [
        (
            {"columns.total": {"type": "date", "numbers": {"decimal": ","}}},
            "columns.total.numbers: it is for columns of numbers. The column is date:"
            " remove it, or declare a number.",
        ),
        (
            {
                "columns.total": {"type": "int", "numbers": {"decimal": ","}},
                "source.format": {"type": "json"},
            },
            "columns.total.numbers: it is for files of CSV. Only numbers of CSV are"
            " texts that need a form: remove it.",
        ),
        (
            {
                "columns.total": {
                    **{"type": "decimal(9,2)", "format": "base64_unscaled"},
                    "numbers": {"decimal": ","},
                }
            },
            "columns.total.numbers: it stands beside `format`. `format: base64_unscaled`"
            " says how: remove one of the two.",
        ),
        (
            {"columns.total": {"type": "int", "numbers": {"group": "."}}},
            "columns.total.numbers.group: got '.'. It is the decimal mark too: choose"
            " another, or leave it out.",
        ),
        (
            {"source.format.numbers": {"decimal": ",", "group": ","}},
            "source.format.numbers.group: got ','. It is the decimal mark too: choose"
            " another, or leave it out.",
        ),
        (
            {"source.format.numbers": {"decimal": ";"}},
            "source.format.numbers.decimal: got ';'. Choose one of: '.', ','.",
        ),
    ],
)
def test_forms_of_numbers_that_cannot_be_are_told(specs, changes, diagnostic):
    assert diagnostics_of(specs, FEED, changes) == [diagnostic]


def test_one_column_can_have_many_names_at_the_source(specs):
    column = {"type": "int", "source": ["Wiki QID", "wiki.qid", "after.$oid"]}
    assert diagnostics_of(specs, FEED, {"columns.total": column}) == []


@pytest.mark.parametrize(
    "name, place, changes",
    [
        ("order_id", "key", {}),
        ("updated_at", "order_by", {}),
        ("since", "effective_at", {"effective_at": "since"}),
    ],
)
def test_a_column_that_places_rows_cannot_be_dropped(specs, name, place, changes):
    kind = "long" if name == "order_id" else "timestamp"
    dropped = {f"columns.{name}": {"type": kind, "dropped": True}}
    (diagnostic,) = diagnostics_of(specs, FEED, {**changes, **dropped})
    assert diagnostic.startswith(f"columns.{name}.dropped: ")
    assert (
        f"Remove this: every file needs the column, as {place} uses it."
    ) in diagnostic


@pytest.mark.parametrize(
    "kind", ["map<int, string>", "array<struct<a: map<date, int>>>"]
)
def test_maps_have_text_keys_for_tables_can_hold_no_others(specs, kind):
    (diagnostic,) = diagnostics_of(specs, FEED, {"columns.codes": kind})
    assert diagnostic.startswith(f"columns.codes.type: got '{kind}'")
    assert "Use string as the key type of a map: map<string, ...>." in diagnostic


def test_without_declared_columns_no_reference_is_to_a_name_of_the_lake(specs):
    changes = {"columns": LEFT_OUT, "key": ["id", "valid_to", "lake_id"]}
    told = diagnostics_of(specs, SNAPSHOT, changes)
    assert [diagnostic.split(". ")[0] for diagnostic in told] == [
        "key[1]: got 'valid_to'",
        "key[2]: got 'lake_id'",
    ]
    assert "source_lake_id: {type: string, source: [lake_id]}" in told[1]


@pytest.mark.parametrize(
    "kinds, words",
    [
        (["timestamp"], "It is timestamp, and Hudi has no unique folder"),
        (["binary"], "It is binary, and Hudi has no unique folder"),
        (["string", "boolean"], "next to text: partition by one of the two"),
        (["decimal(6,2)", "string"], "next to text: partition by one of the two"),
    ],
)
def test_partitions_are_of_types_whose_values_name_folders(specs, kinds, words):
    columns = {f"columns.p{place}": kind for place, kind in enumerate(kinds)}
    names = [f"p{place}" for place in range(len(kinds))]
    (diagnostic,) = diagnostics_of(
        specs, FEED, {**columns, "storage.partition_by": names}
    )
    assert diagnostic.startswith("storage.partition_by[") and words in diagnostic


def test_dates_and_numbers_stand_beside_texts_in_partitions(specs):
    columns = {"columns.p": "string", "columns.q": "date", "columns.r": "smallint"}
    changes = {**columns, "storage.partition_by": ["p", "q", "r"]}
    assert diagnostics_of(specs, FEED, changes) == []
