"""Tests that all code that a room (a top-level folder) offers to other rooms has types. `Any` would let mistakes pass
between rooms."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.packaging.test_import_cycles import module_files
from tests.packaging.test_rooms import REPOSITORY, ours

EXCEPTIONS = {
    "reports/render/templating.py: render_template": "a template takes whatever its page gives",
    "results/statistics/change_points.py: p_of_means": "arrays of numpy, which is imported where it is used",
    "model/message.py: speaker": "its caller names the protocol that the object has, as a type can't",
    "dsl/syntax/ast.py: children": "the fields of nodes are read by their names, whatever their types",
    "history/shared_store/shared_query.py: _Table.scanner": "DuckDB calls it with Arrow's own arguments",
    "results/store/store.py: Store.each": "the columns of a row have the types of the user's SQL",
    "results/store/user_query.py: QueryAnswer.rows": "the same",
}


def taken_by_others() -> dict[str, set[str]]:
    """Return, for each module, the names that other rooms import from it, or `*` if they import the module itself."""
    files = module_files()
    taken: dict[str, set[str]] = {}
    for found in ours():
        for target in found.targets & files.keys():
            if files[target].split("/")[0] != found.file.split("/")[0]:
                whole = f"{found.module}.{found.name}" in files
                taken.setdefault(files[target], set()).add("*" if whole or not found.name else found.name)
    return taken


def has_any(node: ast.expr | None) -> bool:
    return node is not None and any(isinstance(each, ast.Name) and each.id == "Any" for each in ast.walk(node))


def is_open(function: ast.FunctionDef) -> bool:
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return has_any(function.returns) or any(has_any(each.annotation) for each in named if each is not None)


def untyped(body: list[ast.stmt], names: set[str] | None = None, owner: str = "") -> Iterator[str]:
    """Yield the public functions, methods and fields that have `Any` in their types."""
    for node in body:
        match node:
            case ast.FunctionDef(name=name) if name == "__init__" or not name.startswith("_"):
                if (names is None or name in names) and is_open(node):
                    yield owner + name
            case ast.ClassDef(name=name) if names is None or name in names:
                yield from untyped(node.body, None, f"{name}.")
            case ast.AnnAssign(target=ast.Name(id=name)) if owner and has_any(node.annotation):
                yield owner + name


def test_what_another_room_takes_has_no_any_in_its_types() -> None:
    found = {
        f"{file}: {name}"
        for file, names in taken_by_others().items()
        if "Any" in (text := (REPOSITORY / file).read_text())
        for name in untyped(ast.parse(text).body, None if "*" in names else names)
    }
    assert found - EXCEPTIONS.keys() == set()
    assert EXCEPTIONS.keys() - found == set(), "these have types now: take them off the list"
