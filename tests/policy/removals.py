"""Calls that delete, end, cancel or replace, and why each can only meet what is ours.

By file and call. Whoever adds one looks where else it can get, and says it here in short
words; docs/ownership.md says what is ours, and how that is known.
"""

from __future__ import annotations

from typing import Dict

RUN = "a path below the run's own folder"
TABLE = "a path below the table's own folder"
PASSES = "takes the address that callers in this table give it"
MADE = "what this process itself made a moment ago"
STATE = "a file of ours by its name in a marked state directory"
EMULATOR = "objects of the emulator, in its marked state directory"

WHY: Dict[str, Dict[str, str]] = {
    "dags/lake_airflow/emr/clusters.py": {
        "cancel_steps": "steps of a cluster that `living` or the run's own note found",
    },
    "dags/lake_airflow/emr/hook.py": {
        "getattr": "creates clusters and adds steps, as callers in this table ask",
    },
    "dags/lake_airflow/operators/create_cluster.py": {
        "terminate_job_flows": "the cluster that this task created; idle ones by tags",
    },
    "dags/lake_airflow/operators/reaper.py": {
        "terminate_job_flows": "only what `living` lists: by the tags of the deployment",
    },
    "dags/lake_airflow/operators/run_over.py": {
        "terminate_job_flows": "only what `living` lists of the run that is over",
    },
    "dags/lake_airflow/operators/terminate_cluster.py": {
        "terminate_job_flows": "only what `find` lists: by the tags of the deployment",
    },
    "dags/lake_airflow/reporting/cost_ledger.py": {
        "put_object": "the entry of a cluster of this deployment, named by its id",
    },
    "dags/lake_site/store.py": {
        "put_object": "pages below `runs`, the site's own folder"
    },
    "spark_jobs/lake_spark/materialize/affected_keys.py": {"delete_all": TABLE},
    "spark_jobs/lake_spark/erasure/landing_files.py": {
        "delete_all": "contents made next to the table, in a folder for them",
    },
    "spark_jobs/lake_spark/erasure/reports.py": {
        "delete": "scratch files of runs of the domain, by their folder",
        "delete_old_versions": "of folders of runs of the domain",
    },
    "spark_jobs/lake_spark/ingest/hoodie_streamer.py": {"delete_all": TABLE},
    "spark_jobs/lake_spark/landing/ingested_files.py": {"delete": TABLE},
    "spark_jobs/lake_spark/profiling/profile.py": {
        "delete": "the table's profile, by its name below `runs`",
        "delete_old_versions": "of the same object",
    },
    "spark_jobs/lake_spark/publish/delta.py": {
        "delete": "versions of a log that has ours; scratch of the run",
    },
    "spark_jobs/lake_spark/publish/format.py": {
        "delete": "where `is_ours` holds, or a begin that it allows",
    },
    "spark_jobs/lake_spark/publish/glue_tables.py": {
        "update_table": "only if it leads below the table's folder, as it was read",
    },
    "spark_jobs/lake_spark/publish/iceberg.py": {
        "delete": "the location, which is ours; the former root where it was ours",
    },
    "spark_jobs/lake_spark/sources/staging_folder.py": {
        "delete": "the folder of one pull, which its own run named",
    },
    "spark_jobs/lake_spark/stages/erase.py": {
        "delete_old_versions": "of the table's landing folder and its own",
    },
    "spark_jobs/lake_spark/stages/product.py": {
        "delete": TABLE,
        "delete_old_versions": TABLE,
    },
    "spark_jobs/lake_spark/step/application.py": {
        "delete_old_versions": "of the request of this erase",
    },
    "spark_jobs/lake_spark/step/continuous.py": {"delete": RUN},
    "spark_jobs/lake_spark/storage/hudi_table.py": {
        "delete": "metadata of a table without hoodie.properties; an empty folder",
    },
    "spark_jobs/lake_spark/storage/lease_check.py": {
        "delete": PASSES,
        "delete_old_versions": PASSES,
    },
    "spark_jobs/lake_spark/storage/object_store.py": {
        "delete": PASSES,
        "delete_object": PASSES,
        "delete_objects": PASSES,
        "put_object": PASSES,
        "unlink": PASSES,
    },
    "spark_jobs/lake_spark/storage/parquet_table.py": {
        "delete_all": "commits of the table, by their names in its folder",
    },
    "spark_jobs/lake_spark/stages/renamed.py": {
        "update_table": "of the former name, only if it leads below the table's folder",
    },
    "spark_jobs/lake_spark/tables/entry_owner.py": {
        "delete_table": "only if it leads below the table's folder",
    },
    "spark_jobs/lake_spark/tables/catalog.py": {
        "update_table": "after `refuse_other`: it leads below the table's folder",
    },
    "spark_jobs/lake_spark/tables/erased_keys.py": {"delete": TABLE},
    "spark_jobs/lake_spark/tables/glue_partitions.py": {
        "batch_delete_partition": "of an entry that `refuse_other` let pass",
        "batch_update_partition": "of an entry that `refuse_other` let pass",
    },
    "spark_jobs/lake_spark/tables/whole_messages.py": {
        "delete": "the table's own folder of messages",
        "delete_old_versions": "the same",
    },
    "infra/lake_acceptance/claim.py": {
        "delete": "the claims that this run took, by If-None-Match, a moment ago",
    },
    "infra/lake_acceptance/removal.py": {
        "delete": "the run's claim, last",
        "delete_below": "roots that the run claims",
        "delete_table": "tables that lie below a claimed root",
        "delete_database": "of the run's name, without tables; refused where it was there",
        "delete_stack": "with the run's key as its tag",
    },
    "infra/lake_acceptance/steps.py": {
        "terminate_job_flows": "of the run's key in the name, and by tags",
    },
    "infra/lake_acceptance/storage.py": {
        "put_object": "below a root that was claimed",
        "delete_objects": PASSES,
    },
    "infra/lake_release/airflow_bucket.py": {
        "delete_object": "a file of an own manifest, or with our mark, If-Match",
    },
    "infra/lake_release/built.py": {
        "rmtree": "a folder named by the digest of what is built there",
    },
    "infra/lake_release/mwaa.py": {
        "update_environment": "after `check_reads`: it reads our bucket, by our paths",
    },
    "local/lake_local/emulator/class_data.py": {
        "unlink": "archives by their name in .local, and " + MADE,
        "put_object": EMULATOR,
    },
    "emulator/lake_emulator/emr/step_process.py": {"unlink": STATE},
    "emulator/lake_emulator/emr/step_runner.py": {"rmtree": STATE},
    "emulator/lake_emulator/emr/supervisor.py": {
        "killpg": "the group of its own child"
    },
    "emulator/lake_emulator/keys.py": {"unlink": MADE},
    "emulator/lake_emulator/moto_services.py": {"unlink": MADE},
    "emulator/lake_emulator/policies/enforcer.py": {"unlink": STATE},
    "emulator/lake_emulator/s3/blobs.py": {"unlink": EMULATOR},
    "emulator/lake_emulator/s3/multipart.py": {"delete_upload": EMULATOR},
    "emulator/lake_emulator/s3/store.py": {"delete": EMULATOR},
    "emulator/lake_emulator/s3/versions.py": {
        "delete": EMULATOR,
        "delete_past": EMULATOR,
    },
    "emulator/lake_emulator/s3/web.py": {"delete": EMULATOR},
    "emulator/lake_emulator/server.py": {"truncate": STATE},
    "local/lake_local/capture/postgresql.py": {
        "pg_drop_replication_slot": "asked for with --drop-slot, after a look at the note",
    },
    "local/lake_local/capture/server.py": {
        "kill": "its own child",
        "send_signal": "its own child",
    },
    "local/lake_local/capture/slots.py": {
        "pg_drop_replication_slot": "a statement that is shown, not sent",
    },
    "local/lake_local/cli/commands/show.py": {"unlink": MADE},
    "local/lake_local/cli/commands/site.py": {"rmtree": STATE},
    "local/lake_local/cli/programs.py": {"killpg": "the group of its own child"},
    "local/lake_local/stack/emulator.py": {
        "terminate_job_flows": "clusters of the emulator of this state directory",
    },
    "local/lake_local/stack/lock.py": {"unlink": STATE},
    "local/lake_local/stack/objects.py": {
        "put_object": "an address of the emulator that the user typed",
    },
    "local/lake_local/stack/policies.py": {"unlink": STATE},
    "local/lake_local/stack/stack.py": {"unlink": STATE},
    "local/lake_local/workspace/background.py": {
        "getattr": "processes with the mark of the state directory",
    },
    "local/lake_local/workspace/dags_folder.py": {
        "unlink": "links and DAG files as they are generated, by their first words",
    },
    "docs/catalogue.sh": {"rm": MADE},
    "tools/checks/speeds.py": {"unlink": "links that it makes below .local, by name"},
    "tools/processes.py": {"killpg": "groups of its own children"},
    "tools/setup/building.py": {
        "rmtree": "a cache of its own in .local, and " + MADE,
        "rmdir": "the folder of its cache, once it is empty",
        "unlink": MADE,
    },
    "tools/setup/folders.py": {
        "rmtree": "below a folder with the note or stamp of a set-up",
        "unlink": "below a folder with the note or stamp of a set-up",
    },
}
"""Calls by file, with what bounds them."""
