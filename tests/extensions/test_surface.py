"""Compares the names that `benchbrief.extend` offers to extensions with the listing in `surface.txt`."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from difflib import ndiff
from importlib import import_module
from pathlib import Path

import pytest

from benchbrief.model.extension_spec import API
from benchbrief.model.node import Node

DOORS = Path(__file__).parents[2] / "benchbrief" / "extend"
LISTING = Path(__file__).with_name("surface.txt")
PACKAGES = sorted({*Path(__file__).parent.glob("*/bench_*"), *DOORS.parents[1].glob("examples/extensions/*/bench_*")})


def listing() -> Iterator[str]:
    """Yield the version, then each name with its signature, and the fields and methods of classes."""
    yield f"api {API}"
    for door in sorted(DOORS.glob("[a-z]*.py")):
        module = import_module(f"benchbrief.extend.{door.stem}")
        for name in sorted(module.__all__):
            yield from _described(f"{door.stem}.{name}", getattr(module, name))


def _described(name: str, made: object) -> Iterator[str]:
    if not isinstance(made, type):
        yield f"{name}{signature(made)}" if inspect.isroutine(made) else f"{name}: {type(made).__name__}"
        return
    yield name
    if "__dataclass_fields__" in vars(made):
        for field in dataclasses.fields(made):
            needed = field.default is field.default_factory is dataclasses.MISSING
            yield f"{name}.{field.name}: {field.type}{'' if needed else ' = ...'}"
    for owner in reversed([each for each in made.__mro__ if each.__module__.startswith("benchbrief.")]):
        for inner, value in sorted(vars(owner).items()):
            method = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            if not inner.startswith("_") and inspect.isfunction(method) and owner is not Node:
                yield f"{name}.{inner}{signature(method)}"


def signature(made: object) -> str:
    assert callable(made)
    return re.sub(r"'", "", str(inspect.signature(made)))


def test_what_the_surface_promises_changes_only_with_its_number(request: pytest.FixtureRequest) -> None:
    """Additions need only a new listing (`--update-goldens`), and no new number. All other changes break extensions."""
    recorded, found = LISTING.read_text().splitlines() if LISTING.exists() else [], list(dict.fromkeys(listing()))
    changed = [line for line in ndiff(recorded, found) if line[0] in "+-"]
    gone = [line for line in changed if line.startswith("- ")]
    number_stands = bool(recorded) and recorded[0] == found[0]
    assert not (gone and number_stands), "\n".join((*changed, f"raise API in model/extension_spec.py: it is {API}"))
    if request.config.getoption("--update-goldens"):
        LISTING.write_text("\n".join(found) + "\n")
        return
    assert not changed, "\n".join((*changed, "add it to the listing: --update-goldens"))


def offered() -> dict[str, list[str]]:
    """Return the modules that offer each name."""
    found: dict[str, list[str]] = {}
    for door in sorted(DOORS.glob("[a-z]*.py")):
        for name in import_module(f"benchbrief.extend.{door.stem}").__all__:
            found.setdefault(name, []).append(door.stem)
    return found


def test_no_name_is_in_two_doors() -> None:
    assert {name: doors for name, doors in offered().items() if len(doors) > 1} == {}


@pytest.mark.long
def test_each_name_is_taken_by_an_extension_or_is_a_type_that_the_others_speak_of() -> None:
    root = DOORS.parents[1]
    folders = (root / "extensions", root / "examples" / "extensions", *PACKAGES, DOORS.parent / "data" / "kit")
    files = (path for folder in folders for end in ("*.py", "*.py.in") for path in folder.rglob(end))
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    lacking = {name: doors[0] for name, doors in offered().items() if not re.search(rf"\b{name}\b", text)}
    made = {name: getattr(import_module(f"benchbrief.extend.{door}"), name) for name, door in lacking.items()}
    assert [name for name, each in made.items() if not isinstance(each, type)] == []


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_packages_of_others_import_the_surface_alone(package: Path) -> None:
    taken = {
        node.module or ""
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
    }
    past = {each for each in taken if each.split(".")[0] == "benchbrief" and not each.startswith("benchbrief.extend.")}
    assert past == set()


def test_a_program_that_reads_a_meter_starts_with_few_modules() -> None:
    asked = "import sys, benchbrief.extend.samplers; print(*(each for each in sys.modules if 'benchbrief.' in each))"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert len(done.stdout.split()) < 12, done.stdout
