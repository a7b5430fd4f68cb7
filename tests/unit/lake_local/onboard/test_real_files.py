"""Files as other systems and people write them: what the spec says of each, or the reason."""

from __future__ import annotations

import pytest

from lake_check.parsing.loader import load_domain
from lake_spec.model.number_format import NumberFormat

from lake_local.onboard.files import Request, planned
from lake_local.onboard.plan import Skipped
from lake_local.onboard.stores import LocalFolder
from lake_local.onboard.writing import faults_of, write


def drafted(root, content, name="2026-01-01.csv"):
    """The draft, or the reason for none, of a folder with one file; it passes `validate`."""
    folder = root / "files/things"
    folder.mkdir(parents=True)
    body = content if isinstance(content, bytes) else content.encode()
    (folder / name).write_bytes(body)
    (draft,) = planned(LocalFolder(root / "files"), Request("shop"))
    if isinstance(draft, Skipped):
        return draft.why, None
    write([draft], root / "tables", "shop", owner="", force=False)
    assert faults_of(root / "tables", "shop")[1] == []
    return draft.text.text, load_domain("shop", root / "tables").tables[0]


@pytest.mark.parametrize(
    "name",
    ["Umsatz (\u20ac)", "\u00a3", "\u00b0C", "m\u00b2", "a*", "why?", "no!", "it's"]
    + ["`tick`", "a;b", "\u00a0x", "${x}", "\U0001f600", "(x)"],
)
def test_no_column_of_csv_is_lost_for_its_name(tmp_path, name):
    text, spec = drafted(tmp_path, f"id,{name}\n1,x\n2,y\n")
    ((_, column),) = [each for each in spec.columns if each[0] != "id"]
    assert column.source == (name,), text


def test_a_column_of_json_that_sql_cannot_say_stands_there_as_a_comment(tmp_path):
    content = '{"id": 1, "a;b": 2}\n{"id": 2, "\u20ac": 3}\n'
    text, spec = drafted(tmp_path, content, "2026-01-01.json")
    assert '# "a;b": bigint  # left out: SQL cannot say its name' in text
    assert [column.source for _, column in spec.columns] == [(), ("\u20ac",)]


@pytest.mark.parametrize(
    "content, form",
    [
        ('id,v\n1,""\n2,\n', {"quoted_null": False}),
        ('id,v\n1,a\n2,""\n3,\n', {"quoted_null": False}),
        ('id,v\n1,""\n2,x\n', {}),
        ("id,v\n1,\n2,x\n", {}),
        (
            "id\tv\n1\tC:\\\\dir\n2\t\\N\n3\ta\\\nb\n",
            {"delimiter": "\t", "escape": "\\", "quote": "\x01", "null_text": ()},
        ),
        ('id,v\n1,"a\\"b"\n2,\\N\n', {"escape": "\\", "null_text": ()}),
        ("id,v\n1,C:\\dir\n2,\\N\n", {"null_text": ("", "\\N")}),
        ("id v\n1 a\n2 b\n", {"delimiter": " "}),
    ],
)
def test_the_way_that_csv_is_written_is_found(tmp_path, content, form):
    _, spec = drafted(tmp_path, content)
    found = spec.source.format
    assert {name: getattr(found, name) for name in form} == form
    others = {"quoted_null": True, "escape": None, "quote": '"', "delimiter": ","}
    assert all(getattr(found, n) == v for n, v in others.items() if n not in form)
    assert dict(spec.columns)["id"].type in ("bigint", "string")


def test_escaped_fields_say_the_types(tmp_path):
    _, spec = drafted(tmp_path, "id|n|v\n1|\\N|a\\|b\n2|7|c\\\\\n")
    assert [column.type for _, column in spec.columns] == ["bigint", "bigint", "string"]


@pytest.mark.parametrize(
    "content, why",
    [
        ("sep=;\nid;v\n1;a\n", "begins with 'sep=;', which Excel takes for itself"),
        ('"x","y"\n"1",2,3\n"2",4,5\n', "col.names = NA"),
        ("id   v\n1    a\n22   b\n", "tr -s"),
    ],
)
def test_what_must_be_changed_is_told(tmp_path, content, why):
    assert why in drafted(tmp_path, content)[0]


def test_a_first_column_without_a_name_is_read_by_it(tmp_path):
    text, spec = drafted(tmp_path, ",a\n0,x\n1,y\n")
    assert spec.columns[0][1].source == ("",)
    assert "its header is empty: R and pandas write the row's number" in text


def test_na_is_null_where_the_others_are_no_texts(tmp_path):
    _, spec = drafted(tmp_path, "id,n,v\n1,NA,a\n2,3.5,b\n")
    assert spec.source.format.null_text == ("", "NA")
    assert dict(spec.columns)["n"].type == "decimal(38,1)"


def test_na_is_a_text_amid_texts(tmp_path):
    _, spec = drafted(tmp_path, "id,land\n1,NA\n2,DE\n")
    assert spec.source.format.null_text == ("",)


def test_dates_with_points_get_a_format(tmp_path):
    text, spec = drafted(tmp_path, "id;am\n1;31.12.2026\n2;01.01.2027\n")
    am = dict(spec.columns)["am"]
    assert (am.type, am.format) == ("date", "dd.MM.yyyy"), text


@pytest.mark.parametrize(
    "values, kind, decimal, group",
    [
        (("1.234,56", "7,5", "12"), "decimal(38,2)", ",", "."),
        (("7,5", "12,25"), "decimal(38,2)", ",", None),
        (("1,234.56", "1,000"), "decimal(38,2)", ".", ","),
        (("1,234,567", "12"), "bigint", ".", ","),
        (("1 234,5", "12"), "decimal(38,1)", ",", " "),
        (("-1'234.50", "3"), "decimal(38,2)", ".", "'"),
        (("1,234", "12,5"), "decimal(38,3)", ",", None),
        (("12,5", "1,234"), "decimal(38,3)", ",", None),
        (("5,", "1.000,"), "decimal(38,0)", ",", "."),
        (("12.345.678.901.234.567.890", "1"), "decimal(38,0)", ",", "."),
    ],
)
def test_numbers_get_the_form_that_alone_reads_them(
    tmp_path, values, kind, decimal, group
):
    rows = "".join(f"{n};{value}\n" for n, value in enumerate(values))
    text, spec = drafted(tmp_path, f"id;betrag\n{rows}")
    column = dict(spec.columns)["betrag"]
    assert (column.type, column.numbers) == (kind, NumberFormat(decimal, group)), text


@pytest.mark.parametrize(
    "values, is_told",
    [
        (("1,234", "5,678"), True),  # 1234 or 1.234
        (("1,234", "5.678"), True),
        (("552 100 554", "552 100 555"), False),  # a register's number
        (("0,5", "01,5"), False),
        (("+49 301 234", "+49 301 235"), False),
        (("1.234,56", "1,234.56"), False),
        (("12,5", "a"), False),
        (("1,5e-10", "2,5"), False),
    ],
)
def test_numbers_of_no_form_or_of_two_stay_texts(tmp_path, values, is_told):
    rows = "".join(f"{n};{value}\n" for n, value in enumerate(values))
    text, spec = drafted(tmp_path, f"id;betrag\n{rows}")
    column = dict(spec.columns)["betrag"]
    assert (column.type, column.numbers) == ("string", None), text
    assert ("numbers in one of two forms" in text) is is_told


def test_numbers_as_texts_of_json_stay_texts(tmp_path):
    rows = '{"id": 1, "betrag": "1.234,56"}\n{"id": 2, "betrag": "7,5"}\n'
    text, spec = drafted(tmp_path, rows, "2026-01-01.json")
    column = dict(spec.columns)["betrag"]
    assert (column.type, column.numbers) == ("string", None), text


@pytest.mark.parametrize(
    "name, form",
    [
        ("t_2026-10-25T02+0200.csv", "%Y-%m-%dT%H%z"),
        ("t_2026-10-25T02-00-00Z.csv", "%Y-%m-%dT%H-%M-%S%z"),
        ("t_20261025T0200%2B0200.csv", "%Y%m%dT%H%M%z"),
        ("t_2026-10-25.csv", "%Y-%m-%d"),
    ],
)
def test_an_offset_in_a_name_is_read(tmp_path, name, form):
    _, spec = drafted(tmp_path, "id,v\n1,a\n2,b\n", name)
    assert spec.source.snapshot_time.format == form


@pytest.mark.parametrize(
    "name, value",
    [
        ("E-Mail", "x"),
        ("kontakt", "ana@example.org"),
        ("Phone", "x"),
        ("erreichbar", "+49 30 1234567"),
        ("Stra\u00dfe", "x"),
        ("first_name", "x"),
        ("LastName", "x"),
        ("customer_name", "x"),
        ("birth_date", "2000-01-01"),
    ],
)
def test_data_of_persons_are_marked_as_a_guess(tmp_path, name, value):
    text, spec = drafted(tmp_path, f"id,{name}\n1,{value}\n2,{value}\n")
    ((_, column),) = [each for each in spec.columns if each[0] != "id"]
    assert column.sensitivity.value == "personal"
    assert "# GUESS: personal" in text


@pytest.mark.parametrize(
    "name, value",
    [
        ("name", "box"),
        ("email_sent", "true"),
        ("phone_type", "mobile"),
        ("day", "2026-01-01"),
        ("zip", "01234"),
        ("note", "mail me"),
    ],
)
def test_other_columns_are_not(tmp_path, name, value):
    _, spec = drafted(tmp_path, f"id,{name}\n1,{value}\n2,{value}\n")
    assert all(column.sensitivity is None for _, column in spec.columns)


def test_a_key_is_one_that_no_row_disproves(tmp_path):
    rows = [f"{n % 50},{2000 + n // 50},{n},v" for n in range(5_000)]
    content = "county_id,year,pop,note\n" + "\n".join(rows) + "\n"
    text, spec = drafted(tmp_path, content)
    assert spec.key == ("county_id", "year")
    assert "only together do they differ in all 5,000 rows" in text


def test_a_key_that_the_last_rows_disprove_is_not_proposed(tmp_path):
    rows = [f"{n},{n}a" for n in range(30_000)]
    content = "id,code\n" + "\n".join([*rows, "7,x"]) + "\n"
    _, spec = drafted(tmp_path, content)
    assert spec.key == ("code",)


def test_three_columns_may_be_a_key(tmp_path):
    rows = [f"{a},{b},{c}" for a in range(4) for b in range(5) for c in range(6)]
    _, spec = drafted(tmp_path, "shop_id,item_id,day_no\n" + "\n".join(rows) + "\n")
    assert spec.key == ("shop_id", "item_id", "day_no")


def test_measures_are_no_key_and_names_of_persons_the_last(tmp_path):
    rows = [f"{n},{n * 7},p{n}" for n in range(50)]
    content = "amount,pop,last_name\n" + "\n".join(rows) + "\n"
    _, spec = drafted(tmp_path, content)
    assert spec.key == ("last_name",)


def test_without_a_key_the_nearest_columns_are_told(tmp_path):
    rows = [f"{n % 10},{n % 4}" for n in range(40)]
    why, _ = drafted(tmp_path, "a_id,b_id\n" + "\n".join(rows) + "\n")
    assert why == (
        "no key found: 'a_id' and 'b_id' together come nearest, and 40 rows of 40 share a"
        " value or lack one: write the spec yourself, with its key"
    )
