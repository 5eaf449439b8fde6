"""Tests that there are no import cycles, neither between modules nor between the folders of a room."""

from __future__ import annotations

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


def test_no_modules_import_each_other() -> None:
    files = module_files()
    names = {file: name for name, file in files.items()}
    graph: dict[str, set[str]] = {name: set() for name in files}
    for found in ours():
        whole = f"{found.module}.{found.name}"
        taken = whole if whole in files else found.module
        if found.at_once and taken in files and taken != names[found.file]:
            graph[names[found.file]].add(taken)
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
