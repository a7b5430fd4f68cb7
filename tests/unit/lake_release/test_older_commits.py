"""An older commit takes the place of a newer one only where somebody asks for it."""

from __future__ import annotations

import pytest
from lake_release import pointer
from lake_release.errors import ReleaseError

from tests.unit.lake_release.conftest import write_dags

REMEDY = (
    " Deploy the newest commit of main, go back with `rollback`, or add --older to "
    "deploy the older commit."
)


def shown(lake):
    return lake.shown()["moma.py"].split()[0]


def test_a_commit_that_the_deployed_one_was_made_of_is_refused_by_both_names(lake):
    first, second = lake.commit("one", at=1), lake.commit("two", at=2)
    lake.deploy()
    lake.git("checkout", "--quiet", first)
    with pytest.raises(ReleaseError) as refused:
        lake.deploy()
    assert str(refused.value) == (
        f"prod: the commit {first} is older than the deployed commit {second}."
        f"{REMEDY}"
    )
    assert shown(lake) == "two"
    told = list(lake.deployment().plan(lake.built()))
    assert told[1] == f"deploy would refuse this: {refused.value}"


def test_that_holds_whatever_their_times_say(lake):
    first = lake.commit("one", at=5)
    lake.commit("two", at=2)
    lake.deploy()
    lake.git("checkout", "--quiet", first)
    with pytest.raises(ReleaseError, match="is older than"):
        lake.deploy()
    lake.git("checkout", "--quiet", "main")
    lake.deploy(older=True)
    assert shown(lake) == "two"


def test_a_child_of_the_deployed_commit_is_deployed_whatever_its_time_says(lake):
    lake.commit("one", at=5)
    lake.deploy()
    lake.commit("two", at=2)
    lake.deploy()
    assert shown(lake) == "two"


def test_who_asks_for_the_older_one_gets_it_and_a_rollback_asks_for_it(lake):
    first = lake.commit("one", at=1)
    lake.deploy()
    lake.commit("two", at=2)
    lake.deploy()
    lake.deployment().rollback()
    assert shown(lake) == "one"
    current = pointer.read(lake.s3, lake.target).current
    assert current.commit.id == first
    lake.deploy()  # the newer one once more
    assert shown(lake) == "two"
    lake.git("checkout", "--quiet", first)
    lake.deploy(older=True)
    assert shown(lake) == "one"


def test_a_newer_commit_of_the_same_release_counts_too(lake):
    """It is not deployed again, but what is older than it is older."""
    lake.commit("one", at=1)
    lake.deploy()
    between = lake.commit("two", at=2)
    newest = lake.commit("one", at=3)  # takes the second one back
    lake.deploy()
    there = pointer.read(lake.s3, lake.target)
    assert (len(there.deploys), there.current.commit.id) == (1, newest)
    lake.git("checkout", "--quiet", between)
    with pytest.raises(ReleaseError, match=f"{between} is older than .* {newest}"):
        lake.deploy()


@pytest.mark.parametrize("at, is_refused", [(1, True), (9, False)])
def test_of_branches_that_parted_the_later_commit_is_the_newer_one(
    lake, at, is_refused
):
    lake.commit("one", at=0)
    lake.git("branch", "other")
    lake.commit("two", at=5)
    lake.deploy()
    lake.git("checkout", "--quiet", "other")
    lake.commit("three", at=at)
    if is_refused:
        with pytest.raises(ReleaseError, match="is older than"):
            lake.deploy()
    else:
        lake.deploy()
    assert shown(lake) == ("two" if is_refused else "three")


def test_where_the_deployed_commit_is_not_here_the_times_tell(lake):
    lake.commit("one", at=5)
    lake.deploy()
    for name, at, is_refused in (("two", 2, True), ("three", 8, False)):
        lake.git("checkout", "--quiet", "--orphan", name)
        lake.commit(name, at=at)
        lake.git("branch", "--quiet", "-D", "main") if at == 2 else None
        lake.git("reflog", "expire", "--expire=now", "--all")
        lake.git("gc", "--quiet", "--prune=now")
        if is_refused:
            with pytest.raises(ReleaseError, match="is older than"):
                lake.deploy()
        else:
            lake.deploy()
    assert shown(lake) == "three"


def test_a_tree_that_git_does_not_know_replaces_no_commit_unasked(lake):
    deployed = lake.commit("one", at=1)
    lake.deploy()
    (lake.project / ".git").rename(lake.folder / "git")
    write_dags(lake.project, "two", "moma.py")
    with pytest.raises(ReleaseError, match=f"it is unknown .*{deployed}.*--older"):
        lake.deploy()
    lake.deploy(older=True)
    assert shown(lake) == "two"
