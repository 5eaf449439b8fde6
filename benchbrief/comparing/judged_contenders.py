"""Judges contenders: compares their results, finds other differences, and collects cautions for the reader."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from benchbrief.cli.run_options import open_results
from benchbrief.comparing.comparison_cautions import (
    Loads,
    cautions,
    compare_loads,
    ranking_cautions,
    warn_of_definitions,
    warn_of_loads,
)
from benchbrief.comparing.git_files import GitFiles
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.history.site.site_texts import metric_key
from benchbrief.model.message import Message
from benchbrief.model.plan import DimKey, Levels, Plan, key_text
from benchbrief.model.points import labels_of_levels
from benchbrief.model.units import UnknownUnitError, parse_unit
from benchbrief.results.compare.compared_quantities import by_default, pairs
from benchbrief.results.compare.comparison import ComparedQuantity, Comparison, PairOutcome
from benchbrief.results.compare.contender import Contender, Difference, differences
from benchbrief.results.compare.rankings import Pair, Ranking, rank
from benchbrief.results.runs.find_runs import find_run, list_real_runs
from benchbrief.results.store.store_schema import SENTENCES, read_sentences
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.run_folder import load_plan

_REVISION = "rev:"


class NotComparable(ResultsError):
    """Raised when the named contenders have nothing to compare, or must not be compared."""

    code = "not_comparable"


@dataclass(frozen=True)
class NamedContender:
    """A contender as named by a user. `part` is its hardware, its levels, or both separated by a comma (`nvme`,
    `codec=lz4`). "" means the whole run."""

    text: str
    run_dir: Path
    part: str = ""

    @property
    def hardware(self) -> str:
        """Return the hardware that the contender's name gives, or "" for all hardware."""
        return next((each for each in self.part.split(",") if "=" not in each), "")

    @property
    def levels(self) -> dict[str, str]:
        """Return the levels that the contender's name gives, by factor."""
        pairs = (each.partition("=") for each in self.part.split(","))
        return {factor.strip(): level.strip() for factor, equals, level in pairs if equals}


def resolve(text: str, out: Path) -> NamedContender:
    """Find the run that a text names. After a colon, the text may name hardware or levels. Raises RunnerError."""
    name, colon, part = text.rpartition(":")
    if not colon or name == _REVISION[:-1] or Path(text).is_dir():
        name, part = text, ""
    return NamedContender(text, _run(name or "last", out), part)


def _run(name: str, out: Path) -> Path:
    if name.startswith(_REVISION):
        return _of_revision(name.removeprefix(_REVISION), out)
    return find_run(out, name)


def _of_revision(revision: str, out: Path) -> Path:
    """Return the last run whose spec was the same as in a git revision. Raises RunnerError."""
    for run_dir in reversed(list_real_runs(out)):
        try:
            spec = load_plan(run_dir).spec
        except RunnerError:  # a run of another version
            continue
        if not Path(spec.name).resolve().parent.is_dir():
            continue
        files = GitFiles.at(revision, Path(spec.name))
        if all(files.sha256(Path(name)) == digest for name, digest in spec.files.items()):
            return run_dir
    hint = f"check {revision} out and run its spec; or name a run, `bench status --all` lists them"
    raise ResultsError(f"no run in {out} measured the spec of {revision}", hint)


def contender(reference: NamedContender, opened: ExitStack) -> Contender:
    """Return the contender with its results, which are closed when `opened` is closed. Raises RunnerError,
    NotComparable."""
    plan = load_plan(reference.run_dir)
    hardware, levels = _hardware(reference, plan), _levels(reference, plan)
    store = opened.enter_context(open_results(reference.run_dir))
    origin = "simulated" if store.simulated else "imported" if store.imported else "measured"
    return Contender(reference.text, plan, store, hardware, origin, levels)


def _hardware(reference: NamedContender, plan: Plan) -> str | None:
    """Return the key of the named hardware, or None for all hardware. Raises NotComparable."""
    hardware = None
    if reference.hardware:
        variants = [key for key, group in plan.hardware.items() if group.group == reference.hardware]
        if reference.hardware not in plan.hardware and len(variants) > 1:
            run = reference.text.rpartition(":")[0]
            what = f"{reference.hardware} of run {reference.run_dir.name} has {len(variants)} variants"
            raise NotComparable(what, f"name one: {', '.join(f'`{run}:{key}`' for key in variants)}")
        names = {name: key for key, group in plan.hardware.items() for name in (key, group.group)}
        names.update({key: key for key in plan.hardware})
        hardware = names.get(reference.hardware)
        if hardware is None and (factor := plan.factors.get(reference.hardware)):
            levels = ", ".join(f"`{reference.text}={key_text(each.key)}`" for each in factor.levels)
            what = f"{reference.hardware} is a factor of run {reference.run_dir.name}, not a hardware"
            raise NotComparable(what, f"name a level: {levels}")
        if hardware is None:
            guess = did_you_mean(reference.hardware, names)
            hint = f"did you mean `{guess}`?" if guess else f"it has {', '.join(plan.hardware)}"
            raise NotComparable(f"run {reference.run_dir.name} has no hardware {reference.hardware}", hint)
    return hardware


def _levels(reference: NamedContender, plan: Plan) -> Levels:
    """Return the levels that the user named by key or by label. Raises NotComparable."""
    found: dict[str, DimKey] = {}
    for name, level in reference.levels.items():
        factor = plan.factors.get(name)
        if factor is None:
            guess = did_you_mean(name, plan.factors)
            has = f"it has {', '.join(plan.factors)}" if plan.factors else "its spec varies no factor"
            what = f"run {reference.run_dir.name} has no factor {name}"
            raise NotComparable(what, f"did you mean `{guess}`?" if guess else has)
        # A level that was renamed is found by its value.
        names = {str(each.value): each.key for each in factor.levels if each.value is not None}
        names |= {name: each.key for each in factor.levels for name in (each.label, each.label.replace(" ", ""))}
        names |= {key_text(each.key): each.key for each in factor.levels}
        amount = _amount(level)
        said = level if level in names or amount is None else key_text(amount)
        if said not in names:
            guess = did_you_mean(level, names)
            has = f"it has {', '.join(key_text(each.key) for each in factor.levels)}"
            what = f"factor {name} of run {reference.run_dir.name} has no level {level}"
            raise NotComparable(what, f"did you mean `{guess}`?" if guess else has)
        found[name] = names[said]
    return Levels.of({name: found[name] for name in plan.factors if name in found})


def _amount(text: str) -> float | None:
    """Return a number with a unit in base units (1000 for `1kB`), or None for any other text."""
    found = re.fullmatch(r"([-+]?\d+(?:\.\d+)?)\s*(\D\S*)?", text)
    try:
        return float(found[1]) * (parse_unit(found[2]).factor if found[2] else 1.0) if found else None
    except UnknownUnitError:
        return None


MOST = 26
"""The most contenders that can be compared, because each is named by a letter."""


@dataclass(frozen=True)
class Differing:
    """A property that differs between contenders, with its value for each contender."""

    what: str
    each: tuple[str, ...]


@dataclass(frozen=True)
class JudgedContenders:
    """Contenders, judged against the first one. `outcomes` maps each pair to its outcome. `names` are the contenders'
    letters."""

    references: tuple[NamedContender, ...]
    origins: tuple[str, ...]
    names: str
    threshold: float
    outcomes: Mapping[Pair, PairOutcome]
    rankings: tuple[Ranking, ...]
    differing: tuple[Differing, ...]
    notes: tuple[str, ...]
    labels: Mapping[str, str]
    """The labels of hardware, workloads, levels and (by `metric_key`) metrics, as far as the contenders agree on them.
    """
    sentences: Mapping[str, Message]
    """The sentences in the contenders' stores, keyed by their English text."""

    @property
    def against_first(self) -> dict[str, PairOutcome]:
        """Return each later contender's outcome against the first contender."""
        return {self.names[second]: outcome for (first, second), outcome in self.outcomes.items() if first == 0}

    @property
    def worse(self) -> tuple[Comparison, ...]:
        return tuple(row for outcome in self.against_first.values() for row in outcome.worse)

    @property
    def unjudged(self) -> tuple[str, ...]:
        return tuple(key for outcome in self.against_first.values() for key in outcome.unknown)


def judge(
    references: Sequence[NamedContender],
    contenders: Sequence[Contender],
    metrics: Sequence[str],
    threshold: float,
    *,
    other_load: bool,
) -> JudgedContenders:
    """Judge the contenders. Raises NotComparable if they have nothing in common, or lack what the user asked for."""
    names = "".join(chr(ord("A") + place) for place in range(len(contenders)))
    places = list(combinations(range(len(contenders)), 2))
    loads = {(a, b): compare_loads(contenders[a], contenders[b]) for a, b in places}
    known = {
        pair: {each.name: each for each in found}
        for pair, (_, _, found) in zip(places, pairs(contenders, metrics=True, names=names), strict=True)
    }
    chosen = _chosen(known, contenders, metrics)
    if not other_load:
        chosen = {pair: [_with_unlike(each, loads[pair]) for each in found] for pair, found in chosen.items()}
    field = rank(chosen, threshold)
    _require_common(references, names, field.outcomes)
    found = {
        (a, b): [*loads[a, b].differences, *differences(contenders[a], contenders[b])] for a, b in places if a == 0
    }
    if len(contenders) == 2:
        (outcome,) = field.outcomes.values()
        notes = [*warn_of_loads(outcome, loads[0, 1], judged=other_load)]
        notes += cautions(contenders[0], contenders[1], outcome, threshold)
    else:
        notes = list(ranking_cautions(contenders, names, field, loads, threshold, judged=other_load))
    return JudgedContenders(
        tuple(references),
        tuple(each.origin for each in contenders),
        names,
        threshold,
        field.outcomes,
        field.rankings,
        tuple(_merged(found, len(contenders))),
        tuple(notes),
        _labels(contenders),
        {text: said for each in contenders for text, said in read_sentences(each.store.sql(SENTENCES).rows).items()},
    )


def _labels(contenders: Sequence[Contender]) -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for plan in (each.plan for each in contenders):
        labels = {key: group.label for key, group in plan.hardware.items()}
        labels |= labels_of_levels(plan)
        for key, label in (labels | {key: load.label for key, load in plan.workloads.items()}).items():
            found.setdefault(key, set()).add(label)
        for metric in plan.metrics:
            found.setdefault(metric_key(metric.name), set()).add(metric.label)
    return {key: label for key, (label, *others) in found.items() if label and not others}


def _merged(found: Mapping[Pair, Sequence[Difference]], count: int) -> Iterator[Differing]:
    """Yield each property that is not the same for all contenders, with its value for each contender."""
    values_of: dict[str, dict[int, str]] = {}
    for (_, other), each in ((pair, each) for pair, many in found.items() for each in many):
        values_of.setdefault(each.what, {0: each.first})[other] = each.second
    for what, values in values_of.items():
        yield Differing(what, tuple(values.get(place, values[0]) for place in range(count)))


def _require_common(references: Sequence[NamedContender], names: str, outcomes: Mapping[Pair, PairOutcome]) -> None:
    if any(row.first and row.second for outcome in outcomes.values() for row in outcome.comparisons):
        return
    (one, other), outcome = next(iter(outcomes.items()))
    only = f"only {names[one]} has {_some(outcome.only_first)}; only {names[other]} has {_some(outcome.only_second)}"
    texts = " and ".join(each.text for each in references)
    raise NotComparable(f"{texts} have measured no point in common", only)


def _some(keys: tuple[str, ...]) -> str:
    return ", ".join(keys[:3]) + (", ..." if len(keys) > 3 else "") if keys else "nothing"


def _with_unlike(quantity: ComparedQuantity, loads: Loads) -> ComparedQuantity:
    reasons = {point: loads.why_other(point) for point in quantity.points}
    return replace(quantity, unlike={**{point: why for point, why in reasons.items() if why}, **quantity.unlike})


def _chosen(
    known: Mapping[Pair, Mapping[str, ComparedQuantity]], contenders: Sequence[Contender], metrics: Sequence[str]
) -> dict[Pair, list[ComparedQuantity]]:
    if not metrics:
        return {
            (a, b): by_default(dict(each), contenders[a].plan, contenders[b].plan) for (a, b), each in known.items()
        }
    every = list(dict.fromkeys(name for each in known.values() for name in each))
    chosen: dict[str, None] = {}
    for wanted in metrics:
        named = [name for name in every if name == wanted or name.startswith(f"{wanted}[")]
        if not named and wanted == "errors":
            continue  # there were none
        if not named:
            words = dict.fromkeys((*every, *(name.partition("[")[0] for name in every)))
            guess = did_you_mean(wanted, words)
            hint = f"did you mean `{guess}`?" if guess else f"there are {', '.join(every)}"
            hint = next(warn_of_definitions(contenders[0], contenders[1], (wanted,)), hint)
            two = len(contenders) == 2
            raise NotComparable(
                f"the two have no `{wanted}` in common" if two else f"no two of them have `{wanted}`", hint
            )
        chosen.update(dict.fromkeys(named))
    return {pair: [each[name] for name in chosen if name in each] for pair, each in known.items()}


def compare_named(
    named: Sequence[str],
    out: Path,
    metrics: Sequence[str] = (),
    threshold: float = 0.0,
    *,
    mixed: bool = False,
    other_load: bool = False,
) -> JudgedContenders:
    """Compare each run with the first one. With `mixed`, contenders may have different origins. With `other_load`,
    points are judged even if their loads differ. Raises RunnerError, NotComparable."""
    if not 2 <= len(named) <= MOST:
        raise NotComparable(
            f"a comparison takes 2 to {MOST} contenders, and here is {len(named)}", "bench compare last~1 last"
        )
    references = [resolve(each, out) for each in named]
    with ExitStack() as opened:
        contenders = [contender(reference, opened) for reference in references]
        _refuse_same(references)
        _refuse_mixture(contenders, mixed)
        return judge(references, contenders, metrics, threshold, other_load=other_load)


def _refuse_same(references: list[NamedContender]) -> None:
    first = references[0]
    for place, second in enumerate(references):
        if bool(first.hardware) != bool(second.hardware) and not (first.levels or second.levels):
            whole = second if first.hardware else first
            hint = f"name it on both sides, as in `{whole.text}:{first.hardware or second.hardware}`, or on none"
            raise NotComparable("one side is a hardware group, the other a whole run", hint)
        for other in references[:place]:
            if (other.run_dir.resolve(), other.part) == (second.run_dir.resolve(), second.part):
                hint = "name another run (`bench status --all` lists them), or hardware: `last:hdd last:nvme`"
                raise NotComparable(f"{other.text} and {second.text} are the same run, {second.run_dir.name}", hint)


def _refuse_mixture(contenders: list[Contender], mixed: bool) -> None:
    first = contenders[0]
    for second in contenders:
        if first.origin != second.origin and not mixed:
            hint = (
                "numbers of different origin differ for reasons of their own; say --mixed to compare them all the same"
            )
            raise NotComparable(f"{first.label} was {first.origin}, and {second.label} {second.origin}", hint)
