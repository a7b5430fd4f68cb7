"""The forms of texts in specs, each with what to write: allow-lists, never deny-lists."""

from __future__ import annotations

from lake_spec.model.column_type import FORMS, NESTED, SIMPLE
from lake_spec.model.limits import Form

_FIRST = "|".join(
    "".join(f"[{letter}{letter.upper()}]" for letter in each)
    for each in (*SIMPLE, "decimal", *NESTED)
)
COLUMN_TYPE = Form(
    rf"\s*(?:{_FIRST})(?:\W[\s\S]*)?",
    f"Write one of {', '.join(SIMPLE)}, {FORMS}.",
    is_rough=True,
)
"""Only the first word: the rest is judged by `parse_type`."""

CRON = Form(
    r"@[a-z]+|\S+(?: \S+){4}",
    "Write five fields with single spaces (minute, hour, day of month, month, day of "
    "week), as in '0 3 * * *', or one of: @hourly, @daily, @weekly, @monthly, @yearly.",
    is_rough=True,
)
"""Only how many fields there are: each is judged by `check_cron`."""

MEMORY = Form(
    "[1-9][0-9]{0,5}[mg]", "Write a whole number followed by m or g, as in 4g."
)
INSTANCE_TYPE = Form(
    r"[a-z][a-z0-9-]{1,19}\.[a-z0-9-]{1,19}",
    "Write an EC2 instance type, as in m7g.xlarge.",
)

_PARTITION = "arn:aws(?:-[a-z]+){0,2}"
_REGION = "[a-z]{2}(?:-[a-z]+){1,2}-[0-9]"
_ROLE_NAME = "[A-Za-z0-9_+=,.@-]{1,64}"
_ROLE_ARN = rf"{_PARTITION}:iam::[0-9]{{12}}:role/(?:[A-Za-z0-9_+=,.@-]+/)*{_ROLE_NAME}"
_OF_ROLE = "1 to 64 of A-Z a-z 0-9 _ + = , . @ -"
REGION = Form(_REGION, "Write an AWS region, as in eu-central-1.")
ROLE_NAME = Form(_ROLE_NAME, f"Write the name of an IAM role: {_OF_ROLE}.")
ROLE_ARN = Form(
    _ROLE_ARN,
    "Write the ARN of an IAM role, as in arn:aws:iam::111122223333:role/lake.",
)
ROLE = Form(
    f"{_ROLE_ARN}|{_ROLE_NAME}",
    f"Write the name of an IAM role, {_OF_ROLE}, or its ARN, as in "
    "arn:aws:iam::111122223333:role/lake.",
)
ROLE_PATH = Form(
    "/(?:[A-Za-z0-9_+=,.@-]+/)*",
    "Write a path of IAM that begins and ends with a slash, as in /lake/.",
)
POLICY_ARN = Form(
    rf"{_PARTITION}:iam::(?:[0-9]{{12}}|aws):policy/(?:[A-Za-z0-9_+=,.@-]+/)*"
    "[A-Za-z0-9_+=,.@-]{1,128}",
    "Write the ARN of a managed policy, as in arn:aws:iam::111122223333:policy/boundary.",
)
KMS_KEY = Form(
    rf"{_PARTITION}:kms:{_REGION}:[0-9]{{12}}:key/(?:mrk-)?[0-9a-f-]{{32,36}}",
    "Write the ARN of a KMS key, no alias, as in arn:aws:kms:eu-central-1:111122223333:"
    "key/01234567-89ab-cdef-0123-456789abcdef.",
)
SNS_TOPIC = Form(
    rf"{_PARTITION}:sns:{_REGION}:[0-9]{{12}}:[A-Za-z0-9_-]{{1,256}}",
    "Write the ARN of a standard SNS topic, as in "
    "arn:aws:sns:eu-central-1:123456789012:lake-failures.",
)
VPC = Form("vpc-[0-9a-f]{8,17}", "Write a VPC's id, as in vpc-0123456789abcdef0.")
CIDR = Form(
    r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}/(?:1[6-9]|2[0-8])",
    "Write the addresses of a VPC, as in 10.20.0.0/16.",
)
SUBNET = Form(
    "subnet-[0-9a-f]{8,17}", "Write a subnet's id, as in subnet-0123456789abcdef0."
)
AMI = Form("ami-[0-9a-f]{8,17}", "Write an AMI's id, as in ami-0123456789abcdef0.")
SECURITY_GROUP = Form(
    "sg-[0-9a-f]{8,17}", "Write a security group's id, as in sg-0123456789abcdef0."
)

AIRFLOW_NAME = Form(
    "[a-zA-Z][0-9a-zA-Z_-]{0,79}",
    "Write the name of an MWAA environment: 1 to 80 of A-Z a-z 0-9 _ -, beginning with a "
    "letter.",
)
BUCKET = Form(
    "[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", "Write the name of a bucket, without s3://."
)
FOLDER = Form(
    r"(?!\.)[A-Za-z0-9_.=+-]+(?:/(?!\.)[A-Za-z0-9_.=+-]+)*",
    "Write folders of A-Z a-z 0-9 _ . = + - with slashes between, as in team/dags.",
)

_BUCKET = f"s3://{BUCKET.pattern}"
S3_FOLDER = Form(
    _BUCKET + r"(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9_.=+-]+)*",
    "Write s3://bucket/folder of A-Z a-z 0-9 _ . = + -, without a trailing slash.",
)
_OBJECT = _BUCKET + r"(?:/(?!\.{1,2}/)[A-Za-z0-9_.=+-]+)*/[A-Za-z0-9_.+-]+"
JAR = Form(
    rf"{_OBJECT}\.jar",
    "Write the s3:// URI of a jar, of A-Z a-z 0-9 _ . = + -, as in "
    "s3://lake/artifacts/jars/postgresql-42.7.4.jar.",
)
PEM = Form(
    rf"{_OBJECT}\.pem",
    "Write the s3:// URI of a .pem file, of A-Z a-z 0-9 _ . = + -, as in "
    "s3://lake/artifacts/certificates/global-bundle.pem.",
)

_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
HOST = Form(
    rf"(?=.{{1,253}}$){_LABEL}(?:\.{_LABEL})*",
    "Write a host name or an IPv4 address, without scheme and port.",
)
DATABASE = Form(
    "[A-Za-z_][A-Za-z0-9_$-]{0,62}",
    "Write a name of A-Z a-z 0-9 _ $ - that begins with a letter.",
)
_PART = "[A-Za-z_][A-Za-z0-9_$]{0,62}"
CURSOR = Form(_PART, "Write a column of A-Z a-z 0-9 _ $, as in updated_at.")
TABLE = Form(
    rf"{_PART}(?:\.{_PART})?",
    "Write table or schema.table, each of A-Z a-z 0-9 _ $ and not beginning with a "
    "number, as in public.orders; for other names pull a view.",
)
KAFKA_TOPIC = Form(
    r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}", "Write 1 to 249 of A-Z a-z 0-9 . _ -."
)
