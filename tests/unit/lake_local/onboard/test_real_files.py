"""Files as other systems and people write them: what the spec says of each, or the reason."""

from __future__ import annotations

import json

import pytest

from lake_check.parsing.loader import load_domain
from lake_spec.model.number_format import NumberFormat

from lake_local.onboard import files
from lake_local.onboard.files import Request, planned
from lake_local.onboard.plan import Skipped
from lake_local.onboard.stores import LocalFolder
from lake_local.onboard.writing import faults_of, write

from tests.dated_texts import DATED


def drafted(root, content, name="2026-01-01.csv"):
    """The draft, or the reason for none, of a folder with one file; it passes `validate`."""
    folder = root / "files/things"
    folder.mkdir(parents=True, exist_ok=True)
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
        ("sep=;\r\nid;v\r\n1;a\r\n", {"delimiter": ";", "skip_lines": 1}),
        ("sep=|\nid|v;,;\n1|a\n", {"delimiter": "|", "skip_lines": 1}),
        (
            "Report of shops\n\nid;v\n1;a\n2;b\n3;c\n",
            {"delimiter": ";", "skip_lines": 2},
        ),
        ("id\n1\n2,5\n3\n", {"skip_lines": 0}),
    ],
)
def test_the_way_that_csv_is_written_is_found(tmp_path, content, form):
    _, spec = drafted(tmp_path, content)
    found = spec.source.format
    assert {name: getattr(found, name) for name in form} == form
    others = {"quoted_null": True, "escape": None, "quote": '"', "delimiter": ","}
    others["skip_lines"] = 0
    assert all(getattr(found, n) == v for n, v in others.items() if n not in form)
    assert dict(spec.columns)["id"].type in ("bigint", "string")


def test_escaped_fields_say_the_types(tmp_path):
    _, spec = drafted(tmp_path, "id|n|v\n1|\\N|a\\|b\n2|7|c\\\\\n")
    assert [column.type for _, column in spec.columns] == ["bigint", "bigint", "string"]


@pytest.mark.parametrize(
    "content, why",
    [
        ('"x","y"\n"1",2,3\n"2",4,5\n', "col.names = NA"),
        ("id   v\n1    a\n22   b\n", "tr -s"),
        (
            "id   name       n\n1    Ana Maria  5\n22              17\n3    Bo         2\n",
            "has columns of fixed width, which no setting reads: convert it, as with",
        ),
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


@pytest.mark.parametrize("values, kind, form, _", DATED)
def test_dates_get_the_format_that_alone_reads_them(tmp_path, values, kind, form, _):
    rows = "".join(f"{n};{value}\n" for n, value in enumerate(values))
    text, spec = drafted(tmp_path, f"id;am\n{rows}")
    am = dict(spec.columns)["am"]
    assert (am.type, am.format) == (kind, form), text


@pytest.mark.parametrize(
    "values, kind, words",
    [
        (
            ("01/02/2026", "12/11/2026"),
            "string",
            "dates in one of two forms, as 01/02/2026: dd/MM/yyyy or MM/dd/yyyy. Kept as",
        ),
        (("01.02.2026 10:00",), "string", "dd.MM.yyyy HH:mm or MM.dd.yyyy HH:mm. Kept"),
        (
            ("31.12.26", "1.1.27"),
            "string",
            "years of two digits, as 31.12.26: no setting",
        ),
        (("20261231", "20270101"), "bigint", "declare {type: date, format: yyyyMMdd}"),
        (("20261231", "20271301"), "bigint", "2 of 2 rows fit\n"),
        (("2026-12-31", "2027-01-01"), "date", "2 of 2 rows fit\n"),
        (("31.12.2026", "12.31.2026"), "string", ""),
        (("31.02.2026", "1.1.2026"), "string", ""),
        (("31.12.2026", "soon"), "string", ""),
        (("31.12.2026", "31/12/2026"), "string", ""),
        (("31.12.2026", "31.12.2026 10:00"), "string", ""),
        (("31.12.2026 24:00", "31.12.2026 10:60"), "string", ""),
        (("31 Foo 2026", "31 Dec 2026"), "string", ""),
        (("1 Dec 2026", "1 June 2026"), "string", ""),
    ],
)
def test_dates_of_no_form_or_of_two_are_not_guessed(tmp_path, values, kind, words):
    rows = "".join(f"{n};{value}\n" for n, value in enumerate(values))
    text, spec = drafted(tmp_path, f"id;am\n{rows}")
    am = dict(spec.columns)["am"]
    assert (am.type, am.format) == (kind, None), text
    assert words in text


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


def test_a_key_that_the_last_rows_disprove_is_not_proposed(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "SECONDS", 600.0)  # also on a busy machine
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
        " value or lack one: say what identifies a row"
    )


def test_more_columns_are_a_key_where_fewer_are_none(tmp_path):
    rows = [
        f"{a},{b},{c},{d},x"
        for a in range(3)
        for b in range(3)
        for c in range(3)
        for d in range(3)
    ]
    content = "a_id,b_id,c_id,d_id,note\n" + "\n".join(rows) + "\n"
    text, spec = drafted(tmp_path, content)
    assert spec.key == ("a_id", "b_id", "c_id", "d_id")
    assert "only together do they differ in all 81 rows" in text


def test_measures_are_a_key_only_where_nothing_else_is(tmp_path):
    rows = [f"{n % 2},{n // 2}.5" for n in range(20)]
    text, spec = drafted(tmp_path, "shop_id,price\n" + "\n".join(rows) + "\n")
    assert spec.key == ("shop_id", "price")
    assert "so another value is another row" in text


WORDS = (
    "id;name;stadt\n1;M\u00fcller;K\u00f6ln\n"
    "2;Gro\u00df;\u20ac 5 \u2013 \u201cdon\u2019t\u201d\n"
)


@pytest.mark.parametrize(
    "codec, name",
    [
        ("utf-8", "UTF-8"),
        ("utf-8-sig", "UTF-8"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16le"),
        ("utf-16-be", "utf-16be"),
        ("windows-1252", "windows-1252"),
    ],
)
def test_an_encoding_is_known_by_its_bytes(tmp_path, codec, name):
    text, spec = drafted(tmp_path, WORDS.encode(codec))
    assert spec.source.format.encoding == name, text
    is_guess = name in ("utf-16le", "utf-16be", "windows-1252")
    assert (
        "  format: " in text and "# GUESS" in text.split("  format: ")[1].split("\n")[0]
    ) is is_guess
    assert [column.type for _, column in spec.columns] == ["bigint", "string", "string"]


def test_words_show_whether_a_guessed_encoding_is_right(tmp_path):
    text, _ = drafted(tmp_path, WORDS.encode("windows-1252"))
    assert (
        "encoding: windows-1252}  # GUESS: 2 lines that were looked at are not UTF-8, and"
        " read so they have 'M\u00fcller', 'K\u00f6ln', 'Gro\u00df': check these words\n"
        in text
    )


def test_an_encoding_is_known_by_letters_far_behind_the_beginning(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(files, "SECONDS", 600.0)
    rows = "".join(f"{n};x;y\n" for n in range(60_000))
    content = f"id;name;stadt\n{rows}".encode() + "0;M\u00fcller;x\n".encode("latin-1")
    _, spec = drafted(tmp_path, content)
    assert spec.source.format.encoding == "windows-1252"


@pytest.mark.parametrize(
    "content, why",
    [
        (
            WORDS.encode("utf-32"),
            "is UTF-32, which no setting reads: convert it, as with",
        ),
        (
            "id;name\n1;M\u00fcller\n".encode("cp850"),
            "windows-1252, which have no byte 81",
        ),
        (
            "id;name\n1;\u041f\u0440\u0438\u0432\u0435\u0442\n".encode("cp1251"),
            "reads '\u00cf\u00f0\u00e8\u00e2\u00e5\u00f2', which is hardly meant",
        ),
        ("id;name\n1;Stra\u00dfe am B\u00e4r\n".encode("cp437"), "which"),
        (
            "id;name\n1;\u0141\u00f3d\u017a\n2;\u017b\u00f3\u0142\u0107\n".encode(
                "cp1250"
            ),
            "which",
        ),
        (
            b"id;v\n1;\xc3\xbc\n2;\xfc\n",
            "is UTF-8 in some lines, and not in others, such as b'2;\\xfc'",
        ),
    ],
)
def test_other_bytes_are_refused_with_what_to_do(tmp_path, content, why):
    found, spec = drafted(tmp_path, content)
    assert spec is None and why in found, found


def test_a_file_of_another_encoding_than_the_newest_is_told(tmp_path):
    folder = tmp_path / "files/things"
    folder.mkdir(parents=True)
    (folder / "2025-01-01.csv").write_bytes(WORDS.encode("utf-8"))
    text, spec = drafted(tmp_path, WORDS.encode("windows-1252"))
    assert "Not read: things/2025-01-01.csv after 0 rows: line 2 is UTF-8, and" in text


def test_json_that_is_not_utf_8_is_refused_with_what_to_do(tmp_path):
    content = '{"id": 1, "v": "\u00fc"}\n'.encode("latin-1")
    assert (
        "JSON is read in UTF-8 alone: convert it, as with `iconv -f WINDOWS-1252"
        in (drafted(tmp_path, content, "2026-01-01.json")[0])
    )


def test_json_arrays_are_read_by_their_elements(tmp_path):
    content = '[\n {"id": 1, "v": "a]"},\n {"id": 2, "v": "b", "n": 1.50}]\n'
    text, spec = drafted(tmp_path, content, "2026-01-01.json")
    assert spec.source.format.layout.value == "array", text
    assert {n: c.type for n, c in spec.columns} == {
        "id": "bigint",
        "v": "string",
        "n": "decimal(38,1)",
    }


def test_an_array_on_one_line_that_is_longer_than_its_head_is_read(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(files, "SECONDS", 600.0)
    content = json.dumps([{"id": n, "v": "x" * 50} for n in range(10_000)])
    text, spec = drafted(tmp_path, content, "2026-01-01.json")
    assert "id: bigint  # 10,000 of 10,000 rows fit" in text
    assert spec.source.format.layout.value == "array"
