"""The page of `bench compare --html`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchbrief.ci.verdict_files import write_file
from benchbrief.comparing.judged_contenders import Judged
from benchbrief.comparing.ranking_output import untold_reasons


def write_page(file: Path, title: str, judged: Judged) -> None:
    """Write the comparison as one page that needs no other file. Raises Stop when the file can't be written."""
    from benchbrief.reports.site.comparison_pages import ranking_view, step_view
    from benchbrief.reports.site.render_site import comparison_page
    from benchbrief.reports.words.brief_words import CATALOGUES

    words = CATALOGUES["en"]
    names = list(judged.names)
    differing = tuple((each.what, *each.each) for each in judged.differing)
    if len(names) == 2:
        (outcome,) = judged.outcomes.values()
        made = step_view(words["site_comparison"], outcome.comparisons, names, words, judged.labels, differing)
        notes = judged.notes
    else:
        made = ranking_view(words["site_comparison"], judged.rankings, names, words, judged.labels)
        notes = (*untold_reasons(judged), *judged.notes)
    if made is None:  # nothing in common, which is refused before
        return
    contenders = tuple(
        (name, f"{each.run_dir.name}{':' if each.hardware else ''}{each.hardware}")
        for name, each in zip(names, judged.references, strict=True)
    )
    view = replace(made, contenders=contenders, differing=differing, notes=notes)
    write_file(file, comparison_page(view, title, words))
