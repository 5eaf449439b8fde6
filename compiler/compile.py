"""From a spec's path to its plan: the whole pipeline. Nothing is run, and no network is touched."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchbrief.compiler.blocks.experiment_errors import NoMeasuredTime
from benchbrief.compiler.blocks.params import parameters
from benchbrief.compiler.blocks.profiles import apply_profile
from benchbrief.compiler.blocks.structure_errors import MissingAttribute, WorkloadWithoutBase
from benchbrief.compiler.briefs.report import Lowered, Memory, lower, mistakes
from benchbrief.compiler.briefs.report_errors import EmptyElement
from benchbrief.compiler.contexts import in_context
from benchbrief.compiler.declarations import collect
from benchbrief.compiler.estimate import estimate
from benchbrief.compiler.expand import expand
from benchbrief.compiler.imports import Files, Loaded, load
from benchbrief.compiler.plan import Expect, Metric, Plan, Report, SpecRef
from benchbrief.compiler.problems import Findings
from benchbrief.compiler.resolve import Model, resolve
from benchbrief.dsl.diagnostics import Diagnostic, SpecError

_WANTING = frozenset({MissingAttribute.code, NoMeasuredTime.code, WorkloadWithoutBase.code, EmptyElement.code})
"""Codes of what is said of a block for the want of an attribute, or of what its head says."""
_MOST_WORDS = 50_000
"""Words and signs of a spec up to which the rest of it is checked when it has syntax errors: reading on takes time."""


@dataclass(frozen=True)
class Checked:
    """What is wrong with a spec, and its plan when no error is among it."""

    plan: Plan | None
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True)
class Examined:
    """What is wrong with a spec, and its model as far as there is one: None when files can't be used.

    Metrics, expectations and reports hold queries only when they were asked for.
    """

    diagnostics: tuple[Diagnostic, ...]
    loaded: Loaded | None = None
    model: Model | None = None
    metrics: tuple[Metric, ...] = ()
    expects: tuple[Expect, ...] = ()
    reports: tuple[Report, ...] = ()

    @property
    def failed(self) -> bool:
        return any(diagnostic.severity == "error" for diagnostic in self.diagnostics)

    @property
    def cells(self) -> int | None:
        """How many the plan has; None when there can be none."""
        return None if self.model is None or self.failed else sum(matrix.cells for matrix in self.model.matrices)

    def in_context(self) -> tuple[Diagnostic, ...]:
        """The diagnostics, each with the head of the block that it stands in."""
        files = self.loaded.files if self.loaded else ()
        return in_context(self.diagnostics, {file.tree.span.source: file.tree for file in files})


@contextmanager
def _collecting_later() -> Iterator[None]:
    """Trees and models hold no cycles: to look for some, again and again while they grow, takes a tenth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_collecting_later()
def examine(
    path: Path,
    *,
    profile: str | None = None,
    params: Mapping[str, str] | None = None,
    files: Files | None = None,
    memory: Memory | None = None,
    planning: bool = False,
) -> Examined:
    """All of the checking, without the plan; every mistake is in `diagnostics`, in the order of the text.

    `memory` is that of the last check of the spec. Queries are made only when `planning`, which has no memory.
    """
    findings = Findings()
    try:
        loaded = load(Path(path), files)
        if loaded.broken and loaded.words > _MOST_WORDS:
            return Examined(told_once(in_reading_order(loaded.broken, loaded)), loaded)
        findings.failed = bool(loaded.broken)
        declarations = collect(loaded, findings)
        values = parameters(declarations, params or {}, findings)
        if profile is not None:
            apply_profile(declarations, profile, findings)
        model = resolve(declarations, values, profile, findings)
        if not all(lost.whole for lost in loaded.lost):
            model = replace(model, whole=False)
        if memory is not None:
            lowered: Lowered = ((), (), (), mistakes(model.scope, memory, whole=model.whole))
        else:
            lowered = lower(model.scope, whole=model.whole, planning=planning)
        metrics, expects, reports, more = lowered
    except SpecError as error:
        return Examined(told_once(error.diagnostics))
    # A value that can't be computed (E03xx) was told of where it is declared; a metric that has it says it once more.
    told = (*findings.diagnostics(), *(each for each in more if not (each.span and findings.at(each.span))))
    if loaded.broken:
        told = _causes(told, loaded)
    diagnostics = told_once(in_reading_order((*loaded.broken, *told), loaded))
    return Examined(diagnostics, loaded, model, metrics, expects, reports)


def check(
    path: Path,
    *,
    profile: str | None = None,
    params: Mapping[str, str] | None = None,
    files: Files | None = None,
) -> Checked:
    """Compile a spec; every mistake is in `diagnostics`, in the order of the text."""
    found = examine(path, profile=profile, params=params, files=files, planning=True)
    diagnostics = found.in_context()
    if found.loaded is None or found.model is None or found.failed:
        return Checked(None, diagnostics)
    ref = SpecRef(
        name=str(path),
        files=dict(sorted(found.loaded.hashes.items())),
        profile=profile,
        params=dict(sorted((params or {}).items())),
    )
    return Checked(_plan(ref, found.model, found.metrics, found.expects, found.reports), diagnostics)


def _plan(
    ref: SpecRef,
    model: Model,
    metrics: tuple[Metric, ...],
    expects: tuple[Expect, ...],
    reports: tuple[Report, ...],
) -> Plan:
    cells = expand(model.matrices, model.hosts)
    return Plan(
        spec=ref,
        hosts=dict(model.hosts),
        hardware={key: unit.hardware for key, unit in model.hardware.items()},
        clients=dict(model.clients),
        databases={
            f"{matrix.database.name}@{key}": database
            for matrix in model.matrices
            for key, database in matrix.databases.items()
        },
        workloads={name: load.workload for name, load in model.workloads.items()},
        experiments={matrix.experiment.name: matrix.experiment for matrix in model.matrices},
        cells=cells,
        metrics=metrics,
        expects=expects,
        reports=reports,
        estimate_s=estimate(cells),
    )


def _causes(diagnostics: tuple[Diagnostic, ...], loaded: Loaded) -> tuple[Diagnostic, ...]:
    """The errors that do not follow from what could not be read."""
    return tuple(
        diagnostic
        for diagnostic in diagnostics
        if diagnostic.severity == "error"
        and diagnostic.span is not None
        and not any(lost.concerns(diagnostic) for lost in loaded.lost)
        and not (diagnostic.code in _WANTING and any(lost.lacks(diagnostic.span) for lost in loaded.lost))
    )


def told_once(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Without errors that say of a place what an earlier one said; what else they add is seen once that is mended."""
    kept: dict[object, Diagnostic] = {}
    for diagnostic in diagnostics:
        placed = diagnostic.severity == "error" and diagnostic.span is not None
        kept.setdefault((diagnostic.code, diagnostic.span, diagnostic.summary) if placed else diagnostic, diagnostic)
    return tuple(kept.values())


def in_reading_order(diagnostics: tuple[Diagnostic, ...], loaded: Loaded) -> tuple[Diagnostic, ...]:
    """The spec itself first, then the files it uses; what has no place in a text before all."""
    order = {file.tree.span.source.name: index for index, file in enumerate(reversed(loaded.files), start=1)}

    def place(diagnostic: Diagnostic) -> tuple[int, int]:
        span = diagnostic.span
        return (order.get(span.source.name, 0), span.start) if span else (0, 0)

    return tuple(sorted(diagnostics, key=place))
