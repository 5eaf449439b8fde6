"""Tests the rules for rooms, which are the top-level folders: allowed imports, the place of each library, and that each
package is installed."""

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PYPROJECT: dict[str, Any] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())

# Left to right: each room imports only from itself and from its left.
ROOMS = ["dsl", "model", "compiler", "runners", "results", "reports", "history", "benchbrief", "extensions"]

# Tighter than the arrows: what a room may take from another.
ONLY = {
    ("runners", "compiler"): {
        "benchbrief.compiler.registry",
        "benchbrief.compiler.planning.plan_file",
        "benchbrief.compiler.planning.plan_lanes",  # the lanes that a plan shows are those that are run apart
        "benchbrief.compiler.estimates.estimate",  # a job's time limit is held against the time that a plan shows
        "benchbrief.compiler.planning.data_states",  # whether the next cell must load, also in another order
    },
    ("results", "compiler"): {
        "benchbrief.compiler.estimates.learned",  # what earlier runs took is kept by the keys of estimates
        "benchbrief.compiler.estimates.estimate",  # what the cells that a budget chose were expected to take
        "benchbrief.compiler.registry",
        "benchbrief.compiler.planning.plan_file",
        "benchbrief.compiler.metrics.lower_to_sql",  # SQL is quoted in one place
        "benchbrief.compiler.measure_catalogue",  # the columns of an imported table are the language's measures
    },
    ("reports", "compiler"): {
        "benchbrief.compiler.plan_elsewhere",  # the plan of a brief is compared as if it were on the hosts of a run
        "benchbrief.compiler.registry",  # templates, and words of probes and tools
        "benchbrief.compiler.estimates.estimate",  # what was measured side by side
        "benchbrief.compiler.planning.plan_file",
        "benchbrief.compiler.briefs.confined_styles",  # runs keep style sheets of earlier versions
        "benchbrief.compiler.briefs.colours",  # greys beside the colours of a palette
        "benchbrief.compiler.metrics.lower_to_sql",  # SQL is quoted in one place
    },
    ("reports", "dsl"): {
        "benchbrief.dsl.bench_error",
        "benchbrief.dsl.diagnostics.plain_amounts",  # counts are worded alike everywhere
        "benchbrief.dsl.diagnostics.suggest",
        "benchbrief.dsl.lazy_dataclass",
    },
    ("reports", "runners"): {
        "benchbrief.runners.plain_files",  # a brief may be in the folder of a stranger's run
        "benchbrief.runners.journal.atomic_files",  # digests of files are computed in one place
        "benchbrief.runners.scheduling.confidence_interval",  # a brief's intervals are those that a run decided by
    },
}

# The one place of each third-party library: a module, a folder that is all about it, or what the names of its modules
# begin with.
HOMES: dict[str, str | tuple[str, ...]] = {
    "PIL": "compiler/briefs/themes.py",
    "altair": ("reports/charts/chart_layers.py", "benchbrief/api/"),
    "babel": "reports/text/number_format.py",
    "boto3": "history/object_stores/s3_",
    "botocore": "history/object_stores/s3_",
    "s3transfer": "history/object_stores/s3_",
    "bson": "extensions/engines/mongodb/mongo_client.py",
    "click": "benchbrief/",
    "docx": "reports/office/",
    "duckdb": ("results/", "history/", "extensions/importers/ycsb/raw_latencies.py"),
    "fabric": "extensions/transports/ssh",
    "hdrh": "runners/drivers/hdr_codec.py",
    "invoke": "extensions/transports/ssh",
    "lark": "dsl/syntax/grammar_tables.py",
    "jinja2": ("reports/", "history/", "compiler/briefs/themes.py"),
    "lsprotocol": "benchbrief/server/",
    "markdown_it": "reports/",
    "markdownify": "reports/text/markdown_export.py",
    "markupsafe": ("reports/", "history/"),
    "numpy": ("results/", "history/"),
    "pandas": "benchbrief/api/answer.py",
    "lxml": "reports/office/",
    "paramiko": "extensions/transports/ssh",
    "polars": "benchbrief/api/answer.py",
    "pptx": "reports/office/",
    "pyarrow": ("results/", "history/", "benchbrief/api/"),
    "pygls": "benchbrief/server/",
    "pymongo": "extensions/engines/mongodb/mongo_client.py",
    "pypdf": "reports/verify_brief.py",
    "rich": "benchbrief/",
    "segno": "reports/render/companion.py",
    "scipy": (
        "runners/scheduling/confidence_interval.py",
        "results/statistics/significance.py",
        "results/statistics/scalability.py",
        "results/statistics/change_points.py",
        "results/statistics/recovery.py",
    ),
    "tinycss2": "compiler/briefs/confined_styles.py",
    "urllib3": "extensions/meters/redfish/redfish_meter.py",
    "vl_convert": "reports/charts/svg_converter.py",
    "weasyprint": "reports/render/page_pdf.py",
    "xlsxwriter": "reports/office/workbook.py",
}
EVERYWHERE = {"pydantic"}  # process boundaries are in several rooms

DISTRIBUTIONS = {  # where the distribution is not named as the module is
    "PIL": "pillow",
    "docx": "python-docx",
    "lxml": "python-docx",
    "pptx": "python-pptx",
    "botocore": "boto3",
    "s3transfer": "boto3",
    "bson": "pymongo",
    "hdrh": "hdrhistogram",
    "invoke": "fabric",
    "lsprotocol": "pygls",
    "markdown_it": "markdown-it-py",
    "markupsafe": "jinja2",
    "tinycss2": "weasyprint",
    "vl_convert": "vl-convert-python",
}


EXTENSIONS = re.compile(r"extensions/\w+/\w+/")
"""The folders of our own extensions."""
SURFACE = "benchbrief.extend"
MORE_IN_SPECS = {"extensions/tools/openload_rocksdb/spec.py": "benchbrief.extensions.tools.openload.spec"}
"""Specs that may import another spec, because they differ from it only in some values."""


class Import(NamedTuple):
    """An import. `from a.b import c` imports `a.b`, and `a.b.c` if that is a module."""

    file: str
    line: int
    module: str
    name: str | None
    level: int
    at_once: bool = False
    """Whether it runs when its module is imported. Imports in functions or for type checkers do not."""

    @property
    def top(self) -> str:
        return self.module.split(".")[0]

    @property
    def targets(self) -> set[str]:
        return {self.module} | ({f"{self.module}.{self.name}"} if self.name else set())

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.module}" + (f".{self.name}" if self.name else "")


NAMED_UP = {
    "compiler/registry.py": "our extensions are found in their folders, as others' are by entry points",
    "compiler/briefs/word_catalogues.py": "the words of briefs are data, to which a user's own words are compared",
}
"""Modules that contain, in a string, the name of a module that they may not import. Each has its reason."""


def modules_of(*folders: str) -> Iterator[Path]:
    return (path for path in python_files(*folders) if path.name != "__init__.py")


def python_files(*folders: str) -> Iterator[Path]:
    """Yield the Python files. The tests of our extensions are left out, because they are in the extensions' folders and
    not installed."""
    for folder in folders:
        paths = sorted((REPOSITORY / folder).rglob("*.py"))
        yield from (path for path in paths if folder != "extensions" or path.parent.name != "tests")


@cache
def imports(folder: str) -> tuple[Import, ...]:
    found = []
    for path in python_files(folder):
        file = path.relative_to(REPOSITORY).as_posix()
        for node in statements(ast.parse(path.read_text(), file)):
            if isinstance(node, ast.Import):
                found += [Import(file, node.lineno, each.name, None, 0, not node.col_offset) for each in node.names]
            elif isinstance(node, ast.ImportFrom):
                where = file, node.lineno, node.module or ""
                found += [Import(*where, each.name, node.level, not node.col_offset) for each in node.names]
    return tuple(found)


@cache
def names_in_strings(folder: str) -> tuple[Import, ...]:
    """Return modules that are named in strings: the code of an extension, lazy imports, and data files."""
    found = []
    for path in python_files(folder):
        file = path.relative_to(REPOSITORY).as_posix()
        text = path.read_text()
        for node in ast.walk(ast.parse(text, file)) if re.search(r"[\"']benchbrief\.", text) else ():
            match node:
                case ast.Constant(value=str(text)) if re.fullmatch(r"benchbrief(\.\w+)+(:\w+)?", text):
                    module, _, name = text.partition(":")
                    found.append(Import(file, node.lineno, module, name or None, 0))
    return tuple(each for each in found if is_module(each.module))


def is_module(name: str) -> bool:
    place = REPOSITORY / "src" / name.replace(".", "/")
    return place.is_dir() or place.with_suffix(".py").is_file()


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements, including those in functions and for type checkers. Expressions are skipped, because they
    contain no imports but make up most of a tree."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield child
            yield from statements(child)


def room_of(target: str) -> str:
    """Return the room that `benchbrief.x.y` belongs to."""
    parts = target.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in ROOMS else "benchbrief"


def rooms_taken(found: Import) -> set[str]:
    """Return the imported rooms: for example, dsl for both `from benchbrief import dsl` and `from benchbrief.dsl import
    ast`."""
    rooms = {room_of(target) for target in found.targets}
    return rooms - {"benchbrief"} or rooms


def ours() -> list[Import]:
    return [found for room in ROOMS for found in imports(room) if found.top == "benchbrief"]


def third_party() -> list[Import]:
    return [
        found
        for room in ROOMS
        for found in imports(room)
        if found.level == 0 and found.top != "benchbrief" and found.top not in sys.stdlib_module_names
    ]


def test_the_rules_see_the_imports() -> None:
    assert {found.file.split("/")[0] for found in ours()} >= {"compiler", "runners", "benchbrief"}
    assert {found.top for found in third_party()} >= {"pydantic", "click"}


def test_each_room_imports_only_to_its_left() -> None:
    wrong = [
        str(found)
        for found in ours()
        for taken in rooms_taken(found)
        if ROOMS.index(taken) > ROOMS.index(found.file.split("/")[0])
        and not (EXTENSIONS.match(found.file) and found.module.startswith(SURFACE))
    ]
    assert wrong == []


def test_our_own_extensions_take_the_surface_alone_as_those_of_others_do() -> None:
    """Apart from the surface, our own extensions may only import modules of their own and of each other."""
    allowed = (f"{SURFACE}.", "benchbrief.extensions.")
    taken = [found for found in ours() if EXTENSIONS.match(found.file)]
    assert len(taken) > 300, "it looks at what they take"
    assert [str(found) for found in taken if not f"{found.module}.".startswith(allowed)] == []


def test_a_spec_takes_nothing_but_the_surface_and_what_is_beside_it() -> None:
    wrong = []
    for found in (each for each in ours() if EXTENSIONS.match(each.file) and each.file.endswith("/spec.py")):
        own = f"benchbrief.{found.file.rpartition('/')[0].replace('/', '.')}"
        if not found.module.startswith((f"{SURFACE}.", own)) and found.module != MORE_IN_SPECS.get(found.file):
            wrong.append(str(found))
    assert wrong == []


def test_nothing_imports_one_of_our_extensions_by_its_name() -> None:
    """Only our other extensions and tests may import them. Modules that name the extensions' package in order to find
    them are in `NAMED_UP`."""
    others = ("tools", "editors", "benchmarks", "examples", *(room for room in ROOMS if room != "extensions"))
    found = [each for folder in others for each in (*imports(folder), *names_in_strings(folder))]
    taking = [each for each in found if any(f"{one}.".startswith("benchbrief.extensions.") for one in each.targets)]
    assert {each.file for each in taking} - NAMED_UP.keys() == set()


def test_nothing_but_extensions_takes_their_surface() -> None:
    """The rooms can import the same code directly. The surface depends on the rooms, and imports no extension."""
    taking = [str(found) for found in ours() if any(f"{each}.".startswith(f"{SURFACE}.") for each in found.targets)]
    assert [each for each in taking if not EXTENSIONS.match(each) and not each.startswith("benchbrief/")] == []
    specs = {path.relative_to(REPOSITORY).as_posix() for path in python_files(*ROOMS) if path.stem == "spec"}
    ours_of = {f"benchbrief.{each.rpartition('/')[0].replace('/', '.')}." for each in specs if EXTENSIONS.match(each)}
    assert len(ours_of) > 30
    inner = [found for found in imports("benchbrief") if found.file.startswith("benchbrief/extend/")]
    assert [str(found) for found in inner if f"{found.module}.".startswith(tuple(ours_of))] == []


def test_each_room_names_in_strings_only_what_is_to_its_left() -> None:
    named_up = {
        found.file
        for room in ROOMS
        for found in names_in_strings(room)
        if ROOMS.index(room_of(found.module)) > ROOMS.index(room)
    }
    assert named_up == NAMED_UP.keys()


def test_the_model_does_nothing_and_needs_no_library() -> None:
    doing = {"io", "os", "shutil", "socket", "subprocess", "tempfile", "threading", "time", "urllib"}
    assert [str(found) for found in imports("model") if found.top in doing] == []
    assert {found.top for found in third_party() if found.file.startswith("model/")} <= {"pydantic"}


@pytest.mark.parametrize(("room", "taken"), ONLY, ids=str)
def test_a_room_takes_from_another_only_what_is_meant_for_it(room: str, taken: str) -> None:
    wrong = [
        str(found)
        for found in ours()
        if found.file.startswith(f"{room}/") and rooms_taken(found) == {taken} and not found.targets & ONLY[room, taken]
    ]
    assert wrong == []


def test_rooms_are_imported_by_their_installed_names() -> None:
    """`import dsl` works only in a clone, and relative imports hide which room they import."""
    folders = [*ROOMS, "tests", "tools", "benchmarks", "examples"]
    found_there = [found for folder in folders for found in imports(folder)]
    wrong = [str(found) for found in found_there if found.level > 0 or found.top in {*ROOMS} - {"benchbrief"}]
    assert wrong == []


def test_each_library_is_imported_in_one_place() -> None:
    wrong = [
        str(found)
        for found in third_party()
        if found.top not in EVERYWHERE
        and not found.file.startswith(HOMES.get(found.top, f"({found.top} is not in HOMES)"))
    ]
    assert wrong == []


def test_each_library_is_a_declared_dependency() -> None:
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"]
    requirements = (*project["dependencies"], *extras["notebook"], *extras["office"], *extras["s3"])
    declared = {requirement.split(">=")[0] for requirement in requirements}
    used = {DISTRIBUTIONS.get(found.top, found.top) for found in third_party()}
    assert used - declared == set()


def test_each_folder_says_what_is_in_it() -> None:
    """The description is the docstring of `__init__.py`. Without that file, the folder is not installed."""
    silent = [
        folder
        for folder in sorted({path.parent for path in python_files(*ROOMS)})
        if not (folder / "__init__.py").exists()
        or not ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))
    ]
    assert silent == []


def test_a_module_has_a_name_of_its_own() -> None:
    """Names are unique everywhere. There are three exceptions. Commands are named as they are typed, each extension has
    a `spec.py`, and the modules of `benchbrief.extend` are named by kind."""
    names = Counter(
        path.stem
        for path in modules_of(*ROOMS)
        if "commands" not in path.parts and path.stem != "spec" and path.parent.name != "extend"
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_files_that_docstrings_and_pages_name_are_there() -> None:
    files = [
        f"/{path.relative_to(REPOSITORY).as_posix()}" for path in python_files(*ROOMS, "tests", "tools", "examples")
    ]
    files += [f"/{path.relative_to(REPOSITORY).as_posix()}" for path in REPOSITORY.glob("extensions/*/*/tests/*.py")]
    names = {path.rsplit("/", 1)[-1] for path in files}
    texts = [path for room in ROOMS for path in python_files(room)]
    texts += [REPOSITORY / "CONTRIBUTING.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
    wrong = []
    for text in texts:
        for named in re.findall(r"`((?:\w+/)*\w+\.py)`", text.read_text()):
            there = any(file.endswith(f"/{named}") for file in files) if "/" in named else named in names
            wrong += [] if there else [(text.name, named)]
    assert wrong == []
