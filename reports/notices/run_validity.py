"""Finds the limits of a run's measurements: unsteady beginnings, missed loads, repeats that ended early, tight
budgets."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from benchbrief.model import plan as p
from benchbrief.model.achieved_load import CATCHES_UP, KEEPS_UP
from benchbrief.model.budgets import first_look, is_budgeted, looks
from benchbrief.model.message import Message, spanning
from benchbrief.model.points import Curve
from benchbrief.model.precision import COMPLETE, formatted
from benchbrief.reports.data.imported_briefs import cells_of_unknown_kind, is_imported
from benchbrief.reports.data.report_data import ReportedCell, Results
from benchbrief.reports.data.view_model import Item, Notice
from benchbrief.reports.text.number_format import duration, exact_percent, percent, quantity
from benchbrief.reports.words.brief_words import as_sentence, counted, denied_of
from benchbrief.results.analysis.cautions import patchy
from benchbrief.runners.scheduling.confidence_interval import t_interval

_MOST_REASONS = 3
"""The most reasons that a notice lists. If there are more, the others are only counted."""


def disclose_budget(experiment: p.Experiment, results: Results) -> Iterable[Item]:
    """Yield the rule for repeats, how often points were measured, the level of the intervals, and why there were no
    more repeats."""
    words, rows = results.words, _rows(experiment, results)
    if not rows:
        return
    counts = [count for count, _ in rows]
    holes = {"label": experiment.label, "budget": _budget(experiment, results.plan)}
    if min(counts) == max(counts):
        yield Item("", counted(words, "v_budget_alike", max(counts), **holes))
    else:
        yield Item("", words["v_budget"].format(**holes, fewest=min(counts), most=max(counts)))
    if lost := sum(_is_lost(cell, experiment, results) for cell in results.cells):
        yield Item("", counted(words, "v_budget_missing", lost), emphasis=True)
    yield Item("", words["v_budget_first"].format(first=first_look(experiment)))
    yield Item("", words["v_budget_turns"])
    most = max(looks(results.plan, each) for each in results.plan.experiments.values())
    if most > 1:
        yield Item("", words["v_budget_level"].format(looks=most))
    if wide := _wide(experiment, [width for _, width in rows], results):
        yield Item("", wide, emphasis=True)
    reasons = _reasons(experiment, results)
    for why in reasons[:_MOST_REASONS]:
        yield Item("", words["v_budget_end"].format(why=words.said(why)))
    if more := len(reasons[_MOST_REASONS:]):
        yield Item("", counted(words, "v_budget_more_ends", more))


def budget_setting(experiment: p.Experiment, results: Results) -> str:
    """Return the text on an experiment's budget for the disclosure."""
    return results.words["d_budget"].format(budget=_budget(experiment, results.plan), high=experiment.repeats)


def _budget(experiment: p.Experiment, plan: p.Plan) -> str:
    known = [seconds for seconds in (experiment.budget_s, plan.budget_s) if seconds is not None]
    return duration(min(known))


def _rows(experiment: p.Experiment, results: Results) -> list[tuple[int, float | None]]:
    """For each point, return how often it was measured, and half the width of its interval as a share of the mean.

    The interval has the level that the brief draws, even if the experiment's own looks only need a lower one.
    """
    found: list[tuple[int, float | None]] = []
    for name, repeats, mean, sd in results.store.sql(
        "SELECT experiment, repeats, mean, sd FROM measure.spread "
        "WHERE phase IS NULL AND operation = 'all' AND mean > 0"
    ).rows:
        if name == experiment.name:
            low, high = t_interval(int(repeats), float(mean), None if sd is None else float(sd), results.words.level)
            width = (high - low) / 2 / float(mean) if low is not None and high is not None else None
            found.append((int(repeats), width))
    return found


def _wide(experiment: p.Experiment, widths: list[float | None], results: Results) -> str:
    """Return how many points have no interval or one wider than the target. Return "" if there are no such points, or
    no target."""
    if experiment.confident is None:
        return ""
    within = experiment.confident.within
    wide = [width for width in widths if width is None or width > within]
    known = [width for width in wide if width is not None]
    if not wide:
        return ""
    widest = results.words["v_budget_widest"].format(widest=percent(max(known), 1, unlike=within)) if known else ""
    holes = {"within": exact_percent(within), "widest": widest}
    return counted(results.words, "v_budget_wide", len(wide), **holes)


def _reasons(experiment: p.Experiment, results: Results) -> list[str]:
    """Return the reasons why the last repeats were not made. Reasons that differ only in their numbers are merged, with
    a range."""
    known = results.words.sentences
    of_points = {cell.reason for cell in results.cells if _is_lost(cell, experiment, results)}
    alike: dict[Hashable, list[str]] = {}
    for cell in results.cells:
        mine = cell.experiment == experiment.name and cell.status == "skipped"
        if mine and cell.reason and cell.reason not in of_points:
            said = known.get(cell.reason, cell.reason)
            alike.setdefault(said.shape if isinstance(said, Message) else said, []).append(said)
    return [_as_one(group) for group in alike.values()]


def _is_lost(cell: ReportedCell, experiment: p.Experiment, results: Results) -> bool:
    """Return whether the budget had no room for the first measurement of a point."""
    said = results.words.sentences.get(cell.reason or "")
    of_budget = isinstance(said, Message) and said.code == "budget_no_room"
    return cell.experiment == experiment.name and cell.status == "missing" and of_budget


def _as_one(group: list[str]) -> str:
    texts = [each for each in group if isinstance(each, Message)]
    return spanning(texts) if texts else group[0]


def notice(results: Results) -> Iterable[Notice]:
    """Yield everything that a reader must know before looking at numbers: transients, missed loads, and probes with too
    few samples."""
    words = results.words
    _, short, ahead = _offered(results, "notice_short_body", "notice_ahead_body")
    _, is_short, is_ahead = _offered(results, "limit_short", "limit_ahead", "limit_short_all")
    for title, text, limit in (
        ("notice_transient", _transients(results, "notice_transient_body"), _transients(results, "limit_transient")),
        (
            "notice_never_steady",
            _never_steady(results, "notice_never_steady_body", "notice_never_steady_none_body"),
            _never_steady(results, "limit_never_steady", "limit_never_steady_none"),
        ),
        ("notice_short", short, is_short),
        ("notice_ahead", ahead, is_ahead),
    ):
        if text:
            is_grave = title == "notice_short" and bool(none_kept(results))
            told = (as_sentence(limit, words),)
            yield Notice(words[title], as_sentence(text, words), "warning", limits=told, is_grave=is_grave)
    if texts := list(_sampled(results)):
        text = words["semicolon"].join(sentence.rstrip(".。") for sentence in texts)
        limits = tuple(_sampled(results, "limit_sampled", "limit_unsampled"))
        yield Notice(words["notice_sampled"], text + words["stop"].rstrip(), "warning", limits=limits)


def paragraphs(results: Results) -> Iterable[Item]:
    if text := _transients(results):
        yield Item("", text, emphasis=True)
    achieved, *missed = _offered(results)
    if achieved:
        yield Item("", achieved)
    for text in filter(None, missed):
        yield Item("", text, emphasis=True)
    if left_out := len(results.loads.keys() & set(_beyond_promises(results))):
        yield Item("", counted(results.words, "v_beyond_promise", left_out))
    for text in _sampled(results):
        yield Item("", text, emphasis=True)
    yield from _service_only(results)
    for experiment in results.plan.experiments.values():
        if is_budgeted(results.plan, experiment) and not is_imported(results):
            yield from disclose_budget(experiment, results)
        elif experiment.confident and not is_imported(results):
            yield from _confident(experiment, experiment.confident, results)


def _transients(results: Results, key: str = "v_transient") -> str:
    """Return a text on how many measured windows begin unsteadily, which names the worst of them, or "" if none
    does."""
    # A window that the rule can't judge counts as a measurement too.
    rows = results.store.sql(
        "SELECT cell_id, transient_s, measured_s, count(*) OVER (), (SELECT count(*) FROM cells WHERE status = 'ok') "
        "FROM cells WHERE status = 'ok' AND transient_s <> 0 "
        "ORDER BY transient_s / measured_s DESC NULLS LAST, cell_id LIMIT 1"
    ).rows
    if not rows:
        return ""
    cell, seconds, window, noted, measured = rows[0]
    digits = ".0f" if seconds >= 10 else ".2g"
    worst = {"cell": cell, "seconds": formatted(seconds, digits), "window": formatted(window, digits)}
    return counted(results.words, key, measured, noted=noted, **worst)


def _never_steady(results: Results, key: str, none: str) -> str:
    """Return a text on how many measurements did not become steady within their longest time, or "" if there are
    none."""
    rows = results.store.sql(
        "SELECT cell_id, steady, most_s FROM steady_ends JOIN cells USING (run_id, cell_id) WHERE status = 'ok' "
        "ORDER BY cell_id"
    ).rows
    late = [(str(cell), float(most)) for cell, steady, most in rows if not steady]
    if not late:
        return ""
    first, most = late[0]
    return denied_of(results.words, key, none, len(late), len(rows), cell=first, most=duration(most))


def _sampled(results: Results, some: str = "v_sampled", none: str = "v_unsampled") -> Iterable[str]:
    for found in patchy(results.store):
        if found.without and is_imported(results):  # the plan has this probe, and the source has no samples of it
            continue
        holes = {**found._asdict(), "share": percent(found.share, unlike=COMPLETE)}
        yield results.words.form(none if found.without else some, found.of).format(**holes)


def _offered(
    results: Results, key_short: str = "v_short", key_ahead: str = "v_ahead", key_none: str = ""
) -> tuple[str, str, str]:
    """Return a sentence saying whether all offered loads were achieved, or some were missed or exceeded. Return "" if
    no load was offered.

    `key_none` is the key of the sentence to use if there are several offered loads and none was achieved.

    A search for a promise also offers rates beyond the limit that it finds. These rates do not count.
    """
    loads, cells = results.loads, _judged(results)
    if not cells:
        return "", "", ""
    short = [cell for cell in cells if loads[cell].is_short]
    ahead = [cell for cell in reversed(cells) if loads[cell].is_ahead]
    if not short and not ahead:
        return counted(results.words, "v_offered", len(cells)), "", ""

    def sentence(key: str, missed: list[str]) -> str:
        if not missed:
            return ""
        worst = loads[missed[0]]
        unlike = CATCHES_UP if not worst.is_short else KEEPS_UP if worst.share > 0.5 else 0.0
        return counted(
            results.words,
            key,
            len(cells),
            missed=len(missed),
            share=percent(worst.share, unlike=unlike),
            achieved=quantity(worst.achieved, "ops/s"),
            offered=quantity(worst.offered, "ops/s"),
            cell=missed[0],
        )

    key = key_none if key_none and none_kept(results) else key_short
    return "", sentence(key, short), sentence(key_ahead, ahead)


def none_kept(results: Results) -> list[str]:
    """If there are several cells with an offered load and each missed it, return them all, or else []. The brief names
    them in a limit."""
    cells = _judged(results)
    return cells if len(cells) > 1 and all(results.loads[cell].is_short for cell in cells) else []


def _judged(results: Results) -> list[str]:
    """Return the cells whose loads count, beginning with the smallest achieved share."""
    loads, beyond = results.loads, set(_beyond_promises(results))
    known = [cell.cell_id for cell in results.cells if cell.cell_id in loads and cell.cell_id not in beyond]
    return sorted(known, key=lambda cell: loads[cell].share)


def _beyond_promises(results: Results) -> Iterable[str]:
    """Yield cells at rates beyond a search's result. There, the search found that the promise is broken or that the
    load generator is too slow."""
    found = {
        (*search.curve, runs.rate)
        for search in results.promises
        for runs in search.rates
        if runs.verdict in ("broken", "beyond")
    }
    return (cell.cell_id for cell in results.cells if (*Curve.of(cell), cell.target) in found)


def _service_only(results: Results) -> Iterable[Item]:
    """Yield an item for each tool that, at an offered load, hides (or may hide) how long operations wait for their
    turn."""
    rows = results.store.sql("SELECT DISTINCT cell_id FROM operations WHERE kind = 'intended'").rows
    intended = {cell for (cell,) in rows}
    offering = [c for c in results.plan.cells if c.target is not None or c.target_from is not None]
    measured = {cell.cell_id for cell in results.cells if cell.status == "ok"}
    unknown = cells_of_unknown_kind(results)
    without = [c for c in offering if c.id in measured and c.id not in intended]
    found = dict.fromkeys(("v_unknown_kind" if c.id in unknown else "v_service_only", c.tool.driver) for c in without)
    for key, driver in found:
        yield Item("", results.words[key].format(tool=driver), emphasis=True)


def _confident(experiment: p.Experiment, rule: p.Confident, results: Results) -> Iterable[Item]:
    words = results.words
    rows = results.store.sql(
        "SELECT experiment, repeats, mean, sd FROM measure.spread "
        "WHERE phase IS NULL AND operation = 'all' AND mean > 0"
    ).rows
    widths = []
    for name, repeats, mean, sd in rows:
        low, high = t_interval(int(repeats), float(mean), None if sd is None else float(sd))
        if name == experiment.name and low is not None and high is not None:
            widths.append((high - low) / 2 / float(mean))
    if not widths:
        return
    within = exact_percent(rule.within)
    wide = sum(width > rule.within for width in widths)
    more = counted(words, "v_unconfident", wide, widest=percent(max(widths), 1, unlike=rule.within)) if wide else ""
    ends = {"fewest": rule.at_least, "most": experiment.repeats}
    text = words["v_confident"].format(label=experiment.label, within=within, **ends)
    yield Item("", f"{text}{more}", emphasis=bool(wide))
