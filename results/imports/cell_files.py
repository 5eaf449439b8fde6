"""The files of an import by cell, with the options of the command line."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchbrief.compiler.planning.plan import Cell
from benchbrief.results.imports.cell_matching import NoPlace, Places
from benchbrief.results.imports.import_problems import Problem
from benchbrief.results.imports.path_patterns import (
    as_glob,
    compile_pattern,
    coordinates,
    given_cell,
    read_coordinates,
)

Options = Mapping[str, str | float | bool]
"""The options of one importer that were given, by their names."""

STDOUT = "stdout"
"""The name under which a tool's output is kept."""


@dataclass(frozen=True)
class Where:
    """The options of the command line on the files' cells and for the importer.

    `samples` are the logs beside the measurements: their importer (`iostat`) and their path pattern.
    """

    pattern: str = ""
    cell: str = ""
    experiment: str = ""
    options: Options = field(default_factory=dict)
    samples: tuple[tuple[str, str], ...] = ()


@dataclass
class CellFiles:
    """The files of a cell, by load generator and by the names under which they are kept.

    `remarks` say by load generator what is incomplete.
    """

    cell: Cell
    files: dict[str, dict[str, Path]] = field(default_factory=dict)
    has_repeat: bool = False
    remarks: dict[str, str] = field(default_factory=dict)


def find_files(
    pattern: str, suffix: str, places: Places, where: Where
) -> Iterator[tuple[Path, dict[str, str], Cell | Problem]]:
    """Yield the files that a pattern finds, each with its coordinates, and its cell or why there is none.

    Leaves out files of another cell than the given one.
    """
    form, given = compile_pattern(pattern), given_cell(where.cell)
    found = (Path(name) for name in glob.glob(as_glob(pattern)))  # noqa: PTH207  # relative or absolute
    for path in sorted(path for path in found if path.name.endswith(suffix)):
        own = read_coordinates(path, form, {}) or {}
        if any(own.get(name, value) != value for name, value in given.items()):
            continue
        said = {**own, **given}
        try:
            yield path, said, places.cell(coordinates(said, places, where.experiment))
        except NoPlace as error:
            yield path, said, Problem(str(path), None, str(error), error.hint)
