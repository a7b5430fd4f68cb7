"""The reference page of EMR releases and MWAA versions, made from their facts."""

from __future__ import annotations

from typing import Iterable, Iterator, Sequence

from lake_spec.platform.aws_releases import (
    EMR_RELEASES,
    MWAA_ENDPOINTS,
    MWAA_VERSIONS,
    STEP_ENDPOINTS,
    why_not,
)


def release_page() -> str:
    """Return the page, in Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# EMR releases and MWAA versions"
    yield ""
    source = "dags/lake_spec/platform/aws_releases.py"
    yield f"<!-- Made from {source} by `./run_locally.sh docs`. -->"
    yield (
        "What the project relies on, read in AWS's release notes and images in November "
        "2026. Nothing was run on AWS: `experimental` is what the acceptance run of a "
        "release has yet to try."
    )
    yield ""
    yield "## EMR"
    yield ""
    yield from _table(
        (
            *("release", "Spark", "Hudi", "Delta", "Python", "support ends"),
            *("supported", "experimental"),
        ),
        (
            (
                f"`{each.label}`",
                each.spark,
                each.hudi,
                each.delta,
                ", ".join(each.python),
                each.support_ends,
                _codes(each.supported),
                _codes(each.experimental),
            )
            for each in EMR_RELEASES.values()
        ),
    )
    yield ""
    yield (
        "The first Python runs the steps. `engine: streamer` needs HoodieStreamer of Hudi "
        "1.0.2, which is in no package registry: it was tried with 0.14.0 alone."
    )
    yield ""
    yield from _table(
        ("release", "Hudi's jars", "`spark-avro.jar`", "Iceberg", "Delta's jars"),
        (
            tuple(
                f"`{cell}`"
                for cell in (
                    each.label,
                    each.hudi_jars,
                    each.avro_jar,
                    each.iceberg_jar,
                    each.delta_jars,
                )
            )
            for each in EMR_RELEASES.values()
        ),
    )
    yield ""
    yield "Buckets of AWS's that nodes write their logs to, for the policy of an S3 endpoint:"
    yield ""
    buckets = {each.log_buckets: None for each in EMR_RELEASES.values()}
    yield from (f"- {_codes(each)}" for each in buckets)
    yield ""
    yield "Other releases are refused by `validate`:"
    yield ""
    for label in ("emr-7.10.0", "emr-7.99.0", "emr-spark-8.1.0"):
        reason = (why_not(label) or "").partition(" Choose one of")[0]
        yield f"- `{label}`: {reason}"
    yield ""
    yield "## MWAA"
    yield ""
    yield from _table(
        (
            "Airflow",
            "Python",
            "amazon provider",
            "boto3",
            "DAGs tested with its packages",
        ),
        (
            (
                each.airflow,
                each.python,
                each.amazon_provider,
                each.boto3,
                "yes" if each.tested else "no",
            )
            for each in MWAA_VERSIONS.values()
        ),
    )
    yield ""
    yield f"Endpoints of an MWAA without internet access: {_codes(MWAA_ENDPOINTS)}."
    yield f"Endpoints that clusters and steps use: {_codes(STEP_ENDPOINTS)}."


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _codes(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "nothing"
