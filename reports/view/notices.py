"""The limits of a brief's numbers, in one sentence each. Readers must know the first ones before they read any
number."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from benchbrief.compiler.registry import ENGINE_SPECS
from benchbrief.reports.data import imported_briefs
from benchbrief.reports.data.expectations import JudgedExpectation, describe, judge_expectations, said_in_words
from benchbrief.reports.data.gaps import Gaps, name_part, reason_of
from benchbrief.reports.data.place_labels import database_name
from benchbrief.reports.data.report_data import Results, asked_cells, run_row
from benchbrief.reports.data.view_model import Limit, Notice, OriginTag, Severity
from benchbrief.reports.disclosure.systems_under_test import contradictions, meters_of, one_machine, served_by
from benchbrief.reports.notices import open_searches, repeat_variation, result_limits, run_validity
from benchbrief.reports.text.number_format import blank_before, duration
from benchbrief.reports.words.brief_words import as_sentence, counted, sentences

_NOTICED_CELLS = 4
_MOST_TAGS = 2
"""The most tags in a brief's band. Nobody would read more."""
_MOST_TAGGED = 2
"""The most workloads that a tag names."""
MOST_LIMITS = 4
"""The most limits that a brief lists, unless more of them were written by a person or are grave."""
_NAMED = 3
"""The most expectations to name in a limit. If there are more, the others are only counted."""


def notices(
    results: Results,
    gaps: Gaps,
    stated: Sequence[str] = (),
    link: str = "",
    *,
    shows: bool = True,
    computed: bool = False,
    of_sizes: bool = False,
) -> Iterator[Notice]:
    """Return all notices, numbered from 1, including one on the parts of the brief that could not be made.

    `stated` are the limits that the brief's author wrote. `shows` means that the brief shows something measured.
    `computed` means that its published numbers are computed from a source's numbers. `of_sizes` means that its headline
    has only sizes of loaded data, which do not depend on how long speeds are measured, and how often. `link` is the id
    of the test disclosure, which has the details. Without it, the notices themselves have more details.
    """
    sources: list[Callable[[], Iterable[Notice]]] = [
        lambda: _stated("notice_source_limits", results.source_limits, results),
        lambda: _stated("notice_own_limits", stated, results),
        lambda: _origin(results, computed=computed),
        lambda: _modelled_power(results),
        lambda: _one_machine(results),
        lambda: _rehearsal(results, of_sizes=of_sizes),
        lambda: _incomplete(results, detailed=not link),
        lambda: _not_made(gaps, results),
        lambda: _status(results, shows=shows),
        lambda: _expectations(results),
        lambda: open_searches.notice(results),
        lambda: repeat_variation.notice(results),
        lambda: run_validity.notice(results),
        lambda: result_limits.notice(results, of_sizes=of_sizes),
        lambda: _contradictions(results, detailed=not link),
    ]
    made = [one for at, source in enumerate(sources) for one in gaps.each(("notice", at), source, "check")]
    found = sorted(made, key=lambda one: (not one.first, one.severity != "error", not one.is_grave))
    for number, notice in enumerate(_with_few_tags(found, results), 1):
        yield replace(notice, number=number, link=notice.link or link)


def every_limit(found: Iterable[Notice]) -> tuple[Limit, ...]:
    return tuple(Limit(text, each.number) for each in found for text in each.limits)


def told_in_brief(found: Sequence[Notice], *, cap: bool = True) -> tuple[Limit, ...]:
    """Return the limits that a brief lists: first those that a person wrote or that are grave, and then others. With
    `cap`, at most `MOST_LIMITS` are listed, unless more are of the first kind. The disclosure has the rest. If that
    would be a single limit, it is listed, too.
    """
    first = [each for each in found if each.is_stated or each.is_grave or each.severity == "error"]
    limits = (*every_limit(first), *every_limit(each for each in found if each not in first))
    kept = max(MOST_LIMITS, len(every_limit(first)))
    return limits if len(limits) <= kept + 1 or not cap else limits[:kept]


_OTHER_SERVERS: tuple[tuple[str, str, str, str, Severity], ...] = (
    ("stand_in", "notice_stand_in", "tag_stand_in", "tag_stand_in_of", "error"),
    ("other_server", "notice_other_server", "tag_other_server", "tag_other_server_of", "warning"),
)
"""Programs that may replace a server's own product. Each has the fact that records it, and the notice's title, tag of
the origin, tag if it served only some workloads, and severity."""


def _origin(results: Results, *, computed: bool) -> Iterator[Notice]:
    words = results.words
    if run_row(results)["simulated"]:
        tag = OriginTag("simulated", words["notice_simulated"])
        yield Notice(words["notice_simulated"], words["notice_simulated_body"], "error", first=True, origin=tag)
    yield from imported_briefs.notices(results, computed=computed)
    for name, title, tagged, tagged_of, severity in _OTHER_SERVERS:
        for sentence, labels in served_by(name, results).items():
            said = _sentence(words.said(sentence))
            text = words["notice_served_body"].format(databases=words.locale.listed(labels), sentence=said)
            engines = {
                each.engine for each in results.plan.databases.values() if database_name(each, results.plan) in labels
            }
            own = [spec.label if (spec := ENGINE_SPECS.usable(name)) else name for name in sorted(engines)]
            own_name = words.locale.listed(own or labels)
            what = _served_alone(labels, results)
            said_of = words[tagged_of].format(what=what, engine=own_name)
            tag = OriginTag("stand_in", said_of if what else words[tagged].format(engine=own_name))
            yield Notice(words[title], text, severity, first=True, origin=tag)


def _served_alone(databases: Sequence[str], results: Results) -> str:
    """Return the names of the workloads that run on these databases, or of the databases if there are many workloads.
    Return "" if all workloads of the brief run on them."""
    plan = results.plan
    served = {True: set[str](), False: set[str]()}
    for cell in plan.cells:
        served[database_name(plan.databases[cell.database], plan) in databases].add(cell.workload)
    if not served[False]:
        return ""
    if served[False] & served[True]:  # a workload's name would not say which of its numbers are meant
        return results.words.locale.listed(databases)
    labels = dict.fromkeys(plan.workloads[key].label for key in plan.workloads if key in served[True])
    return results.words.locale.listed(labels if len(labels) <= _MOST_TAGGED else databases)


def _stated(title: str, limits: Sequence[str], results: Results) -> Iterator[Notice]:
    """Yield the limits that a person wrote, below a title that names the author."""
    words = results.words
    said = tuple(re.sub(r"(?<=\d) (?=%)", blank_before("%"), as_sentence(text, words)) for text in limits)
    if said:
        yield Notice(words[title], sentences(said, words), "warning", limits=said, is_stated=True)


def _modelled_power(results: Results) -> Iterator[Notice]:
    """Yield a notice if the watts come from a formula, or if it is unknown what they cover."""
    words = results.words
    if imported_briefs.is_imported(results) or run_row(results)["simulated"]:
        return
    if labels := meters_of("formula", results):
        text = words["notice_formula_body"].format(hardware=words.locale.in_a_sentence(labels))
        tag = OriginTag("stand_in", words["tag_formula"])
        yield Notice(words["notice_formula"], text, "error", first=True, origin=tag)
    if labels := meters_of("unknown", results):
        hardware = words.locale.in_a_sentence(labels)
        text, limit = (
            words[key].format(hardware=hardware) for key in ("notice_unknown_power_body", "limit_unknown_power")
        )
        yield Notice(words["notice_unknown_power"], text, "warning", limits=(limit,), is_grave=True)


def _one_machine(results: Results) -> Iterator[Notice]:
    """Yield a notice if all hardware is one machine, or folders on one disk. In that case the brief compares neither
    machines nor drives."""
    words, kind = results.words, one_machine(results)
    if kind:
        used = dict.fromkeys(cell.hardware for cell in results.plan.cells)
        names = words.locale.in_a_sentence(results.plan.hardware[key].label for key in used)
        tagged, title, body = _ONE_FOR_ALL[kind]
        tag = OriginTag("stand_in", counted(words, tagged, len(used)))
        yield Notice(words[title], words[body].format(names=names), "error", first=True, origin=tag)


def _rehearsal(results: Results, *, of_sizes: bool) -> Iterator[Notice]:
    """Yield a notice if each point was measured only once and only for a short time."""
    words, seconds = results.words, result_limits.rehearsed_for(results)
    if seconds is not None and not run_row(results)["simulated"]:
        title, body, tag = (
            words[key].format(time=duration(seconds))
            for key in (
                *("notice_rehearsal", "notice_rehearsal_body"),
                "tag_rehearsal_of_times" if of_sizes else "tag_rehearsal",
            )
        )
        yield Notice(title, body, "warning", is_grave=True, origin=OriginTag("rehearsal", tag))


_ONE_FOR_ALL = {
    "machine": ("tag_one_machine", "notice_one_machine", "notice_one_machine_body"),
    "disk": ("tag_one_disk", "notice_one_disk", "notice_one_disk_body"),
}
"""The notices about replacements that affect all hardware: the tag of the origin, and the notice's title and text."""


def _with_few_tags(found: Iterable[Notice], results: Results) -> Iterator[Notice]:
    """Yield the notices with at most two tags. The texts of further tags are listed among the limits, including those
    on page 1. A rehearsal's text is not listed if page 1 already says that all points were measured once."""
    tags: dict[str, None] = {}
    for one in found:
        if one.origin and one.origin.text not in tags and len(tags) == _MOST_TAGS:
            if one.origin.kind == "rehearsal" and result_limits.measures_all_once(results):
                yield replace(one, origin=None, severity="info")
                continue
            limit = as_sentence(one.origin.text, results.words)
            yield replace(one, origin=None, limits=(limit, *one.limits), is_grave=True)
        else:
            tags |= {one.origin.text: None} if one.origin else {}
            yield one


def _incomplete(results: Results, *, detailed: bool) -> Iterator[Notice]:
    words, asked = results.words, results.once(asked_cells)
    bad = [cell for cell in asked if words.status_of(cell.status, cell.reason) in ("failed", "missing")]
    if bad and not imported_briefs.is_imported(results):
        cells = [
            c.cell_id + words["aside"].format(text=words.said_briefly(c.reason) or words["no_reason"]) for c in bad
        ]
        listed = _shortened(cells, _NOTICED_CELLS if detailed else 1, results)
        text = counted(words, "notice_failed_body", len(asked), failed=len(bad), cells=listed)
        limit = counted(words, "limit_failed", len(asked), failed=len(bad))
        yield Notice(words["notice_failed"], text, "error", limits=(limit,))


def _not_made(gaps: Gaps, results: Results) -> Iterator[Notice]:
    """Yield a notice about missing parts of the brief, and one about missing drawings of figures."""
    words = results.words
    for title, body, short, only_drawn in (
        ("notice_not_made", "notice_not_made_body", "limit_not_made", False),
        ("notice_undrawn", "notice_undrawn_body", "limit_undrawn", True),
    ):
        if some := [gap for gap in gaps.found if gap.is_drawing == only_drawn]:
            parts = words.locale.listed(dict.fromkeys(name_part(gap, words) for gap in some))
            reasons = words["semicolon"].join(dict.fromkeys(reason_of(gap, words) for gap in some))
            text = counted(words, body, len(some), parts=parts, reasons=reasons)
            limits = (words[short].format(parts=parts),)
            yield Notice(words[title], text, "error", link=some[0].anchor, limits=limits)


def _status(results: Results, *, shows: bool) -> Iterator[Notice]:
    words, run = results.words, run_row(results)
    if run["status"] in ("interrupted", "unfinished"):
        status = words.named(str(run["status"]))
        good = sum(cell.status == "ok" for cell in results.cells)
        text, limit = words["notice_status_body"].format(status=status), words["limit_status"]
        if not shows:
            text, limit = counted(words, "notice_status_nothing", good, status=status), words["limit_status_nothing"]
        yield Notice(words["notice_status"], text, "error", limits=(limit,))


def _contradictions(results: Results, *, detailed: bool) -> Iterator[Notice]:
    words = results.words
    remarks = [text for hardware in results.plan.hardware.values() for text in contradictions(hardware, results)]
    if remarks:
        texts = list(dict.fromkeys(words.said(text) for text in remarks))
        facts = _shortened(texts, len(texts) if detailed else 1, results)
        text, limits = (
            counted(words, "notice_differs_body", len(texts), facts=facts),
            counted(words, "limit_differs", len(texts)),
        )
        yield Notice(words["notice_differs"], text, "warning", limits=(limits,))


def _expectations(results: Results) -> Iterator[Notice]:
    """Yield up to four notices on expectations: on those that fail, on those without a value, and on those that fail or
    hold although the repeats do not decide them."""
    if run_row(results)["simulated"]:  # its numbers decide nothing
        return
    words, found = results.words, judge_expectations(results)
    unmet = [one for one in found if one.verdict == "fails" and one.decided is not False]
    seem_unmet = [one for one in found if one.verdict == "fails" and one.decided is False]
    unknown = [one for one in found if one.verdict == "unknown"]
    vague = [one for one in found if one.verdict == "holds" and one.decided is False]

    verdicts: list[tuple[str, str, list[JudgedExpectation], Severity]] = [
        ("notice_expect", "limit_expect", unmet, "error"),
        ("notice_expect_unknown", "limit_expect_unknown", unknown, "warning"),
        ("notice_expect_undecided", "limit_expect_seems_unmet", seem_unmet, "warning"),
        ("notice_expect_undecided", "limit_expect_undecided", vague, "warning"),
    ]
    for key, short, some, severity in verdicts:
        if some:
            text = words["notice_expect_body"].format(n=len(some), total=len(found), listed=_listed(some, results))
            named = _shortened([said_in_words(one.expect, results) for one in some], _NAMED, results)
            limit = counted(words, short, len(some), listed=named)
            yield Notice(words[key], text, severity, limits=(limit,))


def _listed(found: Iterable[JudgedExpectation], results: Results) -> str:
    words = results.words
    named = [(one.expect.label if one.expect.label != one.expect.text else "", describe(one, results)) for one in found]
    return _shortened([words["colon"].join(part for part in parts if part) for parts in named], _NOTICED_CELLS, results)


def _shortened(texts: Sequence[str], most: int, results: Results) -> str:
    """Return the first `most` texts, and how many more there are."""
    more = [results.words["notice_and_more"].format(n=len(texts) - most)] if len(texts) > most else []
    return results.words["semicolon"].join((*texts[:most], *more))


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "。", "!", "?")) else f"{text}."
