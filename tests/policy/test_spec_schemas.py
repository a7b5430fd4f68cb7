"""The JSON Schemas that editors use agree with what the loader takes."""

import json
import re
from pathlib import Path

import jsonschema
import pytest

from lake_check.parsing.yaml_reader import parse_yaml
from lake_check.rules.limits import of_setting
from lake_spec.model import (
    ClusterSpec,
    DomainSpec,
    EnvironmentSpec,
    TableSpec,
    forms,
    names,
)
from lake_spec.model.column_type import SIMPLE, STORED_AS, parse_type
from lake_spec.model.field_types import ListOf, MapOf, Maybe, OneOf, Record, shape_of
from lake_spec.text.cron import PRESETS, check_cron

ROOT = Path(__file__).parents[2]
SCHEMAS = sorted((ROOT / "docs/schema").glob("*.schema.json"))
SPECS = sorted((ROOT / "dags").glob("*/**/*.yml"))
NAMED = "# yaml-language-server: $schema="


def schema_named_in(path):
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith(NAMED), f"{path}:1: begin with {NAMED}<path of its schema>"
    return (path.parent / first[len(NAMED) :]).resolve()


def is_accepted(schema, text):
    data = parse_yaml(text.encode(), "f.yml").root.plain()
    return jsonschema.Draft202012Validator(schema).is_valid(data)


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_a_schema_is_a_schema(path):
    jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text()))


@pytest.mark.parametrize("path", SPECS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_spec_names_a_schema_that_accepts_it(path):
    schema = json.loads(schema_named_in(path).read_text())
    assert is_accepted(schema, path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "old, new",
    [
        ("kind: snapshot", "kind: feed"),
        ("type: csv", "type: cvs"),
        ("key: [", "keys: ["),
        ("owner: museum-data\n", ""),
        ("not_null: true", "not_null: 1"),
        ("nationality: {type:", "nationality: {tpe:"),
    ],
)
def test_the_table_schema_refuses_a_spoilt_spec(old, new):
    text = (ROOT / "dags/tables/moma/artists.yml").read_text(encoding="utf-8")
    schema = json.loads((ROOT / "docs/schema/table.schema.json").read_text())
    assert old in text and is_accepted(schema, text)
    assert not is_accepted(schema, text.replace(old, new))


KINDS = {
    "table": TableSpec,
    "domain": DomainSpec,
    "cluster": ClusterSpec,
    "environment": EnvironmentSpec,
}


def settings_below(shape, seen):
    """Each record that a shape leads to, once, with its settings."""
    if isinstance(shape, (Maybe,)):
        yield from settings_below(shape.inner, seen)
    elif isinstance(shape, (ListOf, MapOf)):
        yield from settings_below(shape.item, seen)
    elif isinstance(shape, OneOf):
        for record in shape.records.values():
            yield from settings_below(record, seen)
    elif isinstance(shape, Record) and shape.cls not in seen:
        seen.add(shape.cls)
        for setting in shape.settings.values():
            if setting.is_written:
                yield shape, setting
                yield from settings_below(setting.shape, seen)


ENTRIES = {
    "instance_types": "m7g.xlarge",
    "bootstrap_actions": {"name": "ca", "path": "ca.sh"},
}
"""A good entry of each list that has limits."""


OBJECT, ACCOUNT = "s3://lake/artifacts/a", "111122223333"
GOOD = {
    names.NAME: "orders",
    names.DOMAIN_OR_TABLE: "sales.orders",
    forms.AIRFLOW_NAME: "team-airflow",
    forms.BUCKET: "team-bucket",
    forms.FOLDER: "team/dags",
    forms.MEMORY: "4g",
    forms.INSTANCE_TYPE: "m7g.xlarge",
    forms.REGION: "eu-central-1",
    forms.ROLE_NAME: "lake",
    forms.ROLE_ARN: f"arn:aws:iam::{ACCOUNT}:role/of/lake",
    forms.ROLE: "lake",
    forms.ROLE_PATH: "/lake/",
    forms.POLICY_ARN: f"arn:aws:iam::{ACCOUNT}:policy/of/lake",
    forms.KMS_KEY: f"arn:aws:kms:eu-central-1:{ACCOUNT}:key/{'0' * 36}",
    forms.SNS_TOPIC: f"arn:aws:sns:eu-central-1:{ACCOUNT}:lake",
    forms.AMI: "ami-01234567",
    forms.VPC: "vpc-01234567",
    forms.CIDR: "10.20.0.0/16",
    forms.SUBNET: "subnet-01234567",
    forms.SECURITY_GROUP: "sg-01234567",
    forms.S3_FOLDER: "s3://lake/landing",
    forms.JAR: f"{OBJECT}.jar",
    forms.PEM: f"{OBJECT}.pem",
    forms.HOST: "shop.example.internal",
    forms.DATABASE: "shop",
    forms.CURSOR: "updated_at",
    forms.TABLE: "public.orders",
    forms.KAFKA_TOPIC: "shop.public.orders",
}
"""A good text of each form that a rule judges by the form alone."""


def decoded(shape, value):
    """A good value as the loader makes it of what a file says."""
    if isinstance(shape, Maybe):
        return decoded(shape.inner, value)
    if isinstance(shape, ListOf):
        return tuple(decoded(shape.item, each) for each in value)
    if isinstance(shape, MapOf):
        return tuple(value.items())
    if isinstance(shape, Record):
        named = value if isinstance(value, dict) else {shape.shorthand: value}
        return shape.build(named)
    return value


def limited_settings():
    """Each setting that has limits: the file, its place in the schema, and itself."""
    for kind, cls in KINDS.items():
        for record, setting in settings_below(shape_of(cls), set()):
            is_judged = setting.form and not setting.form.is_rough
            if setting.limits or setting.entries or is_judged:
                yield pytest.param(
                    kind, record, setting, id=f"{record.words}.{setting.name}"
                )


def tried(setting):
    """Values around the limits of a setting, each with whether it is within them."""
    shape = setting.shape.inner if isinstance(setting.shape, Maybe) else setting.shape
    if setting.limits:
        known = (setting.limits.least, setting.limits.greatest, setting.limits.above)
        for bound in (each for each in known if each is not None):
            for value in (bound - 1, bound, bound + 1):
                yield value, setting.limits.hold(value)
    if setting.entries:
        for count in {0, 1, setting.entries.greatest, setting.entries.greatest + 1}:
            value = [ENTRIES[setting.name]] * count
            yield value, setting.entries.hold(count)
    if setting.form:
        for text in (GOOD[setting.form], "", "no such: thing"):
            written = {ListOf: [text], MapOf: {"moma": text}}.get(type(shape), text)
            yield written, setting.form.fits(text)


@pytest.mark.parametrize("kind, record, setting", limited_settings())
def test_schema_and_rule_refuse_the_same_values(kind, record, setting):
    schema = json.loads((ROOT / f"docs/schema/{kind}.schema.json").read_text())
    body = schema
    if record.cls is not KINDS[kind]:
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", record.cls.__name__).lower()
        body = schema["$defs"][name]
    part = {**body["properties"][setting.name], "$defs": schema["$defs"]}
    judged = list(tried(setting))
    assert {is_good for _, is_good in judged} == {True, False}
    for value, is_good in judged:
        found = list(of_setting(setting, decoded(setting.shape, value)))
        accepted = jsonschema.Draft202012Validator(part).is_valid(value)
        assert (accepted, not found) == (is_good, is_good), (value, found)


@pytest.mark.parametrize(
    "text", [*SIMPLE, *STORED_AS, "DECIMAL(10,2)", "BigInt", "array<int>"]
)
def test_the_schema_takes_each_type_of_a_column(text):
    assert forms.COLUMN_TYPE.fits(text) and parse_type(text)


@pytest.mark.parametrize(
    "form, text",
    [
        (forms.COLUMN_TYPE, "strng"),
        (forms.COLUMN_TYPE, "intt"),
        (forms.CRON, "0 3 * *"),
        (forms.CRON, "every day"),
    ],
)
def test_what_has_another_form_is_refused_by_the_rule_too(form, text):
    judge = parse_type if form is forms.COLUMN_TYPE else check_cron
    with pytest.raises(ValueError):
        judge(text)
    assert not form.fits(text)


@pytest.mark.parametrize("text", ["0 3 * * *", "*/15 8-18 1,15 jan-mar mon", *PRESETS])
def test_the_schema_takes_each_schedule(text):
    check_cron(text)
    assert forms.CRON.fits(text)


def test_a_text_in_the_place_of_a_record_has_its_form_too():
    schema = json.loads((ROOT / "docs/schema/cluster.schema.json").read_text())
    part = {**schema["$defs"]["core_fleet"]["properties"]["instance_types"]}
    judge = jsonschema.Draft202012Validator({**part, "$defs": schema["$defs"]})
    assert judge.is_valid(["m7g.xlarge"])
    assert not judge.is_valid(["m7g xlarge"])
