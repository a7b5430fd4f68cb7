"""The pages: answers, links, hostile names, values that no page may show, sizes."""

from __future__ import annotations

import json
import posixpath
from dataclasses import asdict, replace
from datetime import timedelta
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest

from lake_site import render
from lake_spec.model import (
    Column,
    ReadableAs,
    RowCount,
    Rule,
    Sensitivity,
    Severity,
    Storage,
    Term,
    Unique,
)
from lake_spec.state.report import CheckResult, LayerSize, Maintained
from lake_spec.state.table_profile import ColumnProfile, TableProfile
from tests.unit.lake_site.lakes import (
    ENVIRONMENT,
    NOW,
    domain,
    facts,
    feed,
    product,
    report,
    sound_tables,
    summary,
)

MOST_BYTES = 300_000
TABLE = "domains/shop/tables/customer.html"
RUN = "domains/shop/runs/shop_incremental/manual__2026-11-26T12-00.html"
CANARY = "canary-7f3e"


def site(found):
    files = render.domain_files(found, ENVIRONMENT)
    own = json.loads(files["domains/shop/catalogue.json"])
    return {**files, **render.overall_files([own], NOW, environment="test")}


class Page(HTMLParser):
    """What a page has: elements, ids, links, headings and the words of people."""

    def __init__(self, body: bytes) -> None:
        super().__init__()
        self.tags, self.ids, self.links, self.headings = [], set(), [], []
        self.words = ""
        self.feed(body.decode())
        self.close()

    @property
    def text(self) -> str:
        """The words with single spaces between them."""
        return " ".join(self.words.split())

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.words += " "
        self.tags.append((tag, found))
        if "id" in found:
            assert found["id"] not in self.ids, found["id"]
            self.ids.add(found["id"])
        for name in ("href", "src"):
            if name in found:
                self.links.append(found[name])
        if tag in ("h1", "h2", "h3"):
            self.headings.append(int(tag[1]))

    def handle_data(self, data):
        self.words += data


def pages_of(files):
    return {path: Page(body) for path, body in files.items() if path.endswith(".html")}


@pytest.fixture(scope="module")
def files():
    return site(facts())


@pytest.fixture(scope="module")
def pages(files):
    return pages_of(files)


def test_every_link_leads_to_a_file_and_an_anchor_of_the_site(files, pages):
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            assert not parts.scheme and not parts.netloc, (path, link)
            to = posixpath.normpath(
                posixpath.join(posixpath.dirname(path), unquote(parts.path))
            )
            to = to if parts.path else path
            assert to in files, (path, link)
            if parts.fragment and to.endswith(".html"):
                assert parts.fragment in pages[to].ids, (path, link)


def test_pages_are_made_for_screen_readers(pages):
    for path, page in pages.items():
        names = [tag for tag, _ in page.tags]
        assert names.count("h1") == 1 and names.count("main") == 1, path
        steps = zip(page.headings, page.headings[1:])
        assert page.headings[0] == 1 and all(b - a <= 1 for a, b in steps), path
        for tag, of in page.tags:
            if tag == "html":
                assert of["lang"] == "en"
            if tag == "th":
                assert of.get("scope") in ("col", "row"), path
            if tag == "svg":
                assert of["role"] == "img" and of["aria-labelledby"] in page.ids, path
            if tag == "input":
                assert "id" in of
            assert "style" not in of and not any(n.startswith("on") for n in of), path


def test_the_first_screen_of_a_table_has_the_six_answers(pages):
    words = pages[TABLE].text
    first, _, _ = words.partition("Columns Column Type")
    for answer in (
        "One row per customer",
        "5,000 rows now, one per customer_id; 7,000 versions",
        "feed: files of shop/customer",
        "Newest event 2026-11-26 11:00 UTC newest file 2026-11-26 11:00 UTC; "
        "late from 2026-11-27 13:00 UTC",
        "No problem 10 of 110 rows were bad in the last run with rows; 0 rules",
        "shop-data no contact is declared; personal: full_name, date_of_birth, "
        "whose values no page shows",
        "46.7 cluster minutes last 30 days; no prices are set",
    ):
        assert answer in first


@pytest.mark.parametrize(
    ("contact", "links", "words"),
    [
        (None, [], "shop-data no contact is declared;"),
        ("#shop-data", [], "shop-data #shop-data;"),
        ("shop@example.com", ["mailto:shop@example.com"], "shop@example.com"),
        ("https://example.com/a?b=c#d", ["https://example.com/a?b=c#d"], "example.com"),
    ],
)
def test_a_table_and_its_domain_say_whom_to_ask(contact, links, words):
    found = pages_of(site(facts(domain(contact=contact))))
    for path in (TABLE, "domains/shop/index.html"):
        page = found[path]
        assert words.removesuffix(";") in page.text
        outside = [each for each in page.links if urlsplit(each).scheme]
        assert outside == links


def test_a_column_says_where_it_comes_from_and_what_uses_it(pages):
    words = pages[TABLE].text
    assert "DOB of its files customer_with_address.date_of_birth" in words
    assert "Term: date of birth" in words


def test_a_table_shows_the_newest_result_of_each_of_its_checks():
    checks = (RowCount(at_least=5), Unique(("city",), severity=Severity.WARN))
    spec = domain(feed(checks=checks))
    page = pages_of(site(facts(spec)))[TABLE]
    assert "2 declared; none was evaluated yet" in page.words
    parts = ("row_count", "row_count", "current", "fail")
    older = CheckResult(*parts, "passed", 9.0, "at least 5")
    newer = CheckResult(*parts, "failed", 1234567.0, "at least 5")
    gone = CheckResult(
        "null_share(x)", "null_share", "current", "fail", "failed", 1, ""
    )
    found = []
    for ago, results in ((2, [older]), (1, [newer, gone])):
        run = summary(NOW - timedelta(hours=ago), "customer")
        of = run["tables"]["customer"]["incremental"]
        of["checks"] = [asdict(each) for each in results]
        found.append(run)
    words = pages_of(site(facts(spec, *found)))[TABLE].words
    assert "row_count of current: 1,234,567, at least 5" in words
    assert "0 rules, 2 checks" in " ".join(words.split())
    assert "null_share" not in words and ": 9, at least" not in words


def test_problems_come_first():
    failed = summary(NOW - timedelta(hours=1), "address")
    error = {"type": "BadFile", "message": "line 3 never ends"}
    failed["tables"]["address"]["incremental"].update(state="failed", error=error)
    late = summary(NOW - timedelta(days=3), "customer")
    found = site(facts(None, failed, late))
    start = Page(found["index.html"]).text
    assert "Failed shop.address incremental: BadFile: line 3 never ends" in start
    assert "Late shop.customer newest file of 2026-" in start
    assert start.index("Failed shop.address") < start.index("Late shop.customer")


@pytest.mark.parametrize(
    "state, problem", [("done", "Late"), ("nothing_new", "Late"), ("failed", "Failed")]
)
def test_a_source_is_late_where_a_run_found_no_file_of_it(state, problem):
    """As the run's summary says it; a run that failed has not seen that there is none."""
    run = summary(NOW - timedelta(hours=1), "customer")
    found = run["tables"]["customer"]["incremental"]
    found.update(state=state, newest_input=None, files=[])
    if state == "failed":
        found["error"] = {"type": "BadFile", "message": "no"}
    start = Page(site(facts(None, run))["index.html"]).text
    assert f"{problem} shop.customer" in start
    assert ("Late shop.customer no file yet, expected" in start) == (problem == "Late")


def test_a_table_that_no_run_looked_at_is_not_late():
    run = summary(NOW - timedelta(hours=1), "address")
    start = Page(site(facts(None, run))["index.html"]).text
    assert "Late shop.customer" not in start


def ended(hours_ago, stage, **more):
    """A run of one stage of `address` that ended so many hours ago."""
    began = NOW - timedelta(hours=hours_ago)
    run = summary(began)
    newest = began.isoformat() if stage == "incremental" else None
    found = report("address", stage, began, **{"newest_input": newest, **more})
    return {**run, "tables": {"address": {stage: found}}}


FAILED = {"state": "failed", "error": {"type": "BadFile", "message": "never ends"}}
WARNED = {"rows_in": 5, "warnings": ["QuarantinedRows: 1 of 5 rows are bad"]}


@pytest.mark.parametrize(
    ("runs", "state"),
    [
        ([(3, "incremental", WARNED), (2, "maintenance", {})], "warning"),
        ([(3, "incremental", WARNED), (2, "incremental", {"rows_in": 5})], "ok"),
        (
            [(3, "incremental", WARNED), (2, "incremental", {"state": "nothing_new"})],
            "warning",
        ),
        ([(3, "incremental", FAILED), (2, "maintenance", {})], "failed"),
        (
            [(3, "incremental", FAILED), (2, "incremental", {"state": "nothing_new"})],
            "ok",
        ),
    ],
)
def test_no_other_stage_hides_a_problem(runs, state):
    found = facts(None, *(ended(ago, stage, **more) for ago, stage, more in runs))
    (table,) = (each for each in found.tables if each.spec.name == "address")
    assert table.state == state
    words = Page(site(found)["domains/shop/tables/address.html"]).text
    assert ("In the run of 2026-11-26 09:00 UTC" in words) is (state != "ok")


def test_a_run_with_too_many_bad_rows_is_a_problem_until_the_next_with_rows():
    over = {**ended(3, "incremental", rows_in=5), "over_warn_share": ["address"]}
    empty = ended(2, "incremental", state="nothing_new")
    good = ended(1, "incremental", rows_in=5)
    for runs, state in (([over, empty], "warning"), ([over, good], "ok")):
        found = facts(None, *runs)
        (table,) = (each for each in found.tables if each.spec.name == "address")
        assert table.state == state


@pytest.mark.parametrize(
    ("storage", "statements"),
    [
        (
            Storage(readable_as=(ReadableAs.ICEBERG,)),
            (
                'SELECT * FROM "shop_iceberg"."customer" LIMIT 10;',
                'SELECT * FROM lake_iceberg."shop_iceberg"."customer_history" '
                "WHERE \"valid_from\" <= TIMESTAMP '2026-01-31 00:00:00 UTC'",
                "SELECT * FROM iceberg_scan('s3://lake/warehouse/shop/customer/iceberg/history') "
                "WHERE \"valid_from\" <= TIMESTAMPTZ '2026-01-31 00:00:00+00' "
                "AND (\"valid_to\" > TIMESTAMPTZ '2026-01-31 00:00:00+00' "
                'OR "valid_to" IS NULL) AND NOT "is_deleted";',
            ),
        ),
        (
            Storage(),
            (
                "Athena, Redshift, Snowflake, Trino and DuckDB cannot",
                "SELECT * FROM `shop`.`customer` LIMIT 10",
                "SELECT * FROM `shop`.`customer_history` WHERE `valid_from` <= ",
                'show shop.customer --valid-at "2026-01-31 00:00:00"',
                "show shop.customer --layer quarantine",
            ),
        ),
    ],
)
def test_a_table_says_what_to_type_for_now_and_for_the_past(storage, statements):
    words = Page(site(facts(domain(feed(storage=storage))))[TABLE]).text
    for each in statements:
        assert each in words
    assert ("cannot: it is published neither" in words) == (not storage.formats)


def test_without_problems_the_start_page_says_so(files):
    assert b"No table has a problem." in files["index.html"]


HOSTILE = "<script>alert(1)</script>\"'&{{ 7*7 }}"


def test_hostile_texts_are_texts():
    columns = {
        "id": Column("bigint", (HOSTILE,), description=HOSTILE, tags=(HOSTILE,)),
        "updated_at": Column("timestamp"),
    }
    table = replace(feed("customer", columns), description=HOSTILE, owner=HOSTILE)
    spec = domain(
        table, description=HOSTILE, glossary=((HOSTILE, Term(HOSTILE, (HOSTILE,))),)
    )
    run = summary(NOW, "customer", causes=[HOSTILE], warnings=[HOSTILE], state=HOSTILE)
    of = run["tables"]["customer"]["incremental"]
    of.update(state="failed", error={"type": HOSTILE, "message": HOSTILE})
    of["files"][0]["path"] = HOSTILE
    of["warnings"] = [HOSTILE]
    run["tables"][HOSTILE] = {HOSTILE: of}
    found = site(facts(spec, run))
    for path, page in pages_of(found).items():
        scripts = [of for tag, of in page.tags if tag == "script"]
        assert all("src" in of for of in scripts), path
        assert "49" not in page.words.replace(HOSTILE, ""), path
    assert HOSTILE in Page(found[TABLE]).words


def with_canaries():
    """A run whose messages, samples, files and keys have a value of a person."""
    run = summary(
        NOW,
        *("customer", "address", "customer_with_address"),
        state="failed",
        causes=[
            f"shop.customer incremental: BadValue: not a date: '{CANARY}'",
            f"shop incremental: step s-1 'incremental' FAILED: ValueError: {CANARY}",
        ],
        warnings=[f"shop.customer incremental: bad-time: {CANARY}: {CANARY}"],
    )
    for table in ("customer", "customer_with_address"):
        of = run["tables"][table]["incremental"]
        of.update(state="failed", error={"type": "BadValue", "message": CANARY})
        of["warnings"] = [f"bad-time: {CANARY}"]
        of["set_aside"] = [{"path": "a.csv", "type": "BadFile", "reason": CANARY}]
        of["moved_keys"] = [{"removed": CANARY, "replaced_by": CANARY}]
        values = dict.fromkeys(("customer_id", "full_name", "undeclared"), CANARY)
        of["samples"] = [
            {
                "path": "shop/customer/changes/1.csv",
                "record": 3,
                "reason": reason,
                "row": json.dumps({**values, "city": "Ulm"}),
            }
            for reason in (
                f"bad-value: {CANARY}",
                f"partition column city has the value '{CANARY}', too long",
                f"quality: full_name is not {CANARY}",
                "quality: city has no value",
            )
        ]
        of["rules"] = {f"full_name is not {CANARY}": 3}
    return run


def test_no_page_shows_a_value_of_a_person():
    rule = Rule(column="city", not_null=True)
    spec = domain(feed(quality=(rule,)), *sound_tables()[1:])
    found = site(facts(spec, with_canaries()))
    shown = [path for path, body in found.items() if CANARY.encode() in body]
    assert shown == []
    words = Page(found[RUN]).words
    assert "shop.customer incremental: BadValue" in words
    for page in (Page(found[TABLE]).words, words):
        assert "Ulm" in page and "quality: city has no value" in page
        assert "(the reason is in the column lake_reason of the quarantine)" in page


def test_words_of_a_report_without_values_are_shown_as_they_are():
    run = with_canaries()
    for table in ("customer", "customer_with_address"):
        of = run["tables"][table]["incremental"]
        words = "full_name: cannot be read as int: (not shown)"
        of["error"] = {"type": "BadValue", "message": words}
        of["warnings"] = ["bad-time: (not shown)"]
        reason = f"a.csv record 3: {words}"
        of["samples"] = [{"path": "a.csv", "record": 3, "reason": reason, "row": ""}]
    run.update(state="failed", causes=[f"shop.customer incremental: BadValue: {words}"])
    run["warnings"] = []
    for stages in run["tables"].values():
        for each in stages.values():
            each["guarded"] = True
    found = site(facts(domain(*sound_tables()), run))
    table, of_run = Page(found[TABLE]).words, Page(found[RUN]).words
    for page in (table, of_run):
        assert words in page and "a.csv" in page
    assert "bad-time: (not shown)" in table
    assert f"shop.customer incremental: BadValue: {words}" in of_run


def test_a_report_from_before_a_table_was_marked_is_cut():
    run = with_canaries()
    for stages in run["tables"].values():
        stages["incremental"]["guarded"] = False
    found = site(facts(domain(*sound_tables()), run))
    assert [path for path, body in found.items() if CANARY.encode() in body] == []


def profile_of(table, *columns):
    return TableProfile(
        "shop", table, "shop_maintenance/a", NOW.isoformat(), "2026", 200, columns
    )


def test_no_page_shows_a_measured_value_of_a_person():
    """Not even those of a profile from before the column was declared personal."""
    values = {"min": CANARY, "max": CANARY, "top": ((CANARY, 9),)}
    names = ("customer_id", "full_name", "date_of_birth", "undeclared")
    columns = [ColumnProfile(name, "string", 3, 150, **values) for name in names]
    profiles = {
        name: profile_of(name, *columns)
        for name in ("customer", "customer_with_address")
    }
    found = site(replace(facts(), profiles=profiles))
    assert [path for path, body in found.items() if CANARY.encode() in body] == []
    words = Page(found[TABLE]).text
    assert "full_name counts only 1.5% 150" in words


def test_a_table_shows_what_its_columns_had():
    city = ColumnProfile(
        *("city", "string", 50, 3),
        min="Aachen",
        max="Z" * 100,
        min_length=0,
        max_length=100,
        top=((HOSTILE, 100), ("", 40), ("  ", 10)),
    )
    number = ColumnProfile(
        *("updated_at", "timestamp", 0, 200),
        min="2026-01-01 00:00:00",
        max="2026-02-01 00:00:00",
        histogram=(150, *[0] * 18, 50),
    )
    profiles = {"customer": profile_of("customer", city, number)}
    found = site(replace(facts(), profiles=profiles))
    page = Page(found[TABLE])
    words = page.text
    assert "200 rows of current were measured on 2026-11-26 12:00 UTC" in words
    assert f"Aachen {'Z' * 40}… 0 to 100 characters" in words
    assert "50% empty text 20% blank (2 characters) 5%" in words
    assert "Rows in 20 equal parts 150, 0, 0" in words
    (path,) = [of["d"] for tag, of in page.tags if tag == "path" and "h7" in of["d"]]
    assert path == "M0 28h7v-28.0h-7zM152 28h7v-9.3h-7z"
    assert all(tag != "svg" or of["role"] == "img" for tag, of in page.tags)


@pytest.mark.parametrize(("hours", "is_older"), [(1, False), (-1, True)])
def test_a_table_says_that_rows_came_after_it_was_measured(hours, is_older):
    found = facts(None, summary(NOW, "customer"))
    at = (NOW + timedelta(hours=hours)).isoformat()
    city = ColumnProfile("city", "string", 0, 3)
    profile = replace(profile_of("customer", city), at=at)
    words = Page(site(replace(found, profiles={"customer": profile}))[TABLE]).text
    assert ("before the last run with rows" in words) is is_older


def test_the_largest_profile_has_room_on_a_page():
    names = [f"column_{i}" for i in range(400)]
    spec = domain(feed(columns={each: Column("string") for each in names}, order_by=()))
    columns = [
        ColumnProfile(
            *(name, "string", 1, 150),
            min="<" * 100,
            max="<" * 100,
            top=tuple(("<" * 99 + str(i), 9) for i in range(10)),
            histogram=(9,) * 20,
        )
        for name in names
    ]
    found = replace(
        facts(spec), profiles={"customer": profile_of("customer", *columns)}
    )
    files = render.domain_files(found, ENVIRONMENT)
    assert max(size for _, size in render.largest(files)) < MOST_BYTES
    pages = [path for path in files if path.startswith("domains/shop/tables/")]
    assert sum("column_399" in Page(files[path]).words for path in pages) == 1


def test_columns_that_no_spec_declares_are_shown_once_they_were_measured():
    spec = domain(feed("bare", {"id": Column("bigint")}, order_by=()))
    profile = profile_of("bare", ColumnProfile("found_in_files", "date", 0, 1))
    found = site(replace(facts(spec), profiles={"bare": profile}))
    words = Page(found["domains/shop/tables/bare.html"]).text
    assert "found_in_files date" in words


def test_a_table_without_personal_columns_shows_its_messages_and_samples():
    run = summary(NOW, "address")
    of = run["tables"]["address"]["incremental"]
    row = json.dumps({"customer_id": "17"})
    of["samples"] = [
        {"path": "a.csv", "record": 3, "reason": "bad-value: x", "row": row},
        {"path": "b.csv", "record": 4, "reason": "(erased)", "row": "(erased)"},
    ]
    of["warnings"] = ["bad-time: never"]
    page = Page(site(facts(None, run))["domains/shop/tables/address.html"])
    assert "bad-time: never" in page.words
    assert "a.csv 3 bad-value: x customer_id 17 " in page.text
    assert "b.csv 4 (erased) –" in page.text


def size(files: int, logs: int, count: int) -> dict[str, int]:
    return asdict(LayerSize(files, logs, count, 2 * files, 2 * count))


def test_a_table_shows_what_maintenance_did_to_its_files():
    run = summary(NOW, "address")
    run["tables"]["address"]["maintenance"] = report(
        "address",
        "maintenance",
        NOW,
        maintained=[
            Maintained("current", ["compaction"], size(9, 5, 9500), size(4, 0, 4500)),
            Maintained("history", [], size(1, 0, 10), size(1, 0, 10)),
        ],
    )
    found = site(facts(None, run))
    row = "current compaction 9 (5 logs) 4 9.5 KB 4.5 KB 19.0 KB 9.0 KB"
    for path, begin in (
        ("domains/shop/tables/address.html", "2026-11-26 12:00 UTC"),
        (RUN, "address"),
    ):
        words = Page(found[path]).text
        assert f"{begin} {row}" in words
        assert "history compaction" not in words


def test_a_table_shows_how_long_ago_it_was_maintained_and_that_nobody_does():
    run = summary(NOW - timedelta(days=9), "address")
    page = "domains/shop/tables/address.html"
    never = Page(site(facts(None, run))[page]).text
    assert "None of the runs that are known maintained it. It has no schedule" in never
    done = report("address", "maintenance", NOW - timedelta(days=9))
    run["tables"]["address"]["maintenance"] = done
    words = Page(site(facts(None, run))[page]).text
    assert "Last maintained 2026-11-17 12:00 UTC, 9 day(s) before this page." in words


def test_a_rule_shows_the_rows_that_broke_it_run_by_run():
    words = "street has no value"
    runs = []
    for ago, rules in enumerate(({words: 3}, {words: 0}, {}, {words: 40})):
        run = summary(NOW - timedelta(days=ago), "address")
        run["tables"]["address"]["incremental"]["rules"] = rules
        runs.append(run)
    page = site(facts(None, *runs))["domains/shop/tables/address.html"]
    shown = Page(page).text
    first, last = "2026-11-23 12:00", "2026-11-26 12:00"
    assert f"{words} quarantine 3 43 3 {first} {last}" in shown
    assert f"{words}: 43 rows in 3 runs" in shown
    bars = [of for tag, of in Page(page).tags if tag == "rect" and "width" in of]
    assert "2026-11-23 12:00 40 " in shown and len(bars) > 2


def test_a_column_copied_from_a_personal_one_is_personal():
    found = facts()
    copied = found.guard.mark("shop.customer_with_address", "full_name")
    assert copied.sensitivity is Sensitivity.PERSONAL
    assert (copied.source.table, copied.source.column) == ("shop.customer", "full_name")
    street = found.guard.mark("shop.customer_with_address", "street")
    assert street.sensitivity is Sensitivity.NONE
    page = Page(site(found)["domains/shop/tables/customer_with_address.html"])
    assert "full_name personal string Name Personal as customer.full_name" in page.text


def product_run(name, **more):
    """A run whose stage `product` built a product."""
    run = summary(NOW - timedelta(hours=2))
    own = {"upserted": 42, "current_rows": 40, "commits": {"current": "1"}, **more}
    built = report(name, "product", NOW - timedelta(hours=2), **own)
    return {**run, "tables": {name: {"product": built}}}


@pytest.mark.parametrize(
    ("source", "words", "column"),
    [
        (
            {"from_": "shop.address", "derive": (("city", "upper(street)"),)},
            "product: rows of shop.address made of address",
            "customer_id key bigint Term: customer address.customer_id – city string",
        ),
        (
            {"sql": "p.sql", "reads": ("shop.address", "crm.account")},
            "product: SQL of p.sql made of address, crm.account",
            "customer_id key personal bigint Personal as SQL of crm.account makes it "
            "Term: customer – – city personal string",
        ),
    ],
)
def test_a_product_has_a_page_of_what_it_is_made_of(source, words, column):
    columns = {"customer_id": Column("bigint"), "city": Column("string")}
    spec = domain(*sound_tables(), product("towns", columns, **source))
    found = site(facts(spec, product_run("towns")))
    page = Page(found["domains/shop/tables/towns.html"]).text
    assert words in page and column in page
    assert "40 rows now, one per customer_id 2 columns" in page
    assert "Built 2026-11-26 10:00 UTC" in page
    assert "Rows inserted or changed: 42 in 30 days" in page
    assert "Hudi table current in s3://lake/warehouse/shop/towns" in page
    assert not any(each in page for each in ("valid_from", "quarantine", "change log"))


@pytest.mark.parametrize(
    ("reads", "is_shown"),
    [
        (("shop.address",), True),
        (("shop.customer",), False),
        (("shop.inner",), False),
        (("crm.account",), False),
    ],
)
def test_a_product_of_personal_or_unknown_tables_shows_no_message(reads, is_shown):
    columns = {"customer_id": Column("bigint")}
    inner = product("inner", columns, sql="inner.sql", reads=("shop.customer",))
    outer = product("outer", columns, sql="outer.sql", reads=reads)
    error = {"type": "BadValue", "message": CANARY}
    run = product_run("outer", state="failed", error=error)
    found = site(facts(domain(*sound_tables(), outer, inner), run))
    body = found["domains/shop/tables/outer.html"].decode()
    assert "BadValue" in body and (CANARY in body) is is_shown


def test_a_dimension_is_as_fresh_as_its_last_build():
    run = summary(NOW)
    at = NOW - timedelta(hours=3)
    stages = (
        ("dimension", "done", at, {"current": "1", "history": "2"}),
        ("rebuild_dimension", "done", NOW, {}),  # a verification
        ("maintenance", "done", NOW, {"history_cleaning": "3"}),
        ("again", "nothing_new", NOW, {}),
    )
    for stage, state, began, commits in stages:
        own = {"state": state, "commits": commits}
        built = report("customer_with_address", stage, began, **own)
        run["tables"].setdefault("customer_with_address", {})[stage] = built
    found = site(facts(None, run))["domains/shop/tables/customer_with_address.html"]
    assert "Built 2026-11-26 09:00 UTC" in Page(found).words


def test_long_lists_are_paged_below_300_kilobytes():
    columns = {
        f"column_{n:04}": Column("string", description="x" * 100) for n in range(600)
    }
    columns["updated_at"] = Column("timestamp")
    tables = [feed("wide", columns), *(feed(f"t{n:04}") for n in range(200))]
    spec = domain(*tables)
    run = summary(NOW, *(table.name for table in tables))
    run["causes"] = ["shop.wide incremental: Bad: " + "y" * 5000] * 100
    of = run["tables"]["wide"]["incremental"]
    of["files"] = [dict(of["files"][0], path="p" * 400 + str(n)) for n in range(700)]
    of["warnings"] = ["id: " + "z" * 3000] * 150
    found = site(facts(spec, run))
    assert next(render.largest(found))[1] < MOST_BYTES
    assert "domains/shop/tables/wide~4.html" in found
    assert "domains/shop/index~2.html" in found


def test_a_running_stage_is_no_failure():
    run = summary(NOW, "address")
    run["tables"]["address"]["incremental"]["state"] = "running"
    found = facts(None, run)
    assert [table.state for table in found.tables if table.spec.name == "address"] == [
        "ok"
    ]


def test_a_damaged_summary_is_left_out():
    assert facts(None, {"run": 5, "tables": []}, summary(NOW, "address")).runs != ()
    assert report("address", "scd2", NOW)["seconds"] == 12.5
