"""Finding the cell of a plan that a number belongs to, by its coordinates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchbrief.compiler.planning.plan import Cell, Plan
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.results.imports.import_problems import Wrong


@dataclass(frozen=True)
class Coordinates:
    """The known coordinates of a cell. None and "" mean unknown."""

    experiment: str = ""
    hardware: str = ""
    workload: str = ""
    threads: int | None = None
    target: float | None = None
    repeat: int | None = None

    def __str__(self) -> str:
        named = ("experiment", "hardware", "workload", "threads", "target", "repeat")
        pairs = ((name, getattr(self, name)) for name in named)
        return ", ".join(f"{name} = {value}" for name, value in pairs if value not in (None, ""))


class NoPlace(Wrong):
    """No cell, or more than one, fits."""


class Places:
    """The cells of a plan by their coordinates. Hardware and workloads are found by name or by label."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._cells: dict[tuple[str, str], list[Cell]] = {}
        for cell in plan.cells:
            self._cells.setdefault((cell.hardware, cell.workload), []).append(cell)
        self._hardware = _names((key, each.label) for key, each in plan.hardware.items())
        self._workloads = _names((name, each.label) for name, each in plan.workloads.items())

    def hardware(self, text: str) -> str:
        """Return the name of a hardware group. Raises NoPlace."""
        return _named("hardware", text, self._hardware, self._plan.hardware)

    def workload(self, text: str) -> str:
        """Return the name of a workload. Raises NoPlace."""
        return _named("workload", text, self._workloads, self._plan.workloads)

    def experiment(self, text: str) -> str:
        """Return the name of an experiment. Raises NoPlace."""
        known = {name: name for name in self._plan.experiments}
        return _named("experiment", text, known, self._plan.experiments)

    def cell(self, at: Coordinates) -> Cell:
        """Return the one cell at these coordinates, with its threads and target. Raises NoPlace.

        Without a repeat, returns the first one.
        """
        for dim in ("hardware", "workload"):
            known = getattr(self._plan, "workloads" if dim == "workload" else dim)
            if not getattr(at, dim) and len(known) > 1:
                raise NoPlace(f"its {dim} is not said", f"it is one of {_some(known)}")
        hardware = at.hardware or next(iter(self._plan.hardware))
        workload = at.workload or next(iter(self._plan.workloads))
        cells = self._cells.get((hardware, workload), [])
        cells = [cell for cell in cells if not at.experiment or cell.experiment == at.experiment]
        if not cells:
            raise NoPlace(f"no experiment has a cell with {at}", "see `bench plan`")
        cells = _at_threads(cells, at)
        cells = _at_target(cells, at)
        cells = _at_repeat(cells, at)
        experiments = tuple(dict.fromkeys(cell.experiment for cell in cells))
        if len(experiments) > 1:
            hint = f"say which with --experiment: {_some(experiments)}"
            raise NoPlace(f"{at} is in {len(experiments)} experiments", hint)
        if len(cells) > 1:
            raise NoPlace(f"{len(cells)} cells of the plan fit {str(at) or 'no coordinates'}", _lacking(cells, at))
        return cells[0].at_load(at.threads, at.target)

    def reach(self, at: Coordinates) -> list[Cell]:
        """Return the cells, one or more, that fit all these coordinates. Raises NoPlace."""
        cells = [cell for of in self._cells.values() for cell in of if _fits(cell, at)]
        if not cells:
            raise NoPlace(f"no experiment has a cell with {at}", "see `bench plan`")
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
            and each.repeat != cell.repeat
            and (each.threads is None or each.threads == cell.threads)
            and (each.target is None or each.target == cell.target)
        ]


def _fits(cell: Cell, at: Coordinates) -> bool:
    said = {"experiment": at.experiment, "hardware": at.hardware, "workload": at.workload}
    return all(not name or getattr(cell, dim) == name for dim, name in said.items())


def _at_threads(cells: list[Cell], at: Coordinates) -> list[Cell]:
    """Return the cells at these threads. Cells that wait for a search fit any threads, but these must be given."""
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
    """Return each name by itself, and by its label when that is unique."""
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
