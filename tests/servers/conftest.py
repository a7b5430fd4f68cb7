"""The servers, for the tests of the servers themselves."""

from tests.servers.fixtures import *  # noqa: F401, F403
