"""What must be known before any number of a brief, worst first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from benchbrief.reports import disclosure as d
from benchbrief.reports import imported, limits, repeatability, validity
from benchbrief.reports.expectations import Judged, judged, told
from benchbrief.reports.facts import contradictions
from benchbrief.reports.recorded import recorded
from benchbrief.reports.source import Results
from benchbrief.reports.systems import stand_ins
from benchbrief.reports.view import Notice
from benchbrief.reports.words import counted

_NOTICED_CELLS = 4


def notices(results: Results) -> Iterable[Notice]:
    """What must be known before any number, worst first."""
    words = results.words
    if d.run_row(results)["simulated"]:
        yield Notice(words["notice_simulated"], words["notice_simulated_body"], "error")
    yield from imported.notices(results)
    for sentence, labels in stand_ins(results).items():
        said = _sentence(recorded(sentence, words))
        text = words["notice_stand_in_body"].format(databases=words.locale.listed(labels), sentence=said)
        yield Notice(words["notice_stand_in"], text, "error")
    bad = results.bad_cells
    if bad and not imported.is_imported(results):
        cells = [c.cell_id + words["aside"].format(text=c.reason or words["no_reason"]) for c in bad[:_NOTICED_CELLS]]
        if len(bad) > _NOTICED_CELLS:
            cells.append(words["notice_and_more"].format(n=len(bad) - _NOTICED_CELLS))
        listed = words["semicolon"].join(cells)
        text = counted(words, "notice_failed_body", len(results.cells), failed=len(bad), cells=listed)
        yield Notice(words["notice_failed"], text, "error")
    run = d.run_row(results)
    if run["status"] in ("interrupted", "unfinished"):
        text = words["notice_status_body"].format(status=recorded(str(run["status"]), words))
        yield Notice(words["notice_status"], text, "error")
    if not run["simulated"]:  # of made-up numbers nothing is expected
        yield from _expectations(results)
    yield from repeatability.notice(results)
    yield from validity.notice(results)
    yield from limits.notice(results)
    remarks = [text for hardware in results.plan.hardware.values() for text in contradictions(hardware, results)]
    if remarks:
        facts = words["semicolon"].join(dict.fromkeys(recorded(text, words) for text in remarks))
        yield Notice(words["notice_differs"], words["notice_differs_body"].format(facts=facts), "warning")


def _expectations(results: Results) -> Iterator[Notice]:
    """Those that do not hold, and apart from them those that can't be judged for want of a value."""
    words, found = results.words, judged(results)
    unmet = [one for one in found if one.verdict == "fails"]
    untold = [one for one in found if one.verdict == "unknown"]
    if unmet:
        yield Notice(words["notice_expect"], _listed(unmet, results), "error")
    if untold:
        yield Notice(words["notice_expect_unknown"], _listed(untold, results), "warning")


def _listed(found: Iterable[Judged], results: Results) -> str:
    words = results.words
    named = [(one.expect.label if one.expect.label != one.expect.text else "", told(one, results)) for one in found]
    return words["semicolon"].join(words["colon"].join(part for part in parts if part) for parts in named)


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "。", "!", "?")) else f"{text}."
