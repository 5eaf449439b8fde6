"""Tests that changing state belongs to an object that is passed on, and not to a module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.packaging.test_rooms import REPOSITORY, ROOMS, python_files, statements

STILL_STATE = {
    "dsl/lazy_dataclass.py": {"_BUILDING"},  # a lock: several threads may make the first object of a class
    "runners/journal/secret_masking.py": {"KNOWN"},  # an error masks its text where it is made, in any thread
    "model/english.py": {"ENGLISH"},  # set once, when the package is imported
}

_CONTAINERS = {"dict", "list", "set", "defaultdict", "deque", "WeakKeyDictionary"}
_LOCKS = {"BoundedSemaphore", "Semaphore", "Lock", "RLock"}


def is_mutable(value: ast.expr | None, classes: set[str]) -> bool:
    """Return whether the value is an empty container, a lock, or an object of one of these classes."""
    match value:
        case ast.Dict(keys=[]) | ast.List(elts=[]):
            return True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in classes | _LOCKS or (name in _CONTAINERS and not value.args)
    return False


def mutable_names(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text())
    unfrozen = {
        node.name
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        and "frozen=True" not in "".join(map(ast.unparse, node.decorator_list))
        and "NamedTuple" not in map(ast.unparse, node.bases)
    }
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and is_mutable(node.value, unfrozen):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (each.id for each in targets if isinstance(each, ast.Name))


def test_no_function_rebinds_a_name_of_its_module() -> None:
    found = [
        f"{path.relative_to(REPOSITORY)}:{node.lineno}"
        for path in python_files(*ROOMS)
        if "global " in (text := path.read_text())
        for node in statements(ast.parse(text))
        if isinstance(node, ast.Global)
    ]
    assert found == []


def test_no_module_has_state_that_changes() -> None:
    found = {path.relative_to(REPOSITORY).as_posix(): {*mutable_names(path)} for path in python_files(*ROOMS)}
    assert {file: names for file, names in found.items() if names} == STILL_STATE
