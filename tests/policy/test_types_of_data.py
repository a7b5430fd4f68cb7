"""Nothing takes a type, a class or an object from data that others may have written.

Who reads a file says which columns it has: by the spec, or by what the file's own footer
says without Spark's notes in it. `docs/security.md` says why; where a reader may find
columns itself stands here, with the reason. Every rule is also run on planted code.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Dict, Iterator, List, Optional

import pytest

from tests.policy.floors import nodes_of

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (
    *("dags", "spark_jobs", "emulator", "local", "infra", "plugins", "docs", "tools"),
)

READERS = {
    "spark_jobs/lake_spark/formats/self_described.py": "JSON, Avro and ORC: see its top",
    "spark_jobs/lake_spark/erasure/columnar_files.py": "Avro and ORC; Parquet by_footer",
    "spark_jobs/lake_spark/formats/csv_reader.py": "lines of text",
}
"""Modules that may let Spark find the columns of a file."""

SCHEMAS = {
    "spark_jobs/lake_spark/storage/parquet_file.py": "what Spark made of a footer",
    "spark_jobs/lake_spark/publish/iceberg.py": "what Iceberg's library made of columns",
    "spark_jobs/lake_spark/publish/schema.py": "a schema that Hudi's reader gave",
}
"""Modules that may parse Spark's JSON of a schema without `plain_schema`: of whom."""

OBJECTS = {
    "emulator/lake_emulator/moto_services.py": {
        "pickle": "StateUnpickler names classes"
    },
    "infra/lake_infra/template.py": {"yaml.load": "its loader is a safe one"},
    "local/lake_local/cli/registry.py": {
        "import_module": "the names of modules are those of its own list"
    },
}
"""Modules that may use a library that makes objects, and why none is made by data."""

PLAIN_FORMATS = frozenset({"text", "json", "csv", "hudi", "kafka", "jdbc"})
"""Formats of Spark without types of their own, or with those of a table of ours."""
SAYING = frozenset({"schema", "text", "json", "jdbc"})
SESSION = re.compile(r"(?i)(spark|session)\w*(\(.*)?\)?$")
"""What has a reader: `run.spark`, `(by or self._spark)`, `session_for(run.spark)`."""
MAKERS = frozenset({"pickle", "cloudpickle", "dill", "shelve", "marshal", "joblib"})
CALLS = frozenset(
    {"yaml.load", "yaml.load_all", "yaml.full_load", "yaml.unsafe_load", "numpy.load"}
    | {"importlib.import_module", "pandas.read_pickle", "StaticTable.from_metadata"}
    | {"np.load", "pd.read_pickle", "pickle.load", "pickle.loads"}
)
FUNCTIONS = frozenset({"eval", "exec", "__import__", "import_module"})
JAVA = frozenset(
    {"SpecificDatumReader", "ReflectDatumReader", "ObjectInputStream"}
    | {"AvroParquetReader", "XMLDecoder"}
)
LAST_NAMES = frozenset(name.rsplit(".", 1)[-1] for name in CALLS | FUNCTIONS)
WORDS = re.compile(
    rf"\b(read|fromJson|{'|'.join(sorted(MAKERS | JAVA | LAST_NAMES))})\b"
)
"""One of which is in each text that breaks a rule."""


def faults(text: str, module: str = "") -> List[str]:
    """What a module's text lets data decide, with the line of each."""
    if not WORDS.search(text):  # half of all files; they need no parsing
        return []
    parents = {
        child: node for node in nodes_of(text) for child in ast.iter_child_nodes(node)
    }
    judged = "plain_schema" in text or module in SCHEMAS
    found = []
    for node in nodes_of(text):
        if module not in READERS and _finds_columns(node, parents):
            found.append((node, "a reader of Spark's without `.schema(...)`"))
        if _calls(node, ".fromJson") and not judged:
            found.append((node, "`fromJson` of what plain_schema has not judged"))
        for name in _made(node):
            if name not in OBJECTS.get(module, {}):
                found.append((node, f"`{name}` makes objects of data"))
    return [f"{module}:{node.lineno} {words}" for node, words in found]


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and f".{_last(node.func)}" == name


def _last(called: ast.expr) -> str:
    """The last name of what is called."""
    if isinstance(called, ast.Attribute):
        return called.attr
    return called.id if isinstance(called, ast.Name) else ""


def _made(node: ast.AST) -> Iterator[str]:
    """The makers of objects that a node imports, calls or names."""
    if isinstance(node, ast.Import):
        yield from (each.name for each in node.names if each.name in MAKERS)
    if isinstance(node, ast.ImportFrom) and node.module in MAKERS:
        yield node.module
    if isinstance(node, ast.Call) and _last(node.func) in LAST_NAMES:
        name = ast.unparse(node.func)
        if name in CALLS | FUNCTIONS:
            yield name
    if isinstance(node, ast.Attribute) and node.attr in JAVA:
        yield node.attr


def _finds_columns(node: ast.AST, parents: Dict[ast.AST, ast.AST]) -> bool:
    """Whether it is a `.read` of a session that nobody tells the columns."""
    if not (isinstance(node, ast.Attribute) and node.attr == "read"):
        return False
    if not SESSION.search(ast.unparse(node.value)):
        return False
    user = parents.get(node)
    while isinstance(user, (ast.Attribute, ast.Call)):
        if isinstance(user, ast.Attribute) and user.attr in SAYING:
            return False
        if isinstance(user, ast.Call) and node in user.args:
            return _format(user, 1) not in PLAIN_FORMATS  # literal_paths.load
        if _calls(user, ".format") and _format(user, 0) in PLAIN_FORMATS:
            return False
        node, user = user, parents.get(user)
    return True


def _format(call: ast.Call, at: int) -> Optional[str]:
    named = call.args[at] if len(call.args) > at else None
    return named.value if isinstance(named, ast.Constant) else None


def test_no_module_lets_data_name_its_types():
    found = [
        each
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        for each in faults(path.read_text("utf-8"), str(path.relative_to(ROOT)))
    ]
    assert found == []


@pytest.mark.parametrize("module", [*READERS, *SCHEMAS, *OBJECTS])
def test_what_is_excepted_is_still_there(module):
    text = (ROOT / module).read_text("utf-8")
    assert faults(text.replace("plain_schema", "")), f"{module} needs no exception"


@pytest.mark.parametrize(
    "text",
    [
        "rows = spark.read.parquet(uri)",
        "rows = run.spark.read.parquet(*uris).select('a')",
        'rows = spark.read.format("parquet").load(uri)',
        "rows = spark.read.format(form).load(uri)",
        'rows = spark.read.option("mergeSchema", "true").orc(uri)',
        "reader = spark.read\nrows = reader.parquet(uri)",
        'reader = self.spark.read.options(a="b")',
        "rows = (by or self._spark).read.parquet(uri)",
        "rows = session_for(run.spark, rows=1).read.parquet(uri)",
        "rows = literal_paths.load(spark.read, kind.type, [uri])",
        'rows = literal_paths.load(spark.read, "parquet", [uri])',
        'rows = literal_paths.load(spark.read.option("a", "b"), "avro", [uri])',
        "rows = spark.read.table('db.name')",
        "schema = StructType.fromJson(json.loads(text))",
        "import pickle",
        "from cloudpickle import loads",
        "import yaml\ndata = yaml.load(text, yaml.Loader)",
        "data = yaml.unsafe_load(text)",
        "data = eval(text)",
        "module = importlib.import_module(name)",
        "table = StaticTable.from_metadata(path)",
        "reader = avro.specific.SpecificDatumReader()",
    ],
)
def test_a_planted_one_is_found(text):
    assert faults(text)


@pytest.mark.parametrize(
    "text",
    [
        "rows = spark.read.schema(schema).parquet(uri)",
        "reader = spark.read.schema(schema).options(a=1)",
        'rows = (by or self._spark).read.format("hudi").load(path)',
        'lines = literal_paths.load(spark.read, "text", [uri])',
        "rows = spark.read.text(path, wholetext=True)",
        "content = store.read(uri)",
        "rows = by_footer(spark, uri).parquet(uri)",
        "schema = StructType.fromJson(plain_schema(json.loads(text), uri))",
        "data = yaml.safe_load(text)",
        "rows.write.parquet(folder)",
    ],
)
def test_one_who_says_the_columns_is_free(text):
    assert faults(text) == []
