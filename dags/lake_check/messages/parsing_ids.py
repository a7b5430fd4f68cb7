"""Ids of diagnostics that no rule function makes: of files, YAML, keys and types."""

from __future__ import annotations

from enum import Enum


class ParsingId(str, Enum):
    """An id, with the cause and what to do below it."""

    UNKNOWN_KEY = "unknown-key"
    """A spec has a key that its kind of spec or of table does not have, mostly a misspelt one.

    Fix: Write one of the keys in the message, or remove the key.
    """

    MISSING_KEY = "missing-key"
    """A spec lacks a key that it must have.

    Fix: Add the key as the example in the message shows.
    """

    WRONG_TYPE = "wrong-type"
    """A value has another type than its key: text for a number, a text for a list.

    Fix: Write a value of the type in the message; put text that looks like a number
    into quotes.
    """

    VALUE_NOT_ALLOWED = "value-not-allowed"
    """A key accepts only certain values, and this is another one.

    Fix: Write one of the values in the message.
    """

    NAME_DIFFERS = "name-differs"
    """The name in a spec differs from that of its file or folder.

    Fix: Correct `name` or `domain`, or rename the file or folder.
    """

    DUPLICATE_KEY = "duplicate-key"
    """A key is written twice in one mapping.

    Fix: Keep one of the two lines.
    """

    INVALID_YAML = "invalid-yaml"
    """A file cannot be parsed as YAML.

    Fix: Correct the YAML in the line of the message or in the one above, often its
    indentation, a missing space after a colon or a missing quote.
    """

    TAB_INDENT = "tab-indent"
    """A line is indented by a tab, which YAML does not allow.

    Fix: Indent with spaces; set the editor to write spaces in YAML files.
    """

    UNSUPPORTED_YAML = "unsupported-yaml"
    """A file uses YAML that specs do not have: aliases, tags, several documents, keys
    that are not text.

    Fix: Write the value out; put settings that all tables share into _defaults.yml.
    """

    SPEC_TOO_LARGE = "spec-too-large"
    """A file is larger or nested more deeply than any spec.

    Fix: Check that the file is a spec; split or shorten it.
    """

    NOT_UTF8 = "not-utf8"
    """A file is not encoded in UTF-8.

    Fix: Save the file as UTF-8.
    """

    EMPTY_FILE = "empty-file"
    """A file has no content.

    Fix: Write the spec, or remove the file.
    """

    UNREADABLE_FILE = "unreadable-file"
    """A file or folder does not exist or cannot be read.

    Fix: Correct the path, or allow this user to read it.
    """

    MISPLACED_FILE = "misplaced-file"
    """A file or folder is not where specs belong, or its name is not that of a spec.

    Fix: Move or rename it as the message says: tables are `<domain>/<table>.yml`.
    """

    MISSING_DOMAIN_FILE = "missing-domain-file"
    """A folder of tables has no _domain.yml.

    Fix: Create _domain.yml in the folder with `name`, `description` and `owner`.
    """

    UNKNOWN_CLUSTER = "unknown-cluster"
    """A domain or an environment names a cluster that has no file.

    Fix: Correct the name, or create the cluster's file in dags/clusters.
    """

    UNKNOWN_DOMAIN = "unknown-domain"
    """An environment has a runtime role for a domain that does not exist.

    Fix: Correct the name under `runtime_roles`.
    """

    INVALID_PRICE = "invalid-price"
    """A file of prices has a currency or a price that is not valid.

    Fix: Write the currency as three capital letters, and prices of one hour as numbers
    of 0 or more.
    """

    MISSING_PRICE = "missing-price"
    """A file of prices lacks the price of instances that a cluster had.

    Fix: Add the price that the message names to the file of prices.
    """

    CLOCK_GOES_BACK = "clock-goes-back"
    """Times without a zone, of clocks that are set back once a year, order rows. A warning:
    the specs can be used.

    Fix: Have the source send UTC, or each time with its offset, which the column's `format`
    or `%z` reads; or put a column that always grows next into `order_by`. If nothing changes
    twice within that hour, nothing.
    """

    KEY_MAY_CHANGE = "key-may-change"
    """A feed without values from before updates has a `unique` check of columns that are
    no part of its key. A warning: the specs can be used.

    Fix: If the source may change a row's key, choose the columns of the check as the key,
    or have the source send the values before updates and name them in
    `source.operation.before`. If it never does, nothing.
    """
