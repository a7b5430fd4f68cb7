"""Facts of releases: which are taken, and what reads them."""

import re
from pathlib import Path

import pytest

from lake_spec.platform.aws_releases import EMR_RELEASES, MWAA_VERSIONS, why_not
from lake_spec.platform.jars import AVRO, HUDI, UTILITIES

ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.parametrize("label", EMR_RELEASES)
def test_a_known_release_is_taken_and_has_our_jars(label):
    assert why_not(label) is None
    release = EMR_RELEASES[label]
    assert AVRO == f"{release.connector_jars}/spark-avro.jar"
    assert {HUDI, UTILITIES} == {
        f"{release.hudi_jars}/hudi-spark-bundle.jar",
        f"{release.hudi_jars}/hudi-utilities-bundle.jar",
    }
    assert "engine: streamer" in release.experimental


@pytest.mark.parametrize(
    "label, reason",
    [
        ("emr-7.10.0", "lack Hudi 1.0.2"),
        ("emr-6.15.0", "lack Hudi 1.0.2"),
        ("emr-spark-8.1.0", "Spark 4"),
        ("emr-7.99.0", "not known here"),
    ],
)
def test_another_release_is_refused_with_its_reason_and_the_choices(label, reason):
    said = why_not(label)
    assert reason in said
    assert said.endswith(f"Choose one of: {', '.join(EMR_RELEASES)}.")


@pytest.mark.parametrize("cluster", sorted((ROOT / "dags/clusters").glob("*.yml")))
def test_the_projects_clusters_have_a_release_without_a_doubt(cluster):
    (label,) = re.findall(r"^release_label: (\S+)$", cluster.read_text(), re.MULTILINE)
    assert "engine: pyspark" in EMR_RELEASES[label].supported


def test_the_template_of_airflow_takes_known_versions():
    template = (ROOT / "infra/templates/mwaa.yml").read_text()
    (allowed,) = re.findall(r"AllowedValues: \[(3\.[\d., ]+)\]", template)
    assert set(allowed.split(", ")) <= set(MWAA_VERSIONS)


@pytest.mark.parametrize("version", MWAA_VERSIONS.values(), ids=lambda v: v.airflow)
def test_what_is_tested_has_the_constraints_of_its_image(version):
    file = ROOT / "requirements" / f"constraints-{version.airflow}.txt"
    assert file.exists() or not version.tested
    if file.exists():
        pinned = file.read_text().splitlines()
        assert f"apache-airflow-providers-amazon=={version.amazon_provider}" in pinned
        assert f"boto3=={version.boto3}" in pinned
