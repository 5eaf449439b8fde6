"""The rooms' rules: what each may import, where each library lives, and that each package is installed."""

import ast
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PYPROJECT: dict[str, Any] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())

# Left to right: each room imports only from itself and from its left.
ROOMS = ["dsl", "compiler", "runners", "results", "reports", "benchbrief"]

# Tighter than the arrows: what a room may take from another.
ONLY = {
    ("runners", "compiler"): {
        "benchbrief.compiler.plan",
        "benchbrief.compiler.steady",
        "benchbrief.compiler.offered",
        "benchbrief.compiler.db_bench_flags",
        "benchbrief.compiler.blocks.workload_tables",
    },
    ("results", "compiler"): {
        "benchbrief.compiler.plan",
        "benchbrief.compiler.metrics.measures",  # the columns of an imported table are the language's measures
        "benchbrief.compiler.units",
    },
    ("reports", "compiler"): {
        "benchbrief.compiler.plan",
        "benchbrief.compiler.offered",
        "benchbrief.compiler.briefs.confined_styles",  # a style sheet that an earlier version let pass is kept by a run
    },
    ("reports", "dsl"): {"benchbrief.dsl.suggest"},
    ("reports", "runners"): set[str](),
}

# The one place of each third-party library: a module, a folder that is all about it, or what the names of its modules
# begin with.
HOMES: dict[str, str | tuple[str, ...]] = {
    "PIL": "compiler/briefs/pictures.py",
    "altair": "reports/charts.py",
    "babel": "reports/locales.py",
    "bson": "runners/engines/mongo_client.py",
    "click": "benchbrief/",
    "duckdb": "results/",
    "fabric": "runners/transports/ssh",
    "hdrh": "runners/histogram.py",
    "invoke": "runners/transports/ssh",
    "jinja2": ("reports/", "compiler/briefs/part_templates.py"),
    "lark": "dsl/parse.py",
    "lsprotocol": "benchbrief/server/",
    "markdown_it": "reports/",
    "markdownify": "reports/markdown.py",
    "markupsafe": "reports/",
    "numpy": "results/",
    "paramiko": "runners/transports/ssh",
    "pyarrow": "results/",
    "pygls": "benchbrief/server/",
    "pymongo": "runners/engines/mongo_client.py",
    "pypdf": "reports/shown.py",
    "rich": "benchbrief/",
    "scipy": ("runners/confidence.py", "results/significance.py", "results/scalability.py"),
    "tinycss2": "compiler/briefs/confined_styles.py",
    "urllib3": "runners/samplers/redfish.py",
    "vl_convert": "reports/charts.py",
    "weasyprint": "reports/pdf.py",
}
EVERYWHERE = {"pydantic"}  # process boundaries are in several rooms

DISTRIBUTIONS = {  # where the distribution is not named as the module is
    "PIL": "pillow",
    "bson": "pymongo",
    "hdrh": "hdrhistogram",
    "invoke": "fabric",
    "lsprotocol": "pygls",
    "markdown_it": "markdown-it-py",
    "markupsafe": "jinja2",
    "tinycss2": "weasyprint",
    "vl_convert": "vl-convert-python",
}


class Import(NamedTuple):
    """`from a.b import c` is an import of `a.b`, and of `a.b.c` in case that is a module."""

    file: str
    line: int
    module: str
    name: str | None
    level: int

    @property
    def top(self) -> str:
        return self.module.split(".")[0]

    @property
    def targets(self) -> set[str]:
        return {self.module} | ({f"{self.module}.{self.name}"} if self.name else set())

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.module}" + (f".{self.name}" if self.name else "")


def python_files(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((REPOSITORY / folder).rglob("*.py"))


@cache
def imports(folder: str) -> tuple[Import, ...]:
    found = []
    for path in python_files(folder):
        file = path.relative_to(REPOSITORY).as_posix()
        for node in statements(ast.parse(path.read_text(), file)):
            if isinstance(node, ast.Import):
                found += [Import(file, node.lineno, alias.name, None, 0) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                found += [Import(file, node.lineno, node.module or "", alias.name, node.level) for alias in node.names]
    return tuple(found)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Those that are nested too. Expressions hold no import, and are most of a tree."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield child
            yield from statements(child)


def room_of(target: str) -> str:
    """The room that `benchbrief.x.y` belongs to."""
    parts = target.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in ROOMS[:-1] else "benchbrief"


def rooms_taken(found: Import) -> set[str]:
    """From dsl, for `from benchbrief import dsl` as for `from benchbrief.dsl import ast`."""
    if found.targets <= {"benchbrief", "benchbrief.__version__"}:
        return set()  # the version is everyone's
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
    ]
    assert wrong == []


@pytest.mark.parametrize(("room", "taken"), ONLY, ids=str)
def test_a_room_takes_from_another_only_what_is_meant_for_it(room: str, taken: str) -> None:
    wrong = [
        str(found)
        for found in ours()
        if found.file.startswith(f"{room}/") and rooms_taken(found) == {taken} and not found.targets & ONLY[room, taken]
    ]
    assert wrong == []


def test_rooms_are_imported_by_their_installed_names() -> None:
    """`import dsl` works in a clone and nowhere else; relative imports hide which room they reach."""
    folders = [*ROOMS, "tests", "tools", "benchmarks", "examples"]
    found_there = [found for folder in folders for found in imports(folder)]
    wrong = [str(found) for found in found_there if found.level > 0 or found.top in ROOMS[:-1]]
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
    declared = {requirement.split(">=")[0] for requirement in PYPROJECT["project"]["dependencies"]}
    used = {DISTRIBUTIONS.get(found.top, found.top) for found in third_party()}
    assert used - declared == set()


def test_each_package_is_listed_to_be_installed() -> None:
    folders: dict[str, set[str]] = defaultdict(set)
    for path in python_files(*ROOMS):
        folders[path.parent.relative_to(REPOSITORY).as_posix()].add(path.name)
    packages = {
        ("" if folder.startswith("benchbrief") else "benchbrief.") + folder.replace("/", ".") for folder in folders
    }
    assert set(PYPROJECT["tool"]["setuptools"]["packages"]) == packages
    assert [folder for folder, files in folders.items() if "__init__.py" not in files] == []
