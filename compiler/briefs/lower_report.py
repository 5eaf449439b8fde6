"""Converts metrics, expectations and reports to their form in the plan: `each` is unrolled, and every expression
becomes a query."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Literal, TypeVar, get_args

from benchbrief.compiler.blocks.values import described, origin
from benchbrief.compiler.briefs import report_errors as wrong
from benchbrief.compiler.briefs.claim_errors import ClaimTaken, HeadlinedTwice, NoClaim
from benchbrief.compiler.briefs.claims import claim, exceptions, points_by_repeat, words_around
from benchbrief.compiler.briefs.element_queries import (
    FixedKeys,
    examples,
    key_label,
    label_of,
    named_params,
    on_lone_hardware,
    ordered,
    query,
    query_of_repeats,
    runs_at,
    sides_by_repeat,
    typed_at,
    without_single_keys,
)
from benchbrief.compiler.briefs.held_out_claims import held_out_alike
from benchbrief.compiler.briefs.plan_figures import figure
from benchbrief.compiler.briefs.plan_footnotes import FOOTNOTE, footnotes
from benchbrief.compiler.briefs.plan_prose import (
    ELLIPSIS,
    Body,
    claim_named,
    element_title,
    heading,
    prose,
    read_attributes,
    subject_of,
    title,
)
from benchbrief.compiler.briefs.plan_tables import callout, comparison, table
from benchbrief.compiler.briefs.results_without_claim import check_headline, warn_of_results
from benchbrief.compiler.briefs.themes import is_file, parts, theme
from benchbrief.compiler.briefs.word_catalogues import Entry, read_catalogue
from benchbrief.compiler.frontend.declarations import text_of
from benchbrief.compiler.frontend.name_errors import UnknownName, UnusableExtension
from benchbrief.compiler.frontend.scope import Scope
from benchbrief.compiler.frontend.structure_errors import (
    DuplicateAttribute,
    HoleNotAllowed,
    MisplacedBlock,
    UnknownAttribute,
    UnknownWord,
    WrongType,
)
from benchbrief.compiler.metrics import metric_errors
from benchbrief.compiler.metrics.curves import holds_percentiles
from benchbrief.compiler.metrics.expressions import Typer, reserved_for
from benchbrief.compiler.metrics.indexing import index
from benchbrief.compiler.metrics.planned_points import Runs, planned_runs
from benchbrief.compiler.metrics.terms import Fixed
from benchbrief.compiler.metrics.thin_evidence import warn_of_cells, warn_of_grown_sizes
from benchbrief.compiler.problems import Findings, HeldBack
from benchbrief.compiler.registry import TEMPLATE_SPECS, RefusedExtension
from benchbrief.compiler.schemas import REPORT_RULES, TEMPLATE
from benchbrief.dsl.diagnostics.diagnostic import Diagnostic
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span, display_width
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.extension_spec import LANGUAGES, Format, TemplateSpec
from benchbrief.model.plan import Dimension
from benchbrief.model.units import Amount, Unit

_SIGNS = {"+": ("+", 1), "-": ("−", 1), "*": ("×", 2), "/": ("/", 2)}


@dataclass
class _Worked:
    """A formula under construction: the terms found so far, and the keys that are fixed for all of them."""

    typer: Typer
    place: FixedKeys
    terms: list[plan.Term] = field(default_factory=list)
    failed: bool = False


def formula(typer: Typer, block: ast.Block, place: FixedKeys) -> plan.FormulaElement | None:
    base = block.base.base if isinstance(block.base, ast.Index) else block.base
    name = text_of(base) if base else ""
    if base is None or name not in typer.metrics:
        return typer.refuse(wrong.NotAMetric((base or block.keyword).span, "metric", name, tuple(typer.metrics)))
    metric = typer.metrics[name]
    fixed = _fixed(typer, block, name)
    if fixed is None:
        return None
    if not _is_arithmetic(metric.expr):
        return typer.refuse(wrong.PlainFormula(base.span, name))
    for dim, key in fixed:
        place = place.at(dim, key)
    typed = typed_at(typer, base, place)
    if typed is None:
        return None
    typed, left = without_single_keys(typed, ())
    if left:
        keys = examples(typer, typed.term, left)
        return typer.refuse(wrong.DimensionsLeft((block.base or block.keyword).span, left, keys))
    worked = _Worked(typer, place)
    text = _text(worked, metric.expr, 0)
    if worked.failed:
        return None
    return plan.FormulaElement(
        name=(metric.label.plain if metric.label else None) or name,
        for_label=", ".join(_key_words(typer, dim, key) for dim, key in fixed),
        text=text,
        terms=tuple(worked.terms),
        result=query(typer, typed.term, typed.unit, metric.name),
    )


def _fixed(typer: Typer, block: ast.Block, name: str) -> Fixed | None:
    """Return the keys that are fixed after `for`, () if there is no `for`, or None after a mistake."""
    if not isinstance(block.base, ast.Index):
        return ()
    typed = typer.metric(name)
    at_keys = typed and index(typer, typed.term, block.base)
    return at_keys[1] if at_keys else None


def _key_words(typer: Typer, dim: Dimension, key: str | float) -> str:
    label = key_label(typer, dim, key)
    return label if isinstance(key, str) else f"{dim}: {label}"


def _is_arithmetic(expr: ast.Expr) -> bool:
    return (isinstance(expr, ast.Binary) and expr.operator in _SIGNS) or isinstance(expr, ast.Unary)


def _text(worked: _Worked, expr: ast.Expr, above: int) -> str:
    """Return the text of an expression, with `{0}` and `{1}` in place of its terms. The text is in parentheses if the
    expression binds less tightly than `above`."""
    match expr:
        case ast.Binary() if expr.operator in _SIGNS:
            sign, level = _SIGNS[expr.operator]
            left = _text(worked, expr.left, level)
            right = _text(worked, expr.right, level + 1 if expr.operator in "-/" else level)
            text = f"{left} {sign} {right}"
            return f"({text})" if level < above else text
        case ast.Unary(operator="-"):
            return f"−{_text(worked, expr.operand, 3)}"
        case ast.Quantity():
            return text_of(expr)
        case _:
            return _term(worked, expr)


def _term(worked: _Worked, expr: ast.Expr) -> str:
    typed = typed_at(worked.typer, expr, worked.place)
    if typed is None:
        worked.failed = True
        return ""
    # A part may have only the formula's dimensions, after those with a single key are fixed.
    typed, _ = without_single_keys(typed, ())
    found = query(worked.typer, typed.term, typed.unit, expr)
    worked.terms.append(plan.Term(text=label_of(worked.typer, expr), query=found))
    return f"{{{len(worked.terms) - 1}}}"


PAPERS = ("a4", "letter")
PROVENANCE: Mapping[str, Literal["full", "compact", "none"]] = {"full": "full", "compact": "compact", "none": "none"}
_BETTER: dict[str, Literal["higher", "lower"]] = {">": "higher", ">=": "higher", "<": "lower", "<=": "lower"}
DISCLOSURES = ("automatic", "in_brief")
AUDIENCES: Mapping[str, Literal["customer", "internal"]] = {"customer": "customer", "internal": "internal"}
LAYOUTS: Mapping[str, Literal["pages", "one_page"]] = {"pages": "pages", "one_page": "one_page"}
_HEAD = (
    "template", "formats", "paper", "columns", "layout", "subtitle", "language", "author", "audience", "address",
    "parts", "provenance", "limits", "legal",
)  # fmt: skip
MOST_LINES, _NUMBER, _USUAL_LINE = 3, 4, 42
_WEB = re.compile(r"https?://[A-Za-z0-9.-]+(?::[0-9]+)?(?:/[!-~]*)?")
_FLOW = ("text", "disclosure")
_PROSE = ("text", "note", "legal", FOOTNOTE)
"""The attributes whose texts consist of sentences."""
_HEADLINE = "headline"
_ALLOW = "allow"
MOST_HEADLINES = 3
_BLOCKS = ("callout", "table", "compare", "figure", "section", "each", "formula")
MAX_ELEMENTS = 4_000
_UNROLLED = ("workload", "hardware", "experiment")
_LOWERED: Mapping[str, Callable[[Typer, ast.Block, FixedKeys], plan.Element | None]] = {
    "callout": callout,
    "table": table,
    "compare": comparison,
    "figure": figure,
    "formula": formula,
}
_TRUTH = Unit((), 1.0, "")

Sound = Mapping[str, Counter[str]]
"""Parts of a report without a mistake, by their text, with what they add to the typer's counts."""
_T = TypeVar("_T")


@dataclass(frozen=True)
class Lowered:
    """The metrics, expectations, claims and reports of a plan, and the mistakes in them."""

    diagnostics: tuple[Diagnostic, ...] = ()
    metrics: tuple[plan.Metric, ...] = ()
    expects: tuple[plan.Expect, ...] = ()
    claims: tuple[plan.Claim, ...] = ()
    reports: tuple[plan.Report, ...] = ()


def lower(scope: Scope, memory: LoweredReports | None = None, *, whole: bool = True, planning: bool = True) -> Lowered:
    """Lower the spec's metrics, expectations and reports to their form in the plan, and find all mistakes in them.

    If `planning` is false, no queries are made. This is quicker and finds the same mistakes. If the `memory` of the
    last check is given, only the mistakes are returned.

    Some files have no experiments and only define metrics for other files. Their metrics can't be checked. If `whole`
    is false, mistakes have removed some of the spec's experiments. Then only mistakes that do not depend on experiments
    are reported.
    """
    if not scope.experiments and whole:
        return Lowered()
    if memory is not None:
        return Lowered(_mistakes(scope, memory, whole=whole))
    findings = Findings()
    typer = Typer(scope, findings, planning=planning)
    metrics = [_metric(typer, metric) for metric in scope.metrics]
    judged: set[str] = set()
    expects = [_expect(typer, expect, judged) for expect in scope.expects]
    claims = [_claim(typer, block) for block in scope.claims]
    reports = [_report(typer, block) for block in scope.reports]
    if not whole:
        return Lowered(findings.standing_alone())
    return Lowered(
        findings.diagnostics(),
        tuple(metric for metric in metrics if metric),
        tuple(expect for expect in expects if expect),
        held_out_alike(claim for claim in claims if claim),
        tuple(report for report in reports if report),
    )


def report_mistakes(scope: Scope, reports: Iterable[ast.Block], *, whole: bool) -> tuple[Diagnostic, ...]:
    """Return the mistakes in some of a spec's reports, as `lower` finds them."""
    if not scope.experiments and whole:
        return ()
    typer = Typer(scope, findings := Findings(), planning=False)
    for block in reports:
        _report(typer, block)
    return findings.diagnostics() if whole else findings.standing_alone()


@dataclass
class LoweredReports:
    """The mistakes of the metrics and of each report, kept from one check of a spec to the next.

    All are forgotten when anything changes that expressions may refer to, or a setting that a text names. Those of a
    report are also forgotten when its block changes, or a metric that it reads.
    """

    scope: Scope | None = None
    numbers: Remembered | None = None
    reports: list[tuple[ast.Block, Remembered]] = field(default_factory=list)


@dataclass(frozen=True)
class Remembered:
    """The mistakes in some blocks. `metrics` are the metrics that the blocks read, and `amounts` says of each amount in
    their texts whether the spec sets it. `sound` are the parts of a report without a mistake."""

    findings: Findings
    metrics: Mapping[str, ast.Metric]
    amounts: Mapping[Amount, bool]
    sound: Sound = field(default_factory=dict)

    def holds_for(self, scope: Scope) -> bool:
        return all((amount in scope.settings) == is_set for amount, is_set in self.amounts.items()) and all(
            scope.metrics_by_name[name] == metric for name, metric in self.metrics.items()
        )


def _but_metrics(scope: Scope) -> tuple[Scope, Sequence[str]]:
    """Return everything that all reports depend on: the scope without its metrics, and the metrics' names."""
    return replace(scope, metrics=()), tuple(scope.metrics_by_name)


def _mistakes(scope: Scope, memory: LoweredReports, *, whole: bool) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of `lower`, taken from memory if nothing has changed."""
    without_reports = replace(scope, reports=())
    known, memory.scope = memory.scope, None
    if known is None or _but_metrics(known) != _but_metrics(without_reports):
        memory.reports = []
    if known != without_reports or memory.numbers is None or not memory.numbers.holds_for(scope):
        typer = Typer(scope, Findings(), planning=False)
        for metric in scope.metrics:
            _metric(typer, metric)
        judged: set[str] = set()
        for expect in scope.expects:
            _expect(typer, expect, judged)
        for block in scope.claims:
            _claim(typer, block)
        memory.numbers = Remembered(typer.findings, typer.metrics.read, typer.amounts)
    memory.scope = without_reports
    runs = planned_runs(scope)
    valid = [(block, lowered) for block, lowered in memory.reports if lowered.holds_for(scope)]
    same, named = {id(block): lowered for block, lowered in valid}, {_name(block): lowered for block, lowered in valid}
    memory.reports = [
        (block, same.get(id(block)) or _wrong_with(block, scope, runs, named.get(_name(block))))
        for block in scope.reports
    ]
    every = Findings()
    for lowered in (memory.numbers, *(lowered for _, lowered in memory.reports)):
        every.include(lowered.findings)
    return every.diagnostics() if whole else every.standing_alone()


def _wrong_with(block: ast.Block, scope: Scope, runs: Runs, last: Remembered | None) -> Remembered:
    """Return the mistakes of a report. The sound parts of its `last` version are not lowered again, so that what they
    read is kept."""
    typer = Typer(scope, Findings(), runs, planning=False)
    last = last or Remembered(typer.findings, {}, {})
    sound = _SoundParts(last.sound)
    _report(typer, block, sound)
    metrics, amounts = {**last.metrics, **typer.metrics.read}, {**last.amounts, **typer.amounts}
    return Remembered(typer.findings, metrics, amounts, sound.found)


class _SoundParts:
    """Finds the parts of a report that have no mistake. `known` are those of its last version.

    After a mistake, no further part is found to be sound, since a metric's mistake is reported only where the metric is
    read first.
    """

    def __init__(self, known: Sound) -> None:
        self.known = known
        self.found: dict[str, Counter[str]] = {}

    def lower(self, typer: Typer, item: ast.Item, place: FixedKeys) -> list[plan.Element]:
        """Return the elements of a part of a report, or nothing if it is known to be sound."""
        text, before = item.span.text, typer.counts.copy()
        if (counts := self.known.get(text)) is not None:
            typer.counts = before + counts
            if not typer.full() and typer.counts["unrolled"] <= MAX_ELEMENTS:
                self.found[text] = counts
                return []
            typer.counts = before
        elements = _elements(typer, [item], place, "report")
        if not len(typer.findings):
            self.found[text] = typer.counts - before
        return elements


def _metric(typer: Typer, metric: ast.Metric) -> plan.Metric | None:
    name = metric.name.text
    if what := reserved_for(name):
        return typer.refuse(metric_errors.ShadowsMeasure(metric.name.span, name, what))
    typed = typer.metric(name)
    if typed is None or not typer.is_complete(typed, metric.expr):
        return None
    if metric.better:
        warn_of_grown_sizes(typer, metric.expr, typed.term)
    repeated = typer.by_repeat(name) if typer.planning else None
    return plan.Metric(
        name=name,
        label=_label(typer, metric.label) or name,
        better="higher" if metric.better == "higher" else "lower" if metric.better == "lower" else None,
        query=query(typer, typed.term, typed.unit, metric.expr),
        repeats=query_of_repeats(typer, repeated.term, repeated.unit, metric.expr) if repeated else None,
        percentile=holds_percentiles(typed.term),
        params=named_params(metric.expr, typer.scope.params),
        origin=origin(metric.span),
    )


def _expect(typer: Typer, expect: ast.Expect, judged: set[str]) -> plan.Expect | None:
    """Return the expectation for the plan, or None after a mistake. `judged` are the experiments without repeats that
    have already caused a warning."""
    typed = typer.condition(expect.condition)
    if typed is None or not typer.is_complete(typed, expect.condition):
        return None
    typed = on_lone_hardware(typer, typed)
    warn_of_grown_sizes(typer, expect.condition, typed.term)
    unjudged = warn_of_cells(typer, expect.span, typed.term, judged)
    text = text_of(expect.condition)
    condition = expect.condition
    compared = (condition.left, condition.right) if isinstance(condition, ast.Binary) else ()
    both = [(side, on_lone_hardware(typer, found)) for side in compared if (found := typer.typed(side))]
    sides = [(side, found) for side, found in both if found.term.unit is not None]
    # A share shows the unit of its comparison: `12.8 %` beside `< 5 %`.
    shown = next((found.unit for _, found in sides if found.unit.text), None)
    better = _BETTER.get(condition.operator) if isinstance(condition, ast.Binary) else None
    asks = typer.planning and better
    written = [side for side, _ in sides]
    repeats, ranges = sides_by_repeat(typer, written, shown) if asks else ((), ())
    points, needs = points_by_repeat(typer, written, shown, better) if repeats and better else ((), "every")
    return plan.Expect(
        text=text,
        label=_label(typer, expect.label) or text,
        wording=label_of(typer, condition, shown=False) if typer.planning else text,
        query=query(typer, typed.term, _TRUTH, condition),
        sides=tuple(
            query(typer, found.term, found.unit if found.unit.text else shown or found.unit, side)
            for side, found in sides
        ),
        better=better,
        repeats=repeats,
        ranges=ranges,
        points=points,
        needs=needs,
        unjudged=unjudged,
        origin=origin(expect.span),
    )


def _claim(typer: Typer, block: ast.Block) -> plan.Claim | None:
    """Return a claim for the plan, or None after a mistake or if something else has the claim's name."""
    name = block.name
    if name and (kind := "metric" if name.text in typer.metrics else _kind_named(typer, name)):
        return typer.refuse(ClaimTaken(name.span, name.text, kind))
    planning = typer.planning
    typer.planning |= any(isinstance(item, ast.Attribute) and item.key.text == "held_out" for item in block.body)
    try:
        return claim(typer, block)  # a check counts the time of held-out repeats, so it needs their points
    finally:
        typer.planning = planning


def _kind_named(typer: Typer, name: ast.Name) -> str:
    found = subject_of(typer, name)
    if found:
        return found[0]
    if typer.facts.get(name.text):
        return "fact"
    # The series of a claim is `claim.NAME`, so that only a metric can't be called `claim`.
    reserved = "" if name.text == "claim" else reserved_for(name.text).removeprefix("a ")
    return reserved or ("value" if name.text == "value" else "")


def _label(typer: Typer, label: ast.String | None) -> str | None:
    if label is not None and label.plain is None:
        typer.report(HoleNotAllowed(label.span, "label"))
    return label.plain if label else None


# --- reports ---


def _name(report: ast.Block) -> str:
    return report.name.text if report.name else "report"


def _report(typer: Typer, block: ast.Block, sound: _SoundParts | None = None) -> plan.Report | None:
    """Return a report for the plan. With `sound`, it may lack parts, and only its mistakes count."""
    attributes = [item for item in block.body if isinstance(item, ast.Attribute) and item.key.text in _HEAD]
    head = read_attributes(typer, "report", attributes, _HEAD)
    place = FixedKeys()
    found_before = len(typer.findings)
    name = _name(block)
    titled, title_prose = heading(typer, block.label, place)
    subtitled, subtitle_prose = heading(typer, head.string("subtitle"), place)
    author = head.string("author")
    language, words = _language(typer, head)
    legal = head.string("legal")
    legal_prose = prose(typer, legal, place) if legal else None
    themes = [item for item in block.body if isinstance(item, ast.Block) and item.keyword.text == "theme"]
    for again in themes[1:]:
        typer.report(DuplicateAttribute(again.keyword.span, themes[0].keyword.span, "theme"))
    headlines = [item for item in block.body if isinstance(item, ast.Attribute) and item.key.text == _HEADLINE]
    own = [item for item in block.body if isinstance(item, ast.Attribute) and item.key.text in (FOOTNOTE, _ALLOW)]
    elsewhere = {id(item) for of in (attributes, themes, headlines, own) for item in of}
    flow = [item for item in block.body if id(item) not in elsewhere]
    allowed = exceptions(typer, [item for item in own if item.key.text == _ALLOW], REPORT_RULES)
    own = [item for item in own if item.key.text == FOOTNOTE]
    leading = _headline(typer, headlines, place, allowed)
    if sound is None:
        elements = (*leading, *_elements(typer, flow, place, "report"))
    else:
        elements = (*leading, *(each for item in flow for each in sound.lower(typer, item, place)))
    typer.findings.gather(wrong.LeftOut, found_before, wrong.LeftOut.together)
    template = _template(typer, head)
    _warn_of_length(typer, block.label, titled, template)
    warn_of_results(typer, block, allowed.keys())
    for text, key in _texts(block):
        for problem in words_around(typer, text, allowed, is_prose=key in _PROSE, is_headline=key == _HEADLINE):
            typer.report(problem)
    return plan.Report(
        name=name,
        title=titled or name,
        subtitle=subtitled,
        heading=title_prose,
        subheading=subtitle_prose,
        template=template,
        package=TEMPLATE_SPECS.source(template),
        language=language or LANGUAGES[0],
        words=words,
        author=(title(typer, author, place, "author") if author else None) or "",
        paper="letter" if head.word("paper", PAPERS) == "letter" else "a4",
        formats=_formats(typer, head),
        provenance=PROVENANCE[head.word("provenance", tuple(PROVENANCE)) or "full"],
        theme=theme(typer, themes[0]) if themes else plan.Theme(),
        parts=parts(typer, head),
        limits=_limits(typer, head, place),
        legal=legal_prose,
        disclosure="in_brief" if _stands_in_brief(block.body) else "separate",
        audience=AUDIENCES[head.word("audience", tuple(AUDIENCES)) or "customer"],
        address=_address(typer, head),
        columns=2 if head.number("columns", (1, 2)) == 2 else 1,
        layout=LAYOUTS[head.word("layout", tuple(LAYOUTS)) or "pages"],
        footnotes=footnotes(typer, block, place),
        allowed=allowed,
        elements=elements,
        origin=origin(block.span),
    )


def _warn_of_length(typer: Typer, label: ast.String | None, text: str, template: str) -> None:
    """Warn of a title of more than three lines. A number takes about four characters."""
    spec = TEMPLATE_SPECS.find(template)
    width = display_width(text) + (_NUMBER - 1) * text.count(ELLIPSIS)
    lines = math.ceil(width / (spec.title_line if isinstance(spec, TemplateSpec) else _USUAL_LINE))
    if label is not None and lines > MOST_LINES:
        typer.report(wrong.LongTitle(label.span, width, lines))


def _texts(block: ast.Block) -> Iterator[tuple[ast.String, str]]:
    """Yield each text of a report with the name of its attribute, or "" for a title."""
    if block.label:
        yield block.label, ""
    for item in block.body:
        if isinstance(item, ast.Block):
            yield from _texts(item)
        else:
            texts = (value for value in (item.label, *item.values) if isinstance(value, ast.String))
            yield from ((text, item.key.text) for text in texts)


def _address(typer: Typer, head: Body) -> str:
    """Return the published address of the disclosure, or "" if there is none or after a mistake."""
    string = head.string("address")
    if string is None or _WEB.fullmatch(string.plain or ""):
        return (string.plain or "") if string else ""
    typer.report(wrong.NoAddress(string.span, string.span.text.strip('"')))
    return ""


def _limits(typer: Typer, head: Body, place: FixedKeys) -> tuple[str, ...]:
    """Return the limits that the author states. Report anything that is not a quoted text."""
    said = []
    for value in head.values("limits"):
        for one in value.items if isinstance(value, ast.List) else (value,):
            if not isinstance(one, ast.String):
                typer.report(WrongType(one.span, "limits", "a quoted text, or several in `[...]`", described(one)))
            elif text := title(typer, one, place, "limit"):
                said.append(text)
    return tuple(said)


def _formats(typer: Typer, head: Body) -> tuple[Format, ...]:
    """Return the output formats of the report. Report anything that is not a format."""
    known: dict[str, Format] = {each: each for each in get_args(Format)}
    found: dict[Format, None] = {}
    for value in head.values("formats"):
        for one in value.items if isinstance(value, ast.List) else (value,):
            if not isinstance(one, ast.Name):
                typer.report(WrongType(one.span, "formats", "a format, or several in `[...]`", described(one)))
            elif one.text not in known:
                typer.report(UnknownWord(one.span, "formats", one.text, tuple(known)))
            else:
                found[known[one.text]] = None
    return tuple(found)


def _stands_in_brief(items: Sequence[ast.Item]) -> bool:
    """Return whether `disclosure = in_brief` is among the items or in one of their blocks."""
    return any(
        _stands_in_brief(item.body)
        if isinstance(item, ast.Block)
        else item.key.text == "disclosure" and any(text_of(value) == DISCLOSURES[1] for value in item.values)
        for item in items
    )


def _headline(
    typer: Typer, attributes: Sequence[ast.Attribute], place: FixedKeys, allowed: Collection[str]
) -> tuple[plan.HeadlineElement, ...]:
    """Return the numbers of the first page as one element, or () if there are none."""
    numbers: list[plan.HeadlineNumber | plan.Said] = []
    places: dict[str, Span] = {}
    for attribute in attributes[:MOST_HEADLINES]:
        if attribute.label is None and not isinstance(attribute.values[0], ast.String):
            numbers += _claims_named(typer, attribute, places)
            continue
        string = read_attributes(typer, "report", [attribute], (_HEADLINE,), (_HEADLINE,)).string(_HEADLINE)
        if attribute.label is None:
            typer.report(wrong.HeadlineWithoutNumber(attribute.key.span))
            continue
        value, words = prose(typer, attribute.label, place), prose(typer, string, place) if string else None
        if value and not any(isinstance(part, plan.Value) for part in value.parts):
            typer.report(wrong.HeadlineWithoutNumber(attribute.label.span))
        elif string and value and words:
            check_headline(typer, attribute, string, allowed)
            numbers.append(plan.HeadlineNumber(value=value, text=words))
    if len(attributes) > MOST_HEADLINES or len(numbers) > MOST_HEADLINES:
        last = attributes[min(len(attributes) - 1, MOST_HEADLINES)]
        typer.report(wrong.TooManyHeadlines(last.key.span, attributes[0].key.span, MOST_HEADLINES))
    return (plan.HeadlineElement(numbers=tuple(numbers)),) if numbers else ()


def _claims_named(typer: Typer, attribute: ast.Attribute, places: dict[str, Span]) -> list[plan.Said]:
    """Return the claims of `headline = efficiency` or `= [a, b]`, each once, and report anything that is not a claim.
    `places` has the places of claims that were named earlier."""
    said = []
    for value in attribute.values:
        for each in value.items if isinstance(value, ast.List) else (value,):
            if found := claim_named(typer, each):
                if earlier := places.get(found.claim):
                    typer.report(HeadlinedTwice(each.span, earlier, found.claim))
                    continue
                places[found.claim] = each.span
                said.append(found)
            elif isinstance(each, ast.Name):
                typer.report(UnknownName(each.span, "claim", each.text, tuple(typer.scope.claims_by_name)))
            else:
                typer.report(NoClaim(each.span, described(each)))
    return said


def _template(typer: Typer, head: Body) -> str:
    """Return the name of the template, or of the default one if the spec gives none or there is a mistake in it."""
    value = next(iter(head.values("template")), None)
    if isinstance(value, ast.Name) and isinstance(refused := TEMPLATE_SPECS.find(value.text), RefusedExtension):
        typer.report(UnusableExtension.of(value.span, refused))
        return TEMPLATE
    return head.word("template", TEMPLATE_SPECS.names) or TEMPLATE


def _language(typer: Typer, head: Body) -> tuple[str | None, dict[str, Entry]]:
    """Return the language, with the user's own words if there is a catalogue beside the spec."""
    value = next(iter(head.values("language")), None)
    if not isinstance(value, ast.Name) or value.text in LANGUAGES or len(head.values("language")) > 1:
        return head.word("language", LANGUAGES), {}
    path = Path(value.span.source.name).parent / f"{value.text}.toml"
    if not is_file(path):
        typer.report(wrong.UnknownLanguage(value.span, "language", value.text, LANGUAGES))
        return None, {}
    return value.text, read_catalogue(path, value.span, typer.findings)


def _elements(typer: Typer, items: Sequence[ast.Item], place: FixedKeys, parent: str) -> list[plan.Element]:
    elements: list[plan.Element] = []
    for item in items:
        if typer.full():
            break
        elements += _element(typer, item, place, parent)
    return elements


def _element(typer: Typer, item: ast.Item, place: FixedKeys, parent: str) -> list[plan.Element]:
    """Return the elements of one attribute or block. There are none after a mistake, and several for `each`."""
    if isinstance(item, ast.Attribute):
        return _attribute(typer, item, place, parent)
    match item.keyword.text:
        case "each":
            return _each(typer, item, place)
        case "section":
            made = element_title(typer, item, place)
            elements = tuple(_elements(typer, item.body, place, "section"))
            if not item.body:
                usage = 'a `text = "..."`, a table or a figure'
                typer.report(wrong.EmptyElement(item.keyword.span, "section", usage))
            return [plan.SectionElement(title=made[0], heading=made[1], elements=elements)] if made else []
        case word if word in _LOWERED:
            return _watched(typer, place, word, lambda: _made(typer, item, place)) or []
        case word:
            known = ("theme", *_BLOCKS) if parent == "report" else _BLOCKS
            problem = MisplacedBlock(item.keyword.span, parent, word, known)
            typer.report(problem)
            meant = replace(item.keyword, text=problem.replacement or "")
            readable = meant.text in _BLOCKS and meant.text != "each"  # whose head is read as another one
            return _element(typer, replace(item, keyword=meant), place, parent) if readable else []


def _made(typer: Typer, block: ast.Block, place: FixedKeys) -> list[plan.Element]:
    made = _LOWERED[block.keyword.text](typer, block, place)
    return [made] if made else []


def _attribute(typer: Typer, attribute: ast.Attribute, place: FixedKeys, parent: str) -> list[plan.Element]:
    key = attribute.key.text
    if key not in _FLOW:
        known = (*_HEAD, _HEADLINE, FOOTNOTE, _ALLOW, *_FLOW) if parent == "report" else _FLOW
        typer.report(UnknownAttribute(attribute.key.span, parent, key, known))
        return []
    body = read_attributes(typer, parent, [attribute], _FLOW)
    if key == "disclosure":
        return [plan.DisclosureElement()] if body.word(key, DISCLOSURES) else []
    string = body.string("text")
    words = _watched(typer, place, "text", lambda: prose(typer, string, place)) if string else None
    return [plan.TextElement(prose=words)] if words else []


def _each(typer: Typer, block: ast.Block, place: FixedKeys) -> list[plan.Element]:
    """Return the block's elements for each planned key of its dimension."""
    name = block.subject or block.keyword
    dim, known = name.text, (*_UNROLLED, *typer.scope.factors_by_name)
    if dim not in known:
        typer.report(UnknownWord(name.span, "each", dim, known))
        return []
    if place.key(dim) is not None:
        typer.report(wrong.EachTwice(name.span, dim))
        return []
    keys, shown = ordered(typer, dim, runs_at(typer, place).keys(dim)), _count(block.body)
    if typer.counts["unrolled"] > MAX_ELEMENTS:
        return []
    typer.counts["unrolled"] += len(keys) * shown
    if typer.counts["unrolled"] > MAX_ELEMENTS:
        product = f"{len(keys):,} of {dim} x {shown:,}"
        typer.report(wrong.TooManyElements(name.span, dim, typer.counts["unrolled"], MAX_ELEMENTS, product))
        return []
    elements: list[plan.Element] = []
    for key in keys:
        elements += _elements(typer, block.body, place.at(dim, key), "each")
    return elements


def _count(items: Sequence[ast.Item]) -> int:
    """Count the elements for one key, without those of inner `each` blocks."""
    inner = (item.body for item in items if isinstance(item, ast.Block) and item.keyword.text == "section")
    return len(items) + sum(map(_count, inner))


def _watched(typer: Typer, place: FixedKeys, kind: str, make: Callable[[], _T | None]) -> _T | None:
    """Return the result of `make`. Inside an `each`, an element that is not measured for the key is dropped with a
    warning."""
    outer, watched = typer.findings, HeldBack()
    typer.findings = watched
    try:
        made = make()
    finally:
        typer.findings = outer
    unplanned = [problem for problem in watched.problems if isinstance(problem, metric_errors.NothingPlanned)]
    errors = [problem for problem in watched.problems if problem.severity == "error"]
    if place.fixed and errors and len(unplanned) == len(errors):
        dim, key = place.fixed[-1]
        first = unplanned[0]
        outer.add(wrong.LeftOut(first.span, kind, dim, str(key), first.base))
        return None
    for problem in watched.problems:
        outer.add(problem)
    return made
