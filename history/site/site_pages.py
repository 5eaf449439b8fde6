"""The views of a site's pages, made from its runs.

The hardware of a run is ranked, and a run is compared with the one before it, by the rules of `bench compare`
(`results/compare/`). Quantities that were defined differently are not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from markupsafe import Markup

from benchbrief.history.many_runs import PARTED, RunValue, SiteRun, Suite
from benchbrief.history.site.comparison_pages import ranking_view, step_view
from benchbrief.history.site.site_texts import (
    MISSING,
    change_text,
    date_of,
    metric_key,
    p_text,
    point_text,
    quantity_name,
    same_dims,
    shown_value,
    slug,
    spread_text,
    value_text,
    worth,
)
from benchbrief.history.site.site_trends import ERRORS, PlacedChange, SuiteTrends, TrendLine, is_shown
from benchbrief.history.site.site_view import (
    ComparisonView,
    HardwareLine,
    HomeView,
    Link,
    RunLine,
    RunPage,
    SuiteCard,
    SuiteView,
    TrendCard,
    ValueRow,
)
from benchbrief.history.site.suite_chart import MOST, DrawnSuite, Mark, chart
from benchbrief.model.plan import Dimension, DimKey
from benchbrief.model.points import PointKeys, word_of_key
from benchbrief.reports.data.numbers_file import OF_DISCLOSURE
from benchbrief.reports.words.brief_words import Words, counted
from benchbrief.results.compare.comparison import ComparedQuantity, Comparison, compare
from benchbrief.results.compare.rankings import Pair, Ranking, rank
from benchbrief.results.result_messages import say
from benchbrief.results.statistics.change_points import FEWEST

MOST_CONTENDERS = 16
"""The most hardware groups, or levels of a factor, to rank. The number of pairs grows with the square of this."""


def ranked_dims(run: SiteRun) -> Iterator[Dimension]:
    """Yield the dimensions that can be ranked because several of their keys were measured: the hardware, then
    factors."""
    factors = (word.removesuffix("=") for word in run.levels if word.endswith("="))
    yield from (dim for dim in ("hardware", *factors) if 2 <= len(_measured_keys(run, dim)) <= MOST_CONTENDERS)


def rankings_of(run: SiteRun, dim: Dimension) -> list[Ranking]:
    """Return rankings of a run's hardware, or of the levels of a factor, at each point."""
    keys = _measured_keys(run, dim)
    sides = [
        _by_point([v for v in run.values if v.point.get(dim) == key], lambda value: value.without(dim)) for key in keys
    ]
    names = [str(key) if dim == "hardware" else label for key, label in keys.items()]
    # The settings of levels are part of a value's definition, and are what is compared.
    pairs = {
        pair: _quantities(sides, pair, names, by_definition=dim == "hardware")
        for pair in combinations(range(len(keys)), 2)
    }
    return list(rank(pairs).rankings)


def _measured_keys(run: SiteRun, dim: Dimension) -> dict[DimKey, str]:
    """Return the label of each measured key of a dimension, in the order of the spec."""
    keys = {word_of_key(dim, key): key for each in run.values if (key := each.point.get(dim)) is not None}
    labels = run.hardware if dim == "hardware" else run.levels
    return {keys[word]: label for word, label in labels.items() if word in keys}


def judge_by_earlier(run: SiteRun, before: SiteRun) -> list[Comparison]:
    """Return the comparison of a run with an earlier run of its suite, point by point."""
    sides = [_by_point(each.values, lambda value: value.at) for each in (before, run)]
    return list(compare(_quantities(sides, (0, 1), (before.id, run.id))).comparisons)


def changed_facts(run: SiteRun, before: SiteRun) -> list[tuple[str, str, str]]:
    """Return the facts of hosts, tools and servers that differ between two runs, with both values."""
    one, other = (_facts(each) for each in (before, run))
    names = dict.fromkeys((*one, *other))
    return [(name, one.get(name, ""), other.get(name, "")) for name in names if one.get(name) != other.get(name)]


def _facts(run: SiteRun) -> dict[str, str]:
    found: dict[str, dict[str, None]] = {}
    for facts in run.facts.values():
        for name, value in facts.items():
            found.setdefault(name, {}).setdefault(value)
    return {name: ", ".join(values) for name, values in found.items()}


_Side = Mapping[tuple[str, PointKeys], RunValue]


def _by_point(values: Sequence[RunValue], at: Callable[[RunValue], PointKeys]) -> _Side:
    return {(value.quantity, at(value)): value for value in values if is_shown(value) or value.quantity == ERRORS}


def _quantities(
    sides: Sequence[_Side], pair: Pair, names: Sequence[str], *, by_definition: bool = True
) -> list[ComparedQuantity]:
    one, other = (sides[place] for place in pair)
    points: dict[str, dict[PointKeys, tuple[RunValue | None, RunValue | None]]] = {}
    for quantity, point in dict.fromkeys((*one, *other)):
        both = one.get((quantity, point)), other.get((quantity, point))
        if quantity == ERRORS and not any(value.value for side in sides if (value := side.get((quantity, point)))):
            continue  # no contender has any
        points.setdefault(quantity, {})[point] = both
    made = []
    for quantity, at in points.items():
        known = next(value for both in at.values() for value in both if value is not None)
        otherwise = [point for point, (a, b) in at.items() if a and b and a.definition != b.definition]
        unlike = dict.fromkeys(otherwise if by_definition else (), say.defined_otherwise())
        values = {point: (a.values if a else None, b.values if b else None) for point, (a, b) in at.items()}
        called = names[pair[0]], names[pair[1]]
        by_ratio = all(value.by_ratio for both in at.values() for value in both if value is not None)
        made.append(
            ComparedQuantity(quantity, known.unit, known.better, values, unlike, by_ratio=by_ratio, names=called)
        )
    return made


def trend_cards(lines: Sequence[TrendLine], labels: Mapping[str, str], words: Words) -> Iterator[TrendCard]:
    """Yield a card for each line. `labels` names hardware and workloads."""
    hidden = same_dims([line.point for line in lines])
    for line in lines:
        point = point_text(line.point, words, hidden, labels)
        if line.series.control:
            point += words["aside"].format(text=words["site_control"])
        yield _card(line, point, words)


def _card(line: TrendLine, point: str, words: Words) -> TrendCard:
    text = words["site_too_few_runs" if has_few_runs(line) else "site_no_change"]
    is_noise = bool(line.changes) and line.changes[-1].change.is_noise
    if (shown := line.current or (line.changes[-1] if is_noise else None)) is not None:
        text = words["site_last_change"].format(change=_by(shown), date=f"{shown.change.first.at:%Y-%m-%d}")
        text = " · ".join((text, *_known(shown, words)))
    last = [each for each in line.values if each.value is not None][-1]
    return TrendCard(
        quantity_name(line.series.quantity, line.series.label, words),
        point,
        last.doubt.mark + value_text(last.value, line.unit),
        text,
        _state(line, line.current) if line.current else "steady",
        _svg(line, point, words),
        tuple(
            (
                each.change.first.run_id,
                f"{each.change.first.at:%Y-%m-%d %H:%M}",
                _by(each),
                " · ".join((_sure(each), *_known(each, words))),
            )
            for each in line.changes
        ),
    )


def has_few_runs(line: TrendLine) -> bool:
    """Return whether no change was found and there are too few runs to find one."""
    return not line.changes and len(line.series.parts[-1].known) <= FEWEST


def _state(line: TrendLine, placed: PlacedChange) -> str:
    """Return worse, better or differs. Return lab if a control shows the change too, and accepted if people have
    accepted the change."""
    if line.series.control or (placed.change.lab is not None and placed.change.lab.is_lab):
        return "lab"
    if placed.change.verdict is not None and placed.change.verdict.verdict == "accept":
        return "accepted"
    return worth(placed.change)


def _by(placed: PlacedChange) -> str:
    """Return the change as `−5.1 %` or, if there is no ratio, as a difference in the unit."""
    change = placed.change
    if change.ratio is not None:
        return change_text(change.ratio)
    apart = change.after - change.before
    return f"{'−' if apart < 0 else '+'}{value_text(abs(apart), placed.unit)}"


def _sure(placed: PlacedChange) -> str:
    """Return the certainty of a change: its 95 % interval, if any, and the p-value."""
    p, ends = p_text(placed.change.p), placed.change.interval
    return f"({' … '.join(change_text(end) for end in ends)}) {p}" if ends else p


def _known(placed: PlacedChange, words: Words) -> Iterator[str]:
    """Yield what the control series and people say about a change."""
    lab, verdict = placed.change.lab, placed.change.verdict
    if lab is not None and lab.is_lab:
        yield words["site_lab"].format(change=change_text(lab.change))
    elif lab is not None and lab.is_part:
        yield words["site_lab_part"].format(change=change_text(lab.change), rest=change_text(lab.rest))
    if verdict is not None:
        text = words[f"site_said_{verdict.verdict}"]
        yield f"{text}{words['colon']}{verdict.note}" if verdict.note else text


def _svg(line: TrendLine, point: str, words: Words) -> Markup:
    values = tuple(each.value for each in line.values)
    known = [value for value in values if value is not None]
    (last,) = [each for each in line.values if each.value is not None][-1:]
    low, high = value_text(min(known), line.unit), value_text(max(known), line.unit)
    marks = [
        Mark(each.index, _by(each), _state(line, each))
        for each in line.changes
        if each.index is not None and not each.change.is_noise
    ]
    alt = words["site_chart"].format(
        quantity=quantity_name(line.series.quantity, line.series.label, words),
        point=point,
        n=len(known),
        low=low,
        high=high,
        last=last.doubt.mark + value_text(last.value, line.unit),
        changes=words["site_too_few_runs"] if has_few_runs(line) else counted(words, "site_changes", len(marks)),
    )
    times = tuple(each.at.timestamp() for each in line.values)
    return chart(DrawnSuite(values, times, line.parts, marks, low, high, alt))


RECENT = 12
_SHARED = ("tool ", "database ", "load generator ", "source ")


def run_href(run: SiteRun) -> str:
    return f"runs/{slug(run.id)}.html"


def brief_href(run: SiteRun, path: str) -> str:
    folder, _, name = path.rpartition("/")
    stem, _, kind = name.rpartition(".")
    return f"briefs/{slug(run.id)}/{slug(f'{folder}/{stem}'.removeprefix('reports/'))}.{kind}"


def suite_href(suite: Suite) -> str:
    spec, profile, origin = suite
    return f"suites/{slug(chr(10).join((spec, profile, origin.removeprefix('measured'))).rstrip())}.html"


def suite_name(suite: Suite, words: Words) -> str:
    spec, profile, origin = suite
    parts = [profile, "" if origin == "measured" else words[f"site_{origin}"]]
    aside = ", ".join(part for part in parts if part)
    return words["aside"].join((spec, "")).replace("{text}", aside) if aside else spec


def in_suites(runs: Sequence[SiteRun]) -> dict[Suite, list[SiteRun]]:
    """Return the readable runs by suite, oldest first. The suite with the latest run comes first."""
    found: dict[Suite, list[SiteRun]] = {}
    for run in sorted(runs, key=lambda run: (run.at, run.id)):
        if not run.problem:
            found.setdefault(run.suite, []).append(run)
    return dict(sorted(found.items(), key=lambda pair: (-pair[1][-1].at, pair[0])))


def run_line(run: SiteRun, words: Words) -> RunLine:
    kind = "broken" if run.problem else "failed" if run.failed or run.state != "done" else run.origin
    cells = counted(words, "site_cells", run.planned)
    if run.failed:
        cells = words["site_failed_cells"].format(cells=cells, failed=run.failed)
    briefs = tuple(
        Link(each.path.rpartition(".")[2].upper(), brief_href(run, each.path))
        for each in run.briefs
        if not each.problem and not OF_DISCLOSURE.search(each.path)
    )
    known = {"done", "failed", "interrupted"}
    state = words[f"site_{run.state}"] if run.state in known else run.state
    if run.problem:
        state, cells = words["site_broken"], ""
    suite = None if run.problem and not run.spec else Link(suite_name(run.suite, words), suite_href(run.suite))
    origin = "" if run.origin == "measured" or run.problem else f"{words[f'site_{run.origin}']}, "
    link = Link(run.id, run_href(run))
    return RunLine(link, run.title, suite, date_of(run.at), origin + state, kind, cells, briefs, run.problem)


def home_view(title: str, runs: Sequence[SiteRun], cards: Sequence[SuiteCard], words: Words) -> HomeView:
    latest = sorted(runs, key=lambda run: (run.at, run.id), reverse=True)
    good = [run for run in latest if not run.problem]
    broken = tuple(run_line(run, words) for run in latest if run.problem)
    counts = (
        (words["site_runs"], f"{len(runs):,}"),
        (words["site_suites"], f"{len(cards):,}"),
        (words["site_last_run"], date_of(good[0].at) if good else MISSING),
        (words["site_unreadable"], f"{len(broken):,}"),
    )
    summary = counted(words, "site_counts", len(runs), suites=counted(words, "site_counts_suites", len(cards)))
    return HomeView(title, summary, tuple(cards), tuple(run_line(run, words) for run in good[:RECENT]), broken, counts)


def suite_view(suite: Suite, runs: Sequence[SiteRun], words: Words, trends: SuiteTrends) -> SuiteView:
    """Return the view of a suite's page: its trends, a comparison of the last run with the previous one, and a ranking
    of the last run's hardware."""
    lines = trends.lines
    last, labels = runs[-1], _labels(runs[-1])
    grouped: dict[str, list[TrendCard]] = {}
    cards = list(trend_cards(lines, labels, words))
    for line, card in zip(lines, cards, strict=True):
        sense = words[f"site_{line.series.better or 'none'}_better"]
        grouped.setdefault(f"{card.title} · {sense}", []).append(card)
    named = suite_name(last.suite, words)
    worse = sum(card.state == "worse" for card in cards)
    changed = sum(bool(line.changes) for line in lines)
    summary = counted(words, "site_trends", len(lines), changed=changed) if lines else ""
    if lines and all(map(has_few_runs, lines)):
        summary = counted(words, "site_trends_few", len(lines))
    card_of = SuiteCard(
        Link(last.title or suite[0], suite_href(suite)),
        named,
        counted(words, "site_run_count", len(runs)),
        date_of(last.at),
        "worse" if worse else "failed" if last.failed or last.state != "done" else "steady",
        f"{summary} {counted(words, 'site_worse_now', worse)}" if worse else summary,
        next((card for card in cards if card.state == "worse"), cards[0] if cards else None),
    )
    return SuiteView(
        card_of,
        tuple((name, tuple(found)) for name, found in grouped.items()),
        " ".join(_left_out(trends, len(runs), words)),
        _ranking(last, "site_ranked_of", words),
        _step(last, runs[-2], words) if len(runs) > 1 else None,
        tuple(run_line(run, words) for run in reversed(runs)),
    )


def _left_out(trends: SuiteTrends, runs: int, words: Words) -> Iterator[str]:
    if runs > MOST:
        yield words["site_most"].format(n=MOST)
    if trends.wrong_clocks:
        yield counted(words, "site_wrong_clocks", trends.wrong_clocks)
    if trends.reused:
        yield counted(words, "site_reused", trends.reused)


def _labels(run: SiteRun) -> dict[str, str]:
    return {**run.labels, **{metric_key(value.quantity): value.label for value in run.values if value.label}}


def _ranking(run: SiteRun, title: str, words: Words) -> ComparisonView | None:
    """Return the ranking along the first of `ranked_dims`, or None if there is none."""
    dim = next(ranked_dims(run), None)
    if dim is None:
        return None
    name = words["hardware"] if dim == "hardware" else run.levels[f"{dim}="]
    heads = list(_measured_keys(run, dim).values())
    return ranking_view(words[title].format(name=name, run=run.id), rankings_of(run, dim), heads, words, _labels(run))


def _step(run: SiteRun, before: SiteRun, words: Words) -> ComparisonView | None:
    return step_view(
        words["site_step_of"].format(run=run.id, before=before.id),
        judge_by_earlier(run, before),
        (words["site_before"], words["site_now"]),
        words,
        _labels(run),
        changed_facts(run, before),
    )


def run_view(run: SiteRun, words: Words) -> RunPage:
    """Return the view of a run's page: a description of the run, its briefs, its values, and a ranking of its
    hardware."""
    grouped: dict[str, list[RunValue]] = {}
    for value in run.values:
        grouped.setdefault(value.quantity, []).append(value)
    hidden = same_dims([value.at for value in run.values]) - {"hardware"}
    values = tuple(
        (
            quantity_name(name, found[0].label, words),
            tuple(
                ValueRow(
                    point_text(value.at, words, hidden, run.labels),
                    shown_value(value.values, value.unit),
                    spread_text(value.values),
                    f"{len(value.repeats)}",
                    words.said(value.reason),
                )
                for value in found
            ),
        )
        for name, found in grouped.items()
    )
    line = run_line(run, words)
    facts = [
        (words["site_measured"], date_of(run.at)),
        (words["site_state"], line.state),
        (words["site_cells_head"], line.cells),
        (words["site_revision"], run.revision),
        (words["site_tags"], ", ".join(run.tags)),
    ]
    briefs = tuple(
        Link(f"{each.path.removeprefix('reports/')}", brief_href(run, each.path))
        for each in run.briefs
        if not each.problem
    )
    problems = tuple(
        words["site_brief_parted" if each.problem == PARTED else "site_brief_changed"].format(path=each.path)
        for each in run.briefs
        if each.problem
    )
    environments = tuple(
        (f"{words['site_environment']} {key[:8]}", tuple(found.items())) for key, found in run.facts.items() if found
    )
    ranking = _ranking(run, "site_ranked", words)
    notice = words["notice_simulated_body"] if run.origin == "simulated" else ""
    shown = tuple((name, text) for name, text in facts if text)
    return RunPage(line, shown, briefs, problems, values, ranking, environments, notice)


def hardware_lines(runs: Sequence[SiteRun], words: Words) -> list[HardwareLine]:
    """Return the name and the facts of each measured hardware group, the most recently measured first."""
    found: dict[tuple[str, tuple[tuple[str, str], ...]], list[SiteRun]] = {}
    for run in sorted(runs, key=lambda run: (run.at, run.id)):
        facts_of: dict[str, dict[str, str]] = {}
        for value in run.values:
            if isinstance(key := value.point.get("hardware"), str):
                facts = run.facts.get(value.environment, {})
                facts_of[key] = {name: text for name, text in facts.items() if not name.startswith(_SHARED)}
        for key, facts in facts_of.items():
            found.setdefault((run.hardware.get(key, key), tuple(facts.items())), []).append(run)
    lines = [
        HardwareLine(
            name,
            facts,
            counted(words, "site_run_count", len(seen)),
            date_of(seen[0].at),
            date_of(seen[-1].at),
            tuple(Link(run.id, run_href(run)) for run in seen[-3:][::-1]),
        )
        for (name, facts), seen in found.items()
    ]
    return sorted(lines, key=lambda line: line.last, reverse=True)
