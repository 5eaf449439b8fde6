"""Compiles a spec to its plan in steps: syntax tree, declarations, model, queries. It runs nothing and uses no
network."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from benchbrief.compiler.blocks.experiment_errors import NoMeasuredTime
from benchbrief.compiler.blocks.experiments import databases_of
from benchbrief.compiler.blocks.factor_errors import TooFewLevels
from benchbrief.compiler.briefs.lower_report import Lowered, LoweredReports, lower, report_mistakes
from benchbrief.compiler.briefs.report_errors import EmptyElement
from benchbrief.compiler.estimates.budget_fit import most_s
from benchbrief.compiler.estimates.estimate import (
    MOST_CHECKED_CELLS,
    RENDERING_S,
    alone,
    counted_cells,
    estimate_some,
    held_out_wall_s,
    up_to,
)
from benchbrief.compiler.estimates.estimate_warnings import warn_by_estimates
from benchbrief.compiler.expand import expand
from benchbrief.compiler.frontend.declarations import collect, parameters
from benchbrief.compiler.frontend.imports import Files, Loaded, load
from benchbrief.compiler.frontend.name_errors import MustChoose, UnusableExtension
from benchbrief.compiler.frontend.structure_errors import MissingAttribute, WorkloadWithoutBase
from benchbrief.compiler.frontend.value_errors import TooLong
from benchbrief.compiler.metrics.metric_errors import OtherLengths
from benchbrief.compiler.problems import Findings
from benchbrief.compiler.resolve import Model, RememberedBlocks, resolve, with_measure_words
from benchbrief.compiler.schemas import BLOCKS, ELEMENTS
from benchbrief.compiler.variants_as_factor import suggest_factors
from benchbrief.dsl.diagnostics.diagnostic import Diagnostic, SpecError
from benchbrief.dsl.diagnostics.plain_amounts import about, plural
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.pause_collection import no_collection
from benchbrief.dsl.source import Source, Span
from benchbrief.dsl.syntax import ast
from benchbrief.model.plan import Plan, SpecRef
from benchbrief.model.planned_cells import most_cells
from benchbrief.model.value_shapes import HEADING, LABEL, NAME, PARAGRAPH, BlockSchema, Fact, Text

_LACKS = frozenset(
    {MissingAttribute.code, NoMeasuredTime.code, WorkloadWithoutBase.code, EmptyElement.code, TooFewLevels.code}
)
"""Codes for a missing attribute, or for a word missing in a block's head."""


def shown_findings(findings: Findings, of_queries: Iterable[Diagnostic], loaded: Loaded) -> tuple[Diagnostic, ...]:
    """Return the mistakes of a spec in syntax, meaning, metrics and reports, without repetitions."""
    # E03xx is an error at the declaration of the value; a metric with that value would repeat it. A length
    # may stand for one with a mistake.
    others = (each for each in of_queries if not (each.span and findings.at(each.span)))
    found = (
        *findings.diagnostics(),
        *(each for each in others if each.code != OtherLengths.code or not findings.failed),
    )
    if loaded.broken:
        found = _causes(found, loaded)
    return distinct(in_reading_order((*loaded.broken, *found), loaded))


def _causes(diagnostics: tuple[Diagnostic, ...], loaded: Loaded) -> tuple[Diagnostic, ...]:
    """Return the errors that are not a consequence of unreadable parts."""
    return tuple(
        diagnostic
        for diagnostic in diagnostics
        if diagnostic.severity == "error"
        and diagnostic.span is not None
        and diagnostic.code != MustChoose.code  # it counts declarations, and some may be lost
        and not any(lost.concerns(diagnostic) for lost in loaded.lost)
        and not (diagnostic.code in _LACKS and any(lost.lacks(diagnostic.span) for lost in loaded.lost))
    )


def distinct(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Drop errors that repeat an earlier error at the same place. An unusable extension is reported only at its first
    use."""
    kept: dict[object, Diagnostic] = {}
    for diagnostic in diagnostics:
        placed = diagnostic.severity == "error" and diagnostic.span is not None
        place = (
            None if diagnostic.code == UnusableExtension.code else diagnostic.span
        )  # one report is enough for all its uses
        kept.setdefault((diagnostic.code, place, diagnostic.summary) if placed else diagnostic, diagnostic)
    return tuple(kept.values())


def in_reading_order(diagnostics: tuple[Diagnostic, ...], loaded: Loaded) -> tuple[Diagnostic, ...]:
    """Sort findings in reading order: those without a place, then those in the spec itself, then those in the files
    that the spec uses."""
    order = {file.tree.span.source.name: index for index, file in enumerate(reversed(loaded.files), start=1)}

    def place(diagnostic: Diagnostic) -> tuple[int, int]:
        span = diagnostic.span
        return (order.get(span.source.name, 0), span.start) if span else (0, 0)

    return tuple(sorted(diagnostics, key=place))


def in_context(diagnostics: Iterable[Diagnostic], files: Mapping[Source, ast.File]) -> tuple[Diagnostic, ...]:
    """Return the findings. A finding without a context gets the nearest block head above it."""

    def widened(diagnostic: Diagnostic) -> Diagnostic:
        span = diagnostic.span
        if span is None or diagnostic.context is not None or span.source not in files:
            return diagnostic
        return replace(diagnostic, context=_head_above(span, files[span.source]))

    return tuple(map(widened, diagnostics))


def _head_above(span: Span, file: ast.File) -> Span | None:
    found = None
    inside: Sequence[ast.Declaration | ast.Item] = file.declarations
    while inside:
        index = bisect_right(inside, span.start, key=lambda node: node.span.start) - 1
        node = inside[index] if index >= 0 else None
        if not isinstance(node, ast.Block) or node.span.end < span.end or node.span.line == span.line:
            break
        found = Span(
            node.span.source, node.span.start, (node.label or node.name or node.subject or node.keyword).span.end
        )
        inside = node.body
    return found


@dataclass(frozen=True)
class CheckedSource:
    """The mistakes of a spec, with its plan and the model behind the plan. `plan` is None if one of the mistakes is an
    error."""

    plan: Plan | None
    diagnostics: tuple[Diagnostic, ...]
    model: Model | None = None


@dataclass(frozen=True)
class Examined:
    """The mistakes of a spec, and its model. The model is None if some files can't be used.

    Metrics, expectations and reports have queries only on request.
    """

    diagnostics: tuple[Diagnostic, ...]
    loaded: Loaded | None = None
    model: Model | None = None
    lowered: Lowered = Lowered()

    @property
    def failed(self) -> bool:
        return any(diagnostic.severity == "error" for diagnostic in self.diagnostics)

    @property
    def cells(self) -> int | None:
        """The largest number of cells that a run may measure, or None when there can be no plan."""
        return (
            None
            if self.model is None or self.failed
            else sum(most_cells(matrix.experiment) for matrix in self.model.matrices)
        )

    def in_context(self) -> tuple[Diagnostic, ...]:
        """Return the diagnostics, each with the head of its block."""
        files = self.loaded.files if self.loaded else ()
        return in_context(self.diagnostics, {file.tree.span.source: file.tree for file in files})


def assemble(
    name: str, examined: Examined, *, profile: str | None, params: Mapping[str, str], budget_s: float | None = None
) -> Plan | None:
    """Return the plan of an examined spec, or None if the spec has an error. `name` is the spec's path as given."""
    if examined.loaded is None or examined.model is None or examined.failed:
        return None
    model = examined.model
    cells = expand(model.matrices, model.hosts, budget_s)
    experiments = {matrix.experiment.name: matrix.experiment for matrix in model.matrices}
    databases = databases_of(model.matrices)
    engines = tuple(each.engine for each in databases.values() if each.package)
    plan = Plan(
        spec=SpecRef(
            name=name,
            files=dict(sorted(examined.loaded.hashes.items())),
            profile=profile,
            params=dict(sorted(params.items())),
        ),
        hosts=dict(model.hosts),
        hardware={key: unit.hardware for key, unit in model.hardware.items()},
        clients=dict(model.clients),
        databases=databases,
        workloads={key: load.workload for key, load in model.workloads.items()},
        factors={name: each.factor for name, each in model.factors.items()},
        experiments=experiments,
        cells=cells,
        metrics=examined.lowered.metrics,
        expects=examined.lowered.expects,
        claims=examined.lowered.claims,
        reports=tuple(with_measure_words(report, cells, engines) for report in examined.lowered.reports),
        schedulers=dict(model.schedulers),
        budget_s=budget_s,
        estimate_s=estimate_some(cells, counted_cells(cells, experiments)),
    )
    held_s = held_out_wall_s(plan)
    return plan.model_copy(update={"estimate_s": plan.estimate_s + held_s}) if held_s else plan


_SCHEMAS: Mapping[str, BlockSchema] = {**BLOCKS, **ELEMENTS}
_OTHER = BlockSchema("", {}, named=False)
_SENTENCE = "; a sentence about it belongs in its `description`"


def check_lengths(files: Iterable[ast.File], params: Mapping[str, ast.Expr], findings: Findings) -> None:
    """Report each text that is too long for its kind. `params` are the values of the parameters."""
    for file in files:
        for declaration in file.declarations:
            for problem in _of_declaration(declaration, params):
                findings.add(problem)


def _of_declaration(found: ast.Declaration, params: Mapping[str, ast.Expr]) -> Iterator[TooLong]:
    match found:
        case ast.Block():
            yield from _of_block(found, params)
        case ast.Metric():
            yield from _name("metric", found.name)
            yield from _text(f"the label of metric `{found.name.text}`", found.label, LABEL)
        case ast.Expect():
            yield from _text("the label of an expectation", found.label, HEADING)
        case ast.Param():
            yield from _name("param", found.name)
        case ast.Use():
            pass


def _of_block(block: ast.Block, params: Mapping[str, ast.Expr]) -> Iterator[TooLong]:
    kind = block.keyword.text
    schema = _SCHEMAS.get(kind, _OTHER)
    if kind == "override" and block.subject is not None:
        schema = _SCHEMAS.get(block.subject.text, _OTHER)
    yield from _name(kind, block.name)
    of = f"{kind} `{block.name.text}`" if block.name else f"a {kind}"
    what, where = (
        ("title", "") if schema.label > LABEL else ("label", _SENTENCE if "description" in schema.keys else "")
    )
    yield from _text(f"the {what} of {of}", block.label, schema.label, where)
    for item in block.body:
        if isinstance(item, ast.Block):
            yield from _of_block(item, params)
        else:
            yield from _of_attribute(item, schema, params)


def _of_attribute(attribute: ast.Attribute, schema: BlockSchema, params: Mapping[str, ast.Expr]) -> Iterator[TooLong]:
    if not params and attribute.span.end - attribute.span.start <= NAME:
        return  # it is too short to contain a text that is too long
    key = attribute.key.text
    yield from _name("attribute", attribute.key)
    label = schema.keys[key].label if key in schema.keys else LABEL
    yield from _text(f"the label of a `{key}`", attribute.label, label)
    shape = schema.keys[key].shape if key in schema.keys else schema.open_keys
    longest = shape.longest if isinstance(shape, Text | Fact) else PARAGRAPH
    left = list(attribute.values)
    followed: set[str] = set()  # nested lists of parameters could grow by powers of two
    while left:
        match left.pop():
            case ast.String() as text:
                yield from _text(f"`{key}`", text, longest)
            case ast.Name(text=name) if name in params and name not in followed:
                followed.add(name)
                left.append(params[name])
            case ast.Option(word=word, value=ast.String() as text):
                yield from _text(f"the `{word.text}` of a `{key}`", text, LABEL)
            case ast.List(items=items):
                left += items
            case ast.Call(arguments=arguments):
                left += [argument.value for argument in arguments]


def _name(kind: str, name: ast.Name | None) -> Iterator[TooLong]:
    if name is not None and len(name.text) > NAME:
        where = "; the full words belong in its label" if kind in (*BLOCKS, "metric") else ""
        yield TooLong(name.span, f"this {kind}'s name", len(name.text), NAME, where)


def _text(what: str, text: ast.String | None, limit: int, where: str = "") -> Iterator[TooLong]:
    """Yield a problem if the text is too long. A hole counts as it is written, since its value has a limit of
    its own."""
    if text is None:
        return
    length = sum(len(part) if isinstance(part, str) else len(part.span.text) for part in text.parts)
    if length > limit:
        yield TooLong(text.span, what, length, limit, where)


def check(
    path: Path,
    *,
    profile: str | None = None,
    params: Mapping[str, str] | None = None,
    files: Files | None = None,
    budget_s: float | None = None,
) -> CheckedSource:
    """Compile a spec to its plan. `diagnostics` has every mistake. `budget_s` limits all experiments together."""
    with no_collection():
        examined = examine(path, profile=profile, params=params, files=files, planning=True)
        plan = assemble(str(path), examined, profile=profile, params=params or {}, budget_s=budget_s)
        return CheckedSource(plan, examined.in_context(), examined.model)


@dataclass
class CheckMemory:
    """What one check of a spec keeps for the next."""

    blocks: RememberedBlocks = field(default_factory=RememberedBlocks)
    reports: LoweredReports = field(default_factory=LoweredReports)


def examine(
    path: Path,
    *,
    profile: str | None = None,
    params: Mapping[str, str] | None = None,
    files: Files | None = None,
    memory: CheckMemory | None = None,
    planning: bool = False,
) -> Examined:
    """Check a spec without making its plan.

    `memory` comes from the last check of the spec. Queries are made only with `planning` and without `memory`.
    """
    with no_collection():
        return _examined(Path(path), profile, params, files, memory, planning=planning)


def _examined(
    path: Path,
    profile: str | None,
    params: Mapping[str, str] | None,
    files: Files | None,
    memory: CheckMemory | None,
    *,
    planning: bool,
) -> Examined:
    findings = Findings()
    try:
        loaded = load(path, files)
        if loaded.broken and loaded.is_long:
            return Examined(shown_findings(findings, (), loaded), loaded)
        findings.failed = bool(loaded.broken)
        declarations = collect(loaded, findings)
        values = parameters(declarations, params or {}, findings)
        check_lengths((file.tree for file in loaded.files), values, findings)
        blocks = memory.blocks if memory else RememberedBlocks()
        model = resolve(declarations, values, profile, findings, blocks, whole=loaded.whole)
        of = model.matrices, model.hosts
        blocks.recall("estimates", of, findings, lambda: warn_by_estimates(model, findings))
        if not findings.failed:
            suggest_factors(model, loaded, findings)
        lowered = lower(model.scope, memory.reports if memory else None, whole=model.whole, planning=planning)
        profiles = declarations.blocks["profile"] if not planning and not memory else ()
        others = tuple(_wrong_with_profiles(loaded, values, profile)) if profiles else ()
    except SpecError as error:
        return Examined(distinct(error.diagnostics))
    shown = shown_findings(findings, (*lowered.diagnostics, *others), loaded)
    examined = Examined(shown, loaded, model, lowered)
    return _examined_by_extensions(examined, findings, profile, params or {}, others)


def _examined_by_extensions(
    examined: Examined,
    findings: Findings,
    profile: str | None,
    params: Mapping[str, str],
    others: Iterable[Diagnostic],
) -> Examined:
    """Add what the extensions in use find wrong with the plan. Most extensions check nothing."""
    model, loaded = examined.model, examined.loaded
    if model is None or not any(each.database.engine.check or each.tool_spec.check for each in model.matrices):
        return examined
    from benchbrief.compiler.extension_checks import check_by_extensions, with_checks

    asked = with_checks(model.matrices)
    if loaded is None or not examined.cells or examined.cells > MOST_CHECKED_CELLS:
        return examined
    plan = assemble("", examined, profile=profile, params=params)
    for problem in check_by_extensions(plan, asked.values()) if plan else ():
        findings.add(problem)
    shown = shown_findings(findings, (*examined.lowered.diagnostics, *others), loaded)
    return replace(examined, diagnostics=shown)


def _wrong_with_profiles(loaded: Loaded, values: Mapping[str, ast.Expr], chosen: str | None) -> Iterator[Diagnostic]:
    """Yield the mistakes in report overrides of profiles that are not chosen."""
    for name, profile in collect(loaded, Findings()).blocks["profile"].items():
        found = (each for each in profile.all("override") if each.subject and each.subject.text == "report")
        said = {each.name: each.of_words.span for each in found if each.of_words}
        if not said or name == chosen:
            continue
        model = resolve(collect(loaded, Findings()), values, name, Findings(), whole=loaded.whole)
        reports = [each for each in model.scope.reports if each.name and each.name.text in said]
        for problem in report_mistakes(model.scope, reports, whole=model.whole):
            if problem.span and any(each.encloses(problem.span) for each in said.values()):
                yield problem


@dataclass(frozen=True)
class CheckedTime:
    """The estimated wall time of a run with its brief, in seconds, and how often the run loads data.

    `at_most` says whether the run may end before its last point or repeat.
    """

    total_s: float
    loads: int
    at_most: bool

    @property
    def text(self) -> str:
        """The time in words, such as `8 loads, about 2 min 35 s`."""
        takes = f"{'up to ' if self.at_most else ''}{about(self.total_s)}"
        return f"{plural(self.loads, 'load')}, {takes}" if self.loads else takes

    def as_dict(self) -> dict[str, object]:
        return {"total_s": round(self.total_s, 3), "loads": self.loads, "at_most": self.at_most}


def checked_time(examined: Examined) -> CheckedTime | None:
    """Return the time, or None for a spec with an error or with too many cells."""
    if examined.cells is None or examined.cells > MOST_CHECKED_CELLS:
        return None
    plan = assemble("", examined, profile=None, params={})
    if plan is None:
        return None
    cells = alone(plan.cells, counted_cells(plan.cells, plan.experiments))
    loads = sum(step.kind == "load" and step.reset == "load" for cell in cells for step in cell.steps)
    at_most = any(up_to(each) for each in plan.experiments.values())
    return CheckedTime(most_s(plan) + RENDERING_S * len(plan.reports), loads, at_most)
