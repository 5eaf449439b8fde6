"""Tests that there are no import cycles, neither between modules nor between the folders of a room."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from tests.packaging.test_rooms import EXTENSIONS, REPOSITORY, ROOMS, ours, python_files


def sub_room(file: str) -> str:
    """Return the first folder below the room, such as `compiler/blocks` or an extension's folder, or none for modules
    directly in a room."""
    if extension := EXTENSIONS.match(file):
        return extension[0]
    parts = file.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else ""


def module_files() -> dict[str, str]:
    """Return the file of each module by its installed name."""
    found = {}
    for path in python_files(*ROOMS):
        file = path.relative_to(REPOSITORY).as_posix()
        name = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        found[name if file.startswith("benchbrief/") else f"benchbrief.{name}"] = file
    return found


def imported_at_once(tree: ast.Module) -> Iterator[ast.ImportFrom]:
    """Yield the imports that run when the module is imported. Imports in functions or for type checkers do not."""
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom):
            yield statement


def test_no_modules_import_each_other() -> None:
    files = module_files()
    graph: dict[str, set[str]] = {}
    for name, file in files.items():
        found = set()
        for node in imported_at_once(ast.parse((REPOSITORY / file).read_text())):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in files else str(node.module))
        graph[name] = {each for each in found if each in files and each != name}
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def test_sub_rooms_do_not_import_each_other() -> None:
    files = module_files()
    taken = set()
    for found in ours():
        for target in found.targets & files.keys():
            pair = sub_room(found.file), sub_room(files[target])
            if all(pair) and pair[0] != pair[1]:
                taken.add(pair)
    assert {(one, other) for one, other in taken if one < other and (other, one) in taken} == set()
