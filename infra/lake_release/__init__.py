"""Releases: built from the tree, deployed to an environment, taken back.

A release is everything that one commit brings: the Spark code, the specs, the DAGs and
what MWAA installs. Its id is a hash of all that, its files never change, and one small
object says which release is the current one. Writing that object is the deployment;
all before it changes nothing that runs.
"""
