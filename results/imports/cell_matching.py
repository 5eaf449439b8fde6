"""Finds the cells of a plan that numbers belong to, by their coordinates."""

from __future__ import annotations

import glob
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.plan import Cell, DimKey, Levels, Plan, key_text
from benchbrief.model.points import POINT
from benchbrief.results.imports.imported_files import ImportProblem, Wrong
from benchbrief.results.store_errors import ResultsError


@dataclass(frozen=True)
class Coordinates:
    """The known coordinates of a cell. None and "" mean unknown."""

    experiment: str = ""
    hardware: str = ""
    workload: str = ""
    threads: int | None = None
    target: float | None = None
    repeat: int | None = None
    levels: Levels = field(default_factory=Levels)
    """The known levels, by factor."""

    def __str__(self) -> str:
        pairs = [*((name, getattr(self, name)) for name in CELL), *self.levels.keys.items()]
        return ", ".join(f"{name} = {value}" for name, value in pairs if value not in (None, ""))


class NoPlace(Wrong):
    """Raised when no cell fits, or more than one does."""


class SeveralLevels(NoPlace):
    """Raised if a factor's level is not given although the matching `cells` have several."""

    def __init__(self, text: str, hint: str, cells: Sequence[Cell]) -> None:
        super().__init__(text, hint)
        self.cells = cells


class Places:
    """The cells of a plan by their coordinates. Hardware, workloads and levels are found by name, or by label if the
    label is unique."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self.factors = plan, plan.factors
        self._cells: dict[tuple[str, str], list[Cell]] = {}
        for cell in plan.cells:
            self._cells.setdefault((cell.hardware, cell.workload), []).append(cell)
        self._levels = {
            levels: {name: levels.keys.get(name, factor.default) for name, factor in plan.factors.items()}
            for levels in {cell.levels for cell in plan.cells}
        }
        """The level of each factor. If an experiment does not vary a factor, it has the factor's default."""
        self._hardware = _names((key, each.label) for key, each in plan.hardware.items())
        self._workloads = _names((name, each.label) for name, each in plan.workloads.items() if "?" not in name)
        self.names = (*CELL, *plan.factors, "host", "operation", "node", "probe")
        """The names of all coordinates."""

    def hardware(self, text: str) -> str:
        """Return the name of a hardware group, given its name or label. Raises NoPlace."""
        return _named("hardware", text, self._hardware, self._plan.hardware)

    def workload(self, text: str) -> str:
        """Return the name of a workload, given its name or label. Raises NoPlace."""
        return _named("workload", text, self._workloads, dict.fromkeys(self._workloads.values()))

    def experiment(self, text: str) -> str:
        """Return `text` if it names an experiment. Raises NoPlace."""
        known = {name: name for name in self._plan.experiments}
        return _named("experiment", text, known, self._plan.experiments)

    def level(self, factor: str, text: str, number: float | None = None) -> DimKey:
        """Return the level of a factor, given its name, its label, or a number in base units. Raises NoPlace."""
        levels = self._plan.factors[factor].levels
        known = _names((key_text(each.key), each.label) for each in levels)
        keys = {key_text(each.key): each.key for each in levels}
        if text not in known and number is not None:
            for key in keys.values():
                if not isinstance(key, str) and math.isclose(key, number):
                    return key
            raise NoPlace(f"no {factor} `{text}` in the plan", f"it has {_some(each.label for each in levels)}")
        return keys[_named(factor, text, known, (each.label for each in levels))]

    def cell(self, at: Coordinates) -> Cell:
        """Return the only cell at these coordinates, with its threads and target. Raises NoPlace.

        If the coordinates have no repeat, the first repeat is returned.
        """
        for dim, names in (("hardware", self._hardware), ("workload", self._workloads)):
            known = dict.fromkeys(names.values())
            if not getattr(at, dim) and len(known) > 1:
                raise NoPlace(f"its {dim} is not said", f"it is one of {_some(known)}")
        hardware = at.hardware or next(iter(self._hardware.values()))
        workload = at.workload or next(iter(self._workloads.values()))
        cells = self._fitting(self._cells.get((hardware, workload), []), at)
        cells = _at_threads(cells, at)
        cells = _at_target(cells, at)
        self._require_levels(cells, at)
        cells = _at_repeat(cells, at)
        experiments = tuple(dict.fromkeys(cell.experiment for cell in cells))
        if len(experiments) > 1:
            hint = f"say which with --experiment: {_some(experiments)}"
            raise NoPlace(f"{at} is in {len(experiments)} experiments", hint)
        if len(cells) > 1:
            raise NoPlace(f"{len(cells)} cells of the plan fit {str(at) or 'no coordinates'}", _lacking(cells, at))
        return cells[0].at_load(at.threads, at.target)

    def reach(self, at: Coordinates) -> list[Cell]:
        """Return all cells that fit the coordinates. Raises NoPlace if there are none."""
        cells = self._fitting((cell for of in self._cells.values() for cell in of), at)
        if at.threads is not None:
            cells = _at_threads(cells, at)
        return _at_target(cells, at)

    def repeats(self, cell: Cell) -> list[Cell]:
        """Return the other repeats of a cell's point."""
        return [
            each
            for each in self._cells[cell.hardware, cell.workload]
            if each.id != cell.id
            and each.experiment == cell.experiment
            and each.levels == cell.levels
            and each.repeat != cell.repeat
            and (each.threads is None or each.threads == cell.threads)
            and (each.target is None or each.target == cell.target)
        ]

    def _fitting(self, cells: Iterable[Cell], at: Coordinates) -> list[Cell]:
        """Return the cells whose names and levels fit the coordinates. Raises NoPlace if there are none."""
        names = {"experiment": at.experiment, "hardware": at.hardware, "workload": at.workload}
        said, levels = {dim: name for dim, name in names.items() if name}, at.levels.keys.items()
        fitting = [
            cell
            for cell in cells
            if levels <= self._levels[cell.levels].items()
            and all(getattr(cell, dim) == name for dim, name in said.items())
        ]
        if not fitting:
            raise NoPlace(f"no experiment has a cell with {at}", "see `bench plan`")
        return fitting

    def _require_levels(self, cells: Sequence[Cell], at: Coordinates) -> None:
        """Raise SeveralLevels if the cells have several levels of a factor that the coordinates leave open."""
        for name, factor in self._plan.factors.items():
            found = dict.fromkeys(self._levels[cell.levels][name] for cell in cells)
            if name not in at.levels.keys and len(found) > 1:
                known = _some(factor.label_of(key) for key in found)
                raise SeveralLevels(f"its {name} is not said", f"it is one of {known}", cells)


def _at_threads(cells: list[Cell], at: Coordinates) -> list[Cell]:
    """Return the cells that fit the given number of threads. Raises NoPlace.

    A cell fits any number if a search has not found its number of threads yet. If this is true of all cells, the number
    must be given.
    """
    if at.threads is not None:
        fitting = [cell for cell in cells if cell.threads in (None, at.threads)]
        if not fitting:
            planned = sorted({cell.threads for cell in cells if cell.threads is not None})
            raise NoPlace(f"the plan has no cell at {at.threads} threads", f"it has {_some(planned)}")
        return fitting
    if all(cell.threads is None for cell in cells):
        raise NoPlace("the number of threads is not said, which a search was to find", "say it: threads = ...")
    return cells


def _at_target(cells: list[Cell], at: Coordinates) -> list[Cell]:
    if at.target is None:
        return cells
    fitting = [c for c in cells if c.target_from or (c.target is not None and math.isclose(c.target, at.target))]
    if not fitting:
        planned = sorted({cell.target for cell in cells if cell.target is not None})
        hint = f"it has {_some(f'{target:g}' for target in planned)}" if planned else "its cells are at threads alone"
        raise NoPlace(f"the plan has no cell at an offered load of {at.target:g} ops/s", hint)
    return fitting


def _at_repeat(cells: list[Cell], at: Coordinates) -> list[Cell]:
    fitting = [cell for cell in cells if cell.repeat == (at.repeat or 1)]
    if not fitting:
        raise NoPlace(f"the plan has no repeat {at.repeat}", f"it has {max(cell.repeat for cell in cells)}")
    return fitting


def _lacking(cells: Sequence[Cell], at: Coordinates) -> str:
    for dim in ("threads", "target"):
        values = sorted({value for cell in cells if (value := getattr(cell, dim)) is not None})
        if getattr(at, dim) is None and len(values) > 1:
            return f"say its {dim}: {_some(f'{value:g}' for value in values)}"
    return "say more of it"


def _names(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Map each name to itself, and each label to its name if the label is unique."""
    known: dict[str, str] = {}
    labels: dict[str, list[str]] = {}
    for name, label in pairs:
        known[name] = name
        labels.setdefault(label, []).append(name)
    return {**{label: names[0] for label, names in labels.items() if len(names) == 1}, **known}


def _named(dim: str, text: str, known: dict[str, str], names: Iterable[str]) -> str:
    if text in known:
        return known[text]
    guess = did_you_mean(text, known)
    raise NoPlace(f"no {dim} `{text}` in the plan", f"did you mean `{guess}`?" if guess else f"it has {_some(names)}")


def _some(values: Iterable[object]) -> str:
    texts = [str(value) for value in values]
    return ", ".join(texts[:12]) + (", ..." if len(texts) > 12 else "")


CELL = (*POINT, "repeat")
_AMOUNT = r"\d{1,18}(\.\d+)?([eE]\d{1,2})?"
_PART = re.compile(r"\{([^{}]*)\}|\*")


def compile_pattern(pattern: str, names: Sequence[str]) -> re.Pattern[str]:
    """Compile a pattern for the end of a path. A match begins at the start of a file's or folder's name. `names` are
    the names of all coordinates.

    Raises ResultsError for unknown or repeated names.
    """
    made, at, seen = "", 0, set()
    for match in _PART.finditer(pattern):
        made += re.escape(pattern[at : match.start()])
        at = match.end()
        name = match[1]
        if name is None:
            made += "[^/]*"
            continue
        if name not in names:
            guess = did_you_mean(name, names)
            raise ResultsError(
                f"`{{{name}}}` in --as is no coordinate",
                f"did you mean {{{guess}}}?" if guess else f"these are {', '.join(names)}",
            )
        number = name in ("threads", "repeat")
        made += f"(?P={name})" if name in seen else f"(?P<{name}>{'[0-9]+' if number else '[^/]+?'})"
        seen.add(name)
    return re.compile(f"(?:.*/)?{made}{re.escape(pattern[at:])}")


def as_glob(pattern: str) -> str:
    """Convert a pattern to a glob that finds the same files, and perhaps others."""
    return _PART.sub("*", pattern)


def given_cell(text: str, names: Sequence[str]) -> dict[str, str]:
    """Parse `hardware=nvme,workload=a,threads=48`. Raises ResultsError."""
    values: dict[str, str] = {}
    # A workload may be `load(f)`, but no name has a comma.
    for part in text.split(",") if text else ():
        name, equals, value = part.partition("=")
        if not equals or name.strip() not in names:
            guess = did_you_mean(name.strip(), names)
            hint = f"did you mean {guess}=...?" if guess else f"these are {', '.join(names)}"
            raise ResultsError(f"`{part}` in --cell is not NAME=VALUE of a coordinate", hint)
        values[name.strip()] = value.strip()
    return values


def read_coordinates(path: Path, pattern: re.Pattern[str] | None, given: Mapping[str, str]) -> dict[str, str] | None:
    """Return the coordinates in a path, together with the coordinates from the command line, which take precedence.
    Returns None if the path does not match."""
    match = pattern.fullmatch(path.as_posix()) if pattern else None
    if pattern and match is None:
        return None
    return {**(match.groupdict() if match else {}), **given}


def coordinates(values: Mapping[str, str], places: Places, experiment: str) -> Coordinates:
    """Convert texts to coordinates. Raises NoPlace for a bad number, and for a name that is not in the plan."""
    at = Coordinates(experiment=experiment)
    for name, text in values.items():
        match name:
            case "hardware":
                at = replace(at, hardware=places.hardware(text))
            case "workload":
                at = replace(at, workload=places.workload(text))
            case "experiment":
                at = replace(at, experiment=places.experiment(text))
            case "threads":
                at = replace(at, threads=_whole(name, text))
            case "repeat":
                at = replace(at, repeat=_whole(name, text))
            case "target":
                at = replace(at, target=_number(name, text, _AMOUNT))
            case _ if name in places.factors:
                number = float(text) if re.fullmatch(_AMOUNT, text) else None
                at = replace(at, levels=Levels.of({**at.levels.keys, name: places.level(name, text, number)}))
    return at


def _whole(name: str, text: str) -> int:
    """Parse a whole number. Raises NoPlace."""
    _number(name, text, r"\d{1,9}")
    return int(text)


def _number(name: str, text: str, form: str) -> float:
    """Parse a number. Raises NoPlace."""
    if re.fullmatch(form, text) is None:
        hint = "as in 8" if name != "target" else "operations a second, as in 20000"
        raise NoPlace(f"{name} is a number, and not `{text}`", f"write it without a unit, {hint}")
    return float(text)


Options = Mapping[str, str | float | bool]
"""The importer's options that the user gave, by name."""

STDOUT = "stdout"
"""The name under which a tool's output is kept."""


@dataclass(frozen=True)
class Where:
    """The command-line options that match files to cells, and the importer's options.

    `samples` are logs of samples that accompany the measurements. Each entry has the log's importer (such as `iostat`)
    and a path pattern.
    """

    pattern: str = ""
    cell: str = ""
    experiment: str = ""
    options: Options = field(default_factory=dict)
    samples: tuple[tuple[str, str], ...] = ()


@dataclass
class CellFiles:
    """The files of a cell, by load generator and then by the names under which they are kept.

    `remarks` say which files are incomplete, by load generator.
    """

    cell: Cell
    files: dict[str, dict[str, Path]] = field(default_factory=dict)
    has_repeat: bool = False
    remarks: dict[str, str] = field(default_factory=dict)


def find_files(
    pattern: str, suffix: str, places: Places, where: Where
) -> Iterator[tuple[Path, dict[str, str], Cell | ImportProblem]]:
    """Yield the files that match a pattern. Each comes with its coordinates, and with its cell or the reason why no
    cell fits.

    If a cell is given, files of other cells are left out.
    """
    form, given = compile_pattern(pattern, places.names), given_cell(where.cell, places.names)
    found = (Path(name) for name in glob.glob(as_glob(pattern)))  # noqa: PTH207  # relative or absolute
    for path in sorted(path for path in found if path.name.endswith(suffix)):
        own = read_coordinates(path, form, {}) or {}
        if any(own.get(name, value) != value for name, value in given.items()):
            continue
        said = {**own, **given}
        try:
            yield path, said, places.cell(coordinates(said, places, where.experiment))
        except NoPlace as error:
            yield path, said, ImportProblem(str(path), None, str(error), error.hint)
