"""One append of moma.artists: its SQL file, its inputs, its change log."""

from __future__ import annotations

import pytest

from lake_spec.hudi.options import HudiKey
from lake_spec.hudi.streamer_options import streamer_argv
from lake_spec.platform.jars import UTILITIES

ARTISTS = {
    "sql_file": "s3://lake/runs/moma_full_load/r-1/prepare_full_load/artists.sql",
    "checkpoint": "3f6c0a",
    "base_path": "s3://lake/warehouse/moma/artists/changes",
    "table_name": "artists_changes",
}


def given(argument: str, argv: list) -> list:
    """Every value that follows this argument."""
    return [argv[at + 1] for at, word in enumerate(argv) if word == argument]


def hudi(argv: list) -> dict:
    return dict(pair.split("=", 1) for pair in given("--hoodie-conf", argv))


def test_the_class_is_named_first_and_the_jar_parts_spark_from_hudi():
    argv = streamer_argv(**ARTISTS)
    assert argv[:2] == [
        "--class",
        "org.apache.hudi.utilities.streamer.HoodieStreamer",
    ]
    jar = argv.index(UTILITIES)
    assert "--conf" not in argv[jar:]
    assert "--hoodie-conf" not in argv[:jar]


def test_the_streamer_is_told_what_to_append_where_and_under_which_id():
    argv = streamer_argv(**ARTISTS)
    assert given("--target-base-path", argv) == [ARTISTS["base_path"]]
    assert given("--target-table", argv) == ["artists_changes"]
    assert given("--checkpoint", argv) == ["3f6c0a"]
    assert given("--op", argv) == ["BULK_INSERT"]
    assert given("--table-type", argv) == ["COPY_ON_WRITE"]
    assert "--allow-commit-on-no-checkpoint-change" in argv


def test_the_log_is_written_with_these_options_and_no_others():
    assert hudi(streamer_argv(**ARTISTS)) == {
        "hoodie.archive.automatic": "false",
        "hoodie.bulkinsert.sort.mode": "NONE",
        "hoodie.clean.automatic": "false",
        "hoodie.compact.inline": "false",
        "hoodie.datasource.write.keygenerator.class": (
            "org.apache.hudi.keygen.NonpartitionedKeyGenerator"
        ),
        "hoodie.datasource.write.partitionpath.field": "",
        "hoodie.datasource.write.recordkey.field": "lake_key,lake_path,lake_record",
        "hoodie.embed.timeline.server": "false",
        "hoodie.metadata.enable": "false",
        "hoodie.bloom.index.filter.type": "SIMPLE",
        "hoodie.index.bloom.fpp": "0.5",
        "hoodie.index.bloom.num_entries": "1",
        "hoodie.parquet.bloom.filter.enabled": "false",
        "hoodie.parquet.compression.codec": "zstd",
        "hoodie.streamer.source.sql.file": ARTISTS["sql_file"],
        "hoodie.table.timeline.timezone": "UTC",
        "hoodie.write.auto.upgrade": "false",
        "hoodie.write.markers.type": "DIRECT",
        "hoodie.write.table.version": "6",
    }


def test_every_hudi_option_is_one_of_the_keys_of_the_project():
    known = {key.value for key in HudiKey}
    assert set(hudi(streamer_argv(**ARTISTS))) <= known


def test_the_source_never_makes_a_checkpoint_of_its_own():
    """With one, the same id given twice would append the rows twice."""
    assert "checkpoint.emit" not in " ".join(streamer_argv(**ARTISTS))


def test_instants_dates_and_the_sql_file_do_not_depend_on_the_machine():
    spark = given("--conf", streamer_argv(**ARTISTS))
    for java in ("driver", "executor"):
        assert (
            f"spark.{java}.extraJavaOptions=-Duser.timezone=UTC -Dfile.encoding=UTF-8"
            in spark
        )
    assert "spark.sql.session.timeZone=UTC" in spark
    assert "spark.sql.parquet.datetimeRebaseModeInRead=CORRECTED" in spark


def test_the_sql_file_names_no_files_and_has_no_settings():
    spark = given("--conf", streamer_argv(**ARTISTS))
    assert "spark.sql.runSQLOnFiles=false" in spark
    assert "spark.sql.variable.substitute=false" in spark


def test_arrays_may_hold_nulls():
    spark = given("--conf", streamer_argv(**ARTISTS))
    assert "spark.hadoop.parquet.avro.write-old-list-structure=false" in spark


def test_a_step_of_emr_can_hold_the_arguments():
    """EMR takes 10,240 characters per step, `spark-submit` among them."""
    deep = {**ARTISTS, "base_path": "s3://" + "b" * 63 + "/" + "k" * 1024}
    assert sum(len(word) for word in streamer_argv(**deep)) < 10_240 - 1_024


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        pytest.param("checkpoint", "", id="empty-checkpoint"),
        pytest.param("checkpoint", "a b", id="checkpoint-with-a-space"),
        pytest.param("checkpoint", "--op", id="checkpoint-that-is-an-option"),
        pytest.param("checkpoint", "a\n", id="checkpoint-with-a-line-end"),
        pytest.param("table_name", "Artists", id="capital-in-table-name"),
        pytest.param("table_name", "../artists", id="table-name-that-climbs"),
    ],
)
def test_a_name_outside_the_allow_list_is_refused(argument, value):
    with pytest.raises(ValueError, match=f"{argument}: got "):
        streamer_argv(**{**ARTISTS, argument: value})
