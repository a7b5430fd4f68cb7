"""A commit that was not made on top of the deployed one takes its place only where asked.

Times of commits decide nothing: who makes a commit chooses its time.
"""

from __future__ import annotations

import pytest
from lake_release import pointer
from lake_release.errors import ReleaseError

from tests.unit.lake_release.conftest import write_dags

REMEDY = (
    " Deploy the newest commit of main, go back with `rollback`, or add --older to "
    "deploy it all the same."
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


@pytest.mark.parametrize("at", [1, 9])
def test_of_branches_that_parted_neither_replaces_the_other(lake, at):
    lake.commit("one", at=0)
    lake.git("branch", "other")
    deployed = lake.commit("two", at=5)
    lake.deploy()
    lake.git("checkout", "--quiet", "other")
    beside = lake.commit("three", at=at)
    with pytest.raises(ReleaseError) as refused:
        lake.deploy()
    assert str(refused.value) == (
        f"prod: the commit {beside} was not made on top of the deployed commit "
        f"{deployed}: their histories parted, and it lacks what was deployed.{REMEDY}"
    )
    assert shown(lake) == "two"
    lake.deploy(older=True)
    assert shown(lake) == "three"


@pytest.mark.parametrize("at", [2, 8])
def test_a_commit_of_a_checkout_without_the_deployed_one_is_refused(lake, at):
    deployed = lake.commit("one", at=5)
    lake.deploy()
    lake.git("checkout", "--quiet", "--orphan", "two")
    mine = lake.commit("two", at=at)
    lake.git("branch", "--quiet", "-D", "main")
    lake.git("reflog", "expire", "--expire=now", "--all")
    lake.git("gc", "--quiet", "--prune=now")
    with pytest.raises(ReleaseError) as refused:
        lake.deploy()
    assert str(refused.value) == (
        f"prod: it is unknown whether the commit {mine} was made on top of the deployed "
        f"commit {deployed}, which this checkout does not have. Fetch the whole history "
        f"of main.{REMEDY}"
    )
    assert shown(lake) == "one"


def test_a_tree_that_git_does_not_know_replaces_no_commit_unasked(lake):
    deployed = lake.commit("one", at=1)
    lake.deploy()
    (lake.project / ".git").rename(lake.folder / "git")
    write_dags(lake.project, "two", "moma.py")
    with pytest.raises(ReleaseError, match=f"it is unknown .*{deployed}.*--older"):
        lake.deploy()
    lake.deploy(older=True)
    assert shown(lake) == "two"
