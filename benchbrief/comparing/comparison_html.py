"""The page of `bench compare --html`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchbrief.ci.verdict_files import write_file
from benchbrief.comparing.judged_contenders import Judged
from benchbrief.comparing.ranking_output import explain_unranked
from benchbrief.compiler.messages.text import mapped
from benchbrief.reports.site.comparison_pages import ranking_view, step_view
from benchbrief.reports.site.render_site import comparison_page
from benchbrief.reports.words.brief_words import CATALOGUES


def write_page(file: Path, judged: Judged, language: str) -> None:
    """Write the comparison as one page that needs no other file. Raises Stop when the file can't be written."""
    words = CATALOGUES[language]
    names = list(judged.names)
    differing = tuple((each.what, *each.each) for each in judged.differing)

    def known(text: str) -> str:
        """Return a sentence with the codes of what the stores say in it."""
        return mapped(text, lambda part: judged.sentences.get(part, part))

    if len(names) == 2:
        (outcome,) = judged.outcomes.values()
        rows = [replace(row, reason=known(row.reason)) for row in outcome.comparisons]
        made = step_view(words["site_comparison"], rows, names, words, judged.labels, differing)
        notes = judged.notes
    else:
        rankings = [replace(each, reason=known(each.reason)) for each in judged.rankings]
        made = ranking_view(words["site_comparison"], rankings, names, words, judged.labels)
        notes = (*explain_unranked(judged), *judged.notes)
    if made is None:  # nothing in common, which is refused before
        return
    contenders = tuple(
        (name, f"{each.run_dir.name}{':' if each.hardware else ''}{each.hardware}")
        for name, each in zip(names, judged.references, strict=True)
    )
    worded = tuple(words.said(known(note)) for note in notes)
    view = replace(made, contenders=contenders, differing=differing, notes=worded)
    first, *others = (run for _, run in contenders)
    title = words["site_step_of"].format(run=words.locale.listed(others), before=first)
    write_file(file, comparison_page(view, title, words))
