"""Texts that some part of a path, a URL, a pattern or a query takes for more than text."""

from __future__ import annotations

VALUES = (
    *("plain", "a b", " a", "a ", "  ", "100%", "%", "%2F", "a%20b", "a+b", "a/b"),
    *("//", "a:b", "a=b", "a=b/c=d", "why?", "#1", "a&b", '"q"', "it's", "back\\slash"),
    *(
        "ü",
        "u\u0308",
        "中 文",
        "\U0001f600",
        "*",
        "a*b",
        "{a}",
        "{a,b}",
        "[b]",
        "[a-z]",
    ),
    *(".", "..", ".a", "a.", "_a", "A", "a", "a,b", "a;b", "$x", "~", "^|", "<x>"),
    *("t\tb", "null", "s3://b/k", "\u00a0", "!()@"),
)
"""Values of a column that names partitions."""

FILES = (
    *("plain", "a b", " a", "a ", "100%", "%2F", "a%20b", "a+b", "why?", "#1", "a&b=c"),
    *("ü", "u\u0308", "中 文", "\U0001f600", "*", "a*b", "{a,b}", "[b]", "back\\slash"),
    *("it's", '"q"', "12:30", "<x>", "a,b;c", "$x", "~", "^|", "t\tb", "[x] {y}/a b"),
    *("p=a%2Fb c/1", "c:/1", "?/#", "% /ü +", "b / b "),
)
"""Names of landing files, some in folders; S3 takes them all."""
