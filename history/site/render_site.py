"""Writes the pages of a site. Only content that is new or has changed is read and rendered."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from benchbrief.dsl.bench_error import BenchError
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.history.many_runs import RunPlace, SiteRun, Suite, read_kept
from benchbrief.history.site.site_folder import SiteFolder
from benchbrief.history.site.site_pages import (
    brief_href,
    hardware_lines,
    home_view,
    in_suites,
    run_href,
    run_line,
    run_view,
    suite_href,
    suite_name,
    suite_view,
)
from benchbrief.history.site.site_texts import slug
from benchbrief.history.site.site_trends import NO_RULES, SuiteTrends, TrendRules, suite_trends
from benchbrief.history.site.site_view import ComparisonView
from benchbrief.history.site.suite_chart import MOST
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.render.templating import make_environment, render_template
from benchbrief.reports.text.html_markup import writable
from benchbrief.reports.text.number_format import written_as
from benchbrief.reports.words.brief_words import Words


@dataclass(frozen=True)
class MadeSite:
    """The outcome of making a site.

    `read` counts the runs that were new or have changed, and `written` counts the files. `broken` are the runs with a
    problem. `kept` are files that no page needs any more, but that somebody has edited.
    """

    runs: int
    read: int
    written: int
    broken: tuple[SiteRun, ...]
    kept: tuple[str, ...]
    problems: tuple[str, ...]


def render_site(
    place: RunPlace,
    folder: SiteFolder,
    title: str,
    words: Words,
    rules: TrendRules = NO_RULES,
    progress: Callable[[int, int], None] = lambda _done, _of: None,
) -> MadeSite:
    """Write the whole site. `rules` are the rules for trends.

    Raises ReportError, and RunnerError if the place of the runs can't be reached.
    """
    stamps = place.stamps()
    runs, read = _read_runs(place, folder, stamps, progress)
    problems: list[str] = []
    with written_as(words.locale):
        _render(place, folder, Pages(title, words), runs, rules, problems)
    kept = folder.finish()
    broken = tuple(run for run in runs if run.problem)
    return MadeSite(len(runs), read, folder.written, broken, tuple(kept), tuple(problems))


def _data_name(run_id: str) -> str:
    return f"data/{slug(run_id)}.json"


def _read_runs(
    place: RunPlace, folder: SiteFolder, stamps: Mapping[str, str], progress: Callable[[int, int], None]
) -> tuple[list[SiteRun], int]:
    known: dict[str, SiteRun] = {}
    for run_id, stamp in stamps.items():
        kept = read_kept(folder.root / _data_name(run_id))
        if kept and kept.id == run_id and kept.stamp == stamp and folder.keep(_data_name(run_id)):
            known[run_id] = kept
    new = sorted(run for run in stamps if run not in known)
    for count, run in enumerate(place.read(new), 1):
        known[run.id] = run
        folder.write(_data_name(run.id), run.model_dump_json().encode())
        progress(count, len(new))
    return [known[run_id] for run_id in sorted(known)], len(new)


def _render(
    place: RunPlace,
    folder: SiteFolder,
    pages: Pages,
    runs: Sequence[SiteRun],
    rules: TrendRules,
    problems: list[str],
) -> None:
    words = pages.words
    for name, content in pages.assets():
        folder.write(name, content)
    suites, trends = in_suites(runs), suite_trends(runs, MOST, rules)
    cards = []
    for suite, found in suites.items():
        view = suite_view(suite, found, words, trends.get(suite, SuiteTrends()))
        cards.append(view.card)
        folder.write(view.card.link.href, pages.page("suite", view.card.link.text, {"view": view}, depth=1))
    latest = sorted(runs, key=lambda run: (run.at, run.id), reverse=True)
    for run in latest:
        _run_page(place, folder, pages, run, problems)
    lines = [run_line(run, words) for run in latest]
    folder.write("runs.html", pages.page("runs", words["site_runs"], {"runs": lines}))
    hardware = hardware_lines(runs, words)
    folder.write("hardware.html", pages.page("hardware", words["hardware"], {"hardware": hardware}))
    home = home_view(pages.title, runs, cards, words)
    folder.write("index.html", pages.page("home", pages.title, {"view": home}))
    folder.write("assets/search-index.js", _index(suites, latest, words))


def _run_page(place: RunPlace, folder: SiteFolder, pages: Pages, run: SiteRun, problems: list[str]) -> None:
    """Write a run's page and its briefs, unless the same version of benchbrief has made them from the same data and
    words."""
    for brief in run.briefs:
        name = brief_href(run, brief.path)
        if brief.problem or folder.has(name, brief.sha256):
            continue
        try:
            folder.put(name, brief.sha256, partial(place.fetch, run, brief))
        except BenchError as error:
            if isinstance(error, ReportError) and error.__cause__ is not None:
                raise  # the site's own folder
            problems.append(f"{run.id}: {brief.path}: {error.message}")
    name = run_href(run)
    made_of = hashlib.sha256(pages.made_of + run.model_dump_json().encode()).hexdigest()
    if folder.is_made_of(name, made_of):
        return
    view = run_view(run, pages.words)
    folder.write(name, pages.page("run", run.id, {"view": view}, depth=1))
    folder.note_made_of(name, made_of)


def _index(suites: Mapping[Suite, Sequence[SiteRun]], runs: Sequence[SiteRun], words: Words) -> bytes:
    """Return a script with the search index. For each suite and run, the index has a text, a link and further words."""
    rows = [[suite_name(suite, words), suite_href(suite), words["site_suite"]] for suite in suites]
    for run in runs:
        line = run_line(run, words)
        searched = (run.title, run.spec, run.profile, line.state, line.date, run.revision[:12], *run.tags)
        rows.append([run.id, run_href(run), " ".join((*searched, *run.hardware.values()))])
    text = json.dumps(rows, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    return f"window.benchSite = {text};\n".encode()


_TEMPLATES = files("benchbrief.reports") / "templates" / "site"
_ASSETS = ("site.css", "site.js")


class Pages:
    """Renders pages from templates. `made_of` changes if benchbrief, the templates or the words change."""

    def __init__(self, title: str, words: Words) -> None:
        self.title = title
        self.words = words
        self._environment = make_environment({})
        texts = [file.read_text("utf-8") for file in _TEMPLATES.iterdir() if file.name.endswith(".html.j2")]
        self._version = version("benchbrief")
        parts = (self._version, title, words.language, *sorted(texts))
        self.made_of = hashlib.sha256("\0".join(parts).encode()).digest()

    def assets(self) -> Iterator[tuple[str, bytes]]:
        for name in _ASSETS:
            yield f"assets/{name}", (_TEMPLATES / name).read_bytes()

    def page(self, name: str, title: str, context: Mapping[str, Any], depth: int = 0, own_style: str = "") -> bytes:
        """Return a page in a folder `depth` levels below the site's root. With `own_style`, the page needs no other
        file."""
        common = {"w": self.words, "language": self.words.language, "site": self.title, "title": title, "here": name}
        common |= {"root": "../" * depth, "version": self._version}
        common |= {"own_style": Markup(own_style)}  # noqa: S704  # a file of ours
        return writable(render_template(f"site/{name}.html.j2", self._environment, (), {**context, **common})).encode()


def comparison_page(view: ComparisonView, title: str, words: Words) -> bytes:
    """Return a comparison as a page of its own. `title` is the title of the browser's window."""
    with written_as(words.locale):
        return single_page("comparison", title, {"view": view}, words).encode()


def single_page(name: str, title: str, context: Mapping[str, Any], words: Words, style: str = "") -> str:
    """Return a page that needs no other file. Its `style` is added to the site's style."""
    own = (_TEMPLATES / "site.css").read_text("utf-8") + style
    return Pages("", words).page(name, title, context, own_style=own).decode()
