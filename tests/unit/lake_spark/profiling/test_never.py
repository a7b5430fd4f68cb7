"""`profile: never` removes the profile that there is, with its older versions."""

from types import SimpleNamespace

from lake_spec.contract.table_profile import TableProfile, profile_text
from lake_spec.model import Product, Profile, TableSpec
from lake_spark.profiling.profile import profile_where_due


class Store:
    """Objects in memory, with what was removed of their older versions."""

    def __init__(self, objects):
        self.objects, self.cleared = objects, []

    def read(self, uri):
        return self.objects[uri]

    def delete(self, uri):
        del self.objects[uri]

    def delete_old_versions(self, prefix):
        self.cleared.append(prefix)


def test_a_profile_goes_with_its_older_versions():
    uri = "s3://work/runs/profiles/shop/a.json"
    text = profile_text(TableProfile("shop", "a", "run", "2026-01-01", "1", 0))
    about = ("a", "shop", "About it", "shop-data", Product(sql="a.sql"), ("id",))
    store = Store({uri: text.encode()})
    run = SimpleNamespace(
        spec=TableSpec(*about, profile=Profile.NEVER),
        environment=SimpleNamespace(runs="s3://work/runs"),
        store=store,
        dry_run=False,
    )
    profile_where_due(run)
    assert store.objects == {} and store.cleared == [uri]
    profile_where_due(run)
    assert store.cleared == [uri]
