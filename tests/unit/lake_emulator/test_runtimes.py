"""The release label picks Spark, Hudi and Python; here they are empty files."""

from __future__ import annotations

from pathlib import Path

import pytest

from lake_emulator import runtimes

BUNDLE_35 = "spark-3.5/hudi-spark3.5-bundle_2.12-1.0.2.jar"
BUNDLE_34 = "spark-3.4/hudi-spark3.4-bundle_2.12-0.14.0.jar"
SLIM = "streamer/hudi-utilities-slim.jar"
AVRO_35 = "spark-3.5/spark-avro_2.12-3.5.0.jar"
ICEBERG_35 = "spark-3.5/iceberg-spark-runtime-3.5_2.12-1.10.1.jar"
SHARED_35 = (BUNDLE_35, "spark-3.5/slf4j-api-1.7.30.jar", AVRO_35, ICEBERG_35)
FILES = (*SHARED_35, BUNDLE_34, SLIM)
STREAMER = ("--class", "org.apache.hudi.utilities.streamer.HoodieStreamer")


@pytest.fixture
def machine(tmp_path, monkeypatch) -> Path:
    """A place with both runtimes."""
    for name in FILES:
        file = tmp_path / "jars" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    for venv in ("spark", "streamer"):
        home = tmp_path / f".venv-{venv}"
        (home / "lib/python3.11/site-packages/pyspark/bin").mkdir(parents=True)
        (home / "bin").mkdir()
        (home / "bin" / "python").touch()
    monkeypatch.setenv("LAKE_VENVS", str(tmp_path))
    monkeypatch.setenv("LAKE_JARS", str(tmp_path / "jars"))
    return tmp_path


def command(machine: Path, *args: str, **properties: str) -> runtimes.Command:
    return runtimes.command(
        "emr-7.13.0",
        args,
        endpoint="http://127.0.0.1:1",
        secret="hidden",
        scratch=machine / "scratch",
        properties=properties,
    )


def defaults(machine: Path) -> dict[str, str]:
    lines = (machine / "scratch/conf/spark-defaults.conf").read_text().splitlines()
    return dict(line.split(" ", 1) for line in lines)


def test_spark_submit_becomes_that_of_the_release(machine):
    made = command(machine, "spark-submit", "s3://lake/main.py", "--stage", "scd2")
    spark = machine / ".venv-spark/lib/python3.11/site-packages/pyspark"
    assert made.argv == (
        str(spark / "bin/spark-submit"),
        "--properties-file",
        str(machine / "scratch/conf/spark-defaults.conf"),
        "s3://lake/main.py",
        "--stage",
        "scd2",
    )
    assert made.env["SPARK_HOME"] == str(spark)
    assert made.env["PYSPARK_PYTHON"] == str(machine / ".venv-spark/bin/python")


def test_the_class_path_has_the_jars_but_no_second_logger(machine):
    command(machine, "spark-submit", "x.py")
    path = defaults(machine)["spark.driver.extraClassPath"]
    assert path == str(machine / "jars" / BUNDLE_35)


@pytest.mark.parametrize("name", ["home", "home of Ann", "100%", "Zoë"])
def test_hudi_has_its_folder_of_settings_where_that_is_a_uri(machine, name):
    made = command(machine / name, "spark-submit", "x.py")
    known = {"HUDI_CONF_DIR": str(machine / name / "scratch" / "conf")}
    found = {k: v for k, v in made.env.items() if k.startswith("HUDI")}
    assert found == (known if name == "home" else {})


def test_s3_is_read_through_s3a_from_the_emulator(machine):
    command(machine, "spark-submit", "x.py")
    found = defaults(machine)
    assert found["spark.hadoop.fs.s3.impl"] == "org.apache.hadoop.fs.s3a.S3AFileSystem"
    assert found["spark.hadoop.fs.s3a.endpoint"] == "http://127.0.0.1:1"


def test_compiled_code_and_classes_of_many_tables_have_space(machine):
    command(machine, "spark-submit", "x.py")
    java = defaults(machine)["spark.driver.defaultJavaOptions"]
    assert "-XX:ReservedCodeCacheSize=256m" in java.split()
    assert "-XX:MetaspaceSize=256m" in java.split()


def archived(machine: Path, runtime: str = "spark-3.5") -> Path:
    """What set-up leaves: an archive, and the empty folder of its class path."""
    folder = machine / "class-data" / runtime
    (folder / "empty").mkdir(parents=True)
    (folder / "classes-4.jsa").write_text("four")
    return folder


def test_a_step_takes_the_archive_of_classes_and_its_class_path(machine):
    folder = archived(machine)
    made = command(machine, "spark-submit", "x.py")
    java = defaults(machine)["spark.driver.defaultJavaOptions"]
    assert f'"-XX:SharedArchiveFile={folder / "classes-4.jsa"}"' in java
    assert made.env["SPARK_CONF_DIR"] == str(folder / "empty")


def test_an_archive_that_was_cut_is_not_taken_for_the_jvm_would_end(machine):
    (archived(machine) / "classes-4.jsa").write_text("cut")
    command(machine, "spark-submit", "x.py")
    assert "Archive" not in defaults(machine)["spark.driver.defaultJavaOptions"]


def test_without_an_archive_a_step_starts_without(machine):
    archived(machine, "spark-3.4")  # that of another runtime
    made = command(machine, "spark-submit", "x.py")
    assert "Archive" not in defaults(machine)["spark.driver.defaultJavaOptions"]
    assert made.env["SPARK_CONF_DIR"] == str(machine / "scratch/empty")
    assert list((machine / "scratch/empty").iterdir()) == []


def test_logs_are_written_as_the_steps_own_file_says(machine):
    command(machine, "spark-submit", "x.py")
    file = machine / "scratch/conf/log4j2.properties"
    java = defaults(machine)["spark.driver.defaultJavaOptions"]
    assert f'"-Dlog4j2.configurationFile={file.as_uri()}"' in java
    assert "rootLogger.level = warn" in file.read_text()


def test_keys_are_in_the_environment_and_in_no_argument_or_setting(machine):
    made = command(machine, "spark-submit", "x.py")
    assert made.env["AWS_SECRET_ACCESS_KEY"] == "hidden"
    conf = (machine / "scratch/conf/spark-defaults.conf").read_text()
    told = (conf + " ".join(made.argv)).lower()
    assert "secret" not in told and "hidden" not in told


def test_the_clusters_own_spark_settings_win(machine):
    command(machine, "spark-submit", "x.py", **{"spark.driver.memory": "7g"})
    assert defaults(machine)["spark.driver.memory"] == "7g"


def test_a_clusters_hudi_jars_are_not_looked_for_twice(machine):
    jars = "/usr/lib/hudi/hudi-spark-bundle.jar,s3://lake/artifacts/own.jar"
    command(machine, "spark-submit", "x.py", **{"spark.jars": jars})
    assert defaults(machine)["spark.jars"] == "s3://lake/artifacts/own.jar"


def test_hoodie_streamer_runs_on_its_own_runtime(machine):
    jar = "/usr/lib/hudi/hudi-utilities-bundle.jar"
    made = command(machine, "spark-submit", *STREAMER, jar, "--props", "p")
    assert ".venv-streamer" in made.argv[0]
    assert made.argv[-3:] == (str(machine / "jars" / SLIM), "--props", "p")
    path = defaults(machine)["spark.driver.extraClassPath"]
    assert path == f"{machine / 'jars' / BUNDLE_34}:{machine / 'jars' / SLIM}"


def test_of_a_list_of_jars_the_one_that_is_not_here_is_left_out(machine):
    jars = "/usr/lib/hudi/hudi-spark-bundle.jar,/usr/lib/hudi/hudi-aws-bundle.jar"
    utilities = "/usr/lib/hudi/hudi-utilities-bundle.jar"
    made = command(machine, "spark-submit", *STREAMER, "--jars", jars, utilities)
    assert made.argv[6] == str(machine / "jars" / BUNDLE_34)
    [note] = made.notes
    assert note.startswith("skipped the jar /usr/lib/hudi/hudi-aws-bundle.jar")


def test_the_reader_of_avro_is_there_for_steps_that_name_it(machine):
    jars = "/usr/lib/hudi/hudi-spark-bundle.jar,/usr/lib/spark/connector/lib/spark-avro.jar"
    made = command(machine, "spark-submit", "--jars", jars, "x.py")
    folder = machine / "jars"
    assert made.argv[4] == f"{folder / BUNDLE_35},{folder / AVRO_35}"
    path = defaults(machine)["spark.driver.extraClassPath"]
    assert "spark-avro" not in path


def test_icebergs_library_is_there_for_steps_that_name_it(machine):
    iceberg = "/usr/share/aws/iceberg/lib/iceberg-spark3-runtime.jar"
    jars = f"/usr/lib/hudi/hudi-spark-bundle.jar,{iceberg}"
    made = command(machine, "spark-submit", "--jars", jars, "x.py")
    folder = machine / "jars"
    assert made.argv[4] == f"{folder / BUNDLE_35},{folder / ICEBERG_35}"
    assert ICEBERG_35 not in defaults(machine)["spark.driver.extraClassPath"]


def test_a_jar_that_the_runtime_does_not_have_is_refused(machine):
    jar = "/usr/lib/hudi/hudi-aws-bundle.jar"
    with pytest.raises(runtimes.RuntimeMissing, match="has no such jar"):
        command(machine, "spark-submit", "--class", "x.Y", jar)


@pytest.mark.parametrize(
    "missing", [".venv-spark/lib", "jars/spark-3.5"], ids=["pyspark", "jars"]
)
def test_what_is_not_set_up_is_named_with_its_remedy(machine, missing):
    (machine / missing).rename(machine / "elsewhere")
    with pytest.raises(runtimes.RuntimeMissing, match="./setup.sh"):
        command(machine, "spark-submit", "x.py")


def test_another_command_stays_as_it_is(machine):
    made = command(machine, "bash", "-c", "echo 'a b'")
    assert made.argv == ("bash", "-c", "echo 'a b'")
    assert made.env["PATH"].startswith(str(machine / ".venv-spark/bin"))


def test_a_step_finds_no_region_and_no_metadata_as_with_a_runtime_role(machine):
    made = command(machine, "spark-submit", "x.py")
    assert not {"AWS_REGION", "AWS_DEFAULT_REGION"} & set(made.env)
    assert made.env["AWS_EC2_METADATA_DISABLED"] == "true"
