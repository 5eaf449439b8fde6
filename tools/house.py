"""Prints how the code base (the house) is built: its modules, lines of code, and how far a change in one module can
reach.

    python -m tools.house            the whole house, and each room (a top-level folder)
    python -m tools.house --names    class names that more than one module has
    python -m tools.house --joins    modules that only one other module imports
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import mean, median

REPOSITORY = Path(__file__).resolve().parents[1]
ROOMS = ["dsl", "model", "compiler", "runners", "results", "reports", "history", "benchbrief", "extensions"]


@dataclass(frozen=True)
class Module:
    path: Path

    @property
    def room(self) -> str:
        return self.path.parts[0]

    @property
    def name(self) -> str:
        parts = self.path.with_suffix("").parts
        return ".".join(part for part in ("benchbrief", *parts)[parts[0] == "benchbrief" :] if part != "__init__")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse((REPOSITORY / self.path).read_text())

    @cached_property
    def lines(self) -> int:
        """Count lines of code, without blank lines, comments and docstrings."""
        text = {
            line
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }
        code = enumerate((REPOSITORY / self.path).read_text().splitlines(), 1)
        return sum(1 for number, line in code if number not in text and line.strip() and line.strip()[0] != "#")

    def imports(self, house: dict[str, Module]) -> set[str]:
        """Return the modules of the house that this one imports, including imports in functions."""
        found = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = {f"{node.module}.{alias.name}" for alias in node.names}
                found |= names & house.keys() or {node.module}
        return (found & house.keys()) - {self.name}


def modules() -> Iterator[Module]:
    for room in ROOMS:
        for path in sorted((REPOSITORY / room).rglob("*.py")):
            if path.resolve() == path and path.parent.name != "tests":  # a room is also a link in benchbrief/
                yield Module(path.relative_to(REPOSITORY))


def reachable(start: str, taken: dict[str, set[str]]) -> set[str]:
    seen, ahead = {start}, [start]
    while ahead:
        new = taken[ahead.pop()] - seen
        seen |= new
        ahead += new
    return seen


def print_shared_names(real: Iterable[Module]) -> None:
    places = defaultdict(list)
    for module in real:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef) and node.name[0] != "_":
                places[node.name].append(module.path.as_posix())
    for name, found in sorted(places.items()):
        if len(found) > 1:
            print(name, *found)


def main() -> None:
    house = {module.name: module for module in modules()}
    real = {name: module for name, module in house.items() if module.path.name != "__init__.py"}
    taken = {name: module.imports(house) for name, module in house.items()}
    importers = defaultdict(set)
    for name in house:
        for other in taken[name]:
            importers[other].add(name)
    if "--names" in sys.argv:
        print_shared_names(real.values())
        return
    if "--joins" in sys.argv:
        for name, module in real.items():
            if len(importers[name]) == 1:
                print(module.path, module.lines, *importers[name])
        return
    lines = [module.lines for module in real.values()]
    print(f"{len(real)} modules of {median(lines):.0f} lines of code in the middle, {sum(lines):,} in all")
    print(f"a module imports {mean(len(taken[name]) for name in real):.2f} others")
    reach = sum(len(reachable(name, taken)) - 1 for name in house) / len(house) ** 2
    print(f"a change reaches {reach:.1%} of the modules")
    print(f"{sum(len(importers[name]) == 1 for name in real)} modules have one importer")
    for room in ROOMS:
        there = [module for module in real.values() if module.room == room]
        print(f"{room:<12}{len(there):>4} modules {sum(module.lines for module in there):>7,} lines")


if __name__ == "__main__":
    main()
