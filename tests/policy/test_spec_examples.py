"""docs/spec-examples.md has a complete file of each kind of spec, and all of them are valid.

So are the complete specs of the other pages, each for itself.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Dict, Iterator, Set, Tuple

import pytest
import yaml

from lake_check.costs.prices import load_prices
from lake_desk.__main__ import main

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "spec-examples.md"
_NAMED = r"^```(?:yaml|sql) (\S+)\n(.*?)^```$"
EXAMPLES: Dict[str, str] = dict(
    re.findall(_NAMED, PAGE.read_text("utf-8"), re.M | re.S)
)
PRODUCTS: Dict[str, str] = dict(
    re.findall(_NAMED, (DOCS / "products.md").read_text("utf-8"), re.M | re.S)
)
KINDS = ("kind", "type", "connector", "engine")
"""Keys whose values choose among kinds of things."""
OTHER_PAGES = [
    page
    for page in sorted(DOCS.rglob("*.md"))
    if page not in (PAGE, DOCS / "how-history-is-kept.md")
]
DOMAIN = "name: {}\ndescription: Tables of a page\nowner: page-data\n"
COMPLETE = {"name", "description", "owner", "source", "key"}


def validated(folder: Path, files: Dict[str, str]) -> int:
    """Write the files, and return the exit code of `validate` on them."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return main(["validate", str(folder / "tables")])


def kinds(schema: Any, key: str = "") -> Iterator[Tuple[str, str]]:
    """Yield each value that a schema has for one of KINDS."""
    if isinstance(schema, dict):
        if key in KINDS:
            values = schema.get("enum", [schema["const"]] if "const" in schema else [])
            yield from ((key, value) for value in values)
        for name, part in schema.items():
            yield from kinds(part, name)
    elif isinstance(schema, list):
        for part in schema:
            yield from kinds(part)


def used(document: Any) -> Iterator[Tuple[str, str]]:
    """Yield each value that a document has for one of KINDS."""
    if isinstance(document, dict):
        for name, part in document.items():
            if name in KINDS and isinstance(part, str):
                yield name, part
            yield from used(part)
    elif isinstance(document, list):
        for part in document:
            yield from used(part)


def missing_kinds(examples: Dict[str, str]) -> Set[Tuple[str, str]]:
    """Return what the schemas know and no example uses."""
    known = {
        kind
        for name in ("table", "domain", "cluster", "environment")
        for kind in kinds(
            json.loads((DOCS / f"schema/{name}.schema.json").read_text("utf-8"))
        )
    }
    specs = [text for name, text in examples.items() if not name.endswith(".sql")]
    shown = {kind for text in specs for kind in used(yaml.safe_load(text))}
    return known - shown


def complete_specs() -> Iterator[Any]:
    """Yield the complete table specs of the other pages."""
    for page in OTHER_PAGES:
        blocks = re.findall(
            r"^```yaml\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S
        )
        for number, text in enumerate(blocks):
            is_complete = all(re.search(f"^{key}:", text, re.M) for key in COMPLETE)
            if is_complete and "kind: dimension" not in text:
                yield pytest.param(text, id=f"{page.stem}-{number}")


def test_the_examples_are_valid_together(tmp_path, capsys):
    code = validated(tmp_path, EXAMPLES)
    output = capsys.readouterr().out
    assert code == 0, output


def test_the_examples_of_products_are_valid_with_them(tmp_path, capsys):
    assert len(PRODUCTS) == 4
    code = validated(tmp_path, {**EXAMPLES, **PRODUCTS})
    output = capsys.readouterr().out
    assert code == 0 and "note" not in output, output


def test_the_prices_are_valid(tmp_path):
    path = tmp_path / "prices.yml"
    path.write_text(EXAMPLES["prices.yml"], encoding="utf-8")
    assert load_prices(path).currency == "USD"


def test_each_kind_of_thing_has_an_example():
    assert missing_kinds(EXAMPLES) <= {("connector", "mysql")}
    assert "# or mysql" in EXAMPLES["tables/shop/payments.yml"]


def test_a_kind_without_an_example_is_found():
    fewer = {n: t for n, t in EXAMPLES.items() if "kind: dimension" not in t}
    assert ("kind", "dimension") in missing_kinds(fewer)


def test_a_mistake_in_an_example_is_found(tmp_path, capsys):
    name = "tables/shop/orders.yml"
    wrong = {**EXAMPLES, name: EXAMPLES[name].replace("owner:", "ovner:")}
    assert validated(tmp_path, wrong) == 1
    assert "orders.yml:3: " in capsys.readouterr().out


@pytest.mark.parametrize("text", complete_specs())
def test_a_complete_spec_of_another_page_is_valid(tmp_path, capsys, text):
    document = yaml.safe_load(text)
    domain = document["source"]["path"].split("/")[0]
    files = {
        **{name: text for name, text in EXAMPLES.items() if name.count("/") == 1},
        f"tables/{domain}/_domain.yml": DOMAIN.format(domain),
        f"tables/{domain}/{document['name']}.yml": text,
    }
    assert validated(tmp_path, files) == 0, capsys.readouterr().out
