"""The data of a site's pages: texts and links. Everything is computed here; templates only arrange it."""

from __future__ import annotations

from dataclasses import field

from markupsafe import Markup

from benchbrief.dsl.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Link:
    """A link to a page or a file of the site. `href` is relative to the site's root."""

    text: str
    href: str


@dataclass(frozen=True)
class RunLine:
    """A run in a list. `kind` is ok, failed, broken, simulated or imported."""

    link: Link
    title: str
    suite: Link | None
    date: str
    state: str
    kind: str
    cells: str
    briefs: tuple[Link, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class RankedCell:
    """A cell of a ranking. `share` is the bar's width in per cent."""

    text: str
    spread: str
    letters: str
    best: bool
    share: float = 0.0


@dataclass(frozen=True)
class RankedRow:
    point: str
    cells: tuple[RankedCell, ...]
    verdict: str
    kind: str = ""


@dataclass(frozen=True)
class RankedTable:
    title: str
    sense: str
    rows: tuple[RankedRow, ...]


@dataclass(frozen=True)
class ComparisonView:
    """A comparison of contenders: the heads of the columns, a table for each quantity, and any notes that are
    needed."""

    title: str
    heads: tuple[str, ...]
    tables: tuple[RankedTable, ...]
    notes: tuple[str, ...]
    verdict_head: str = ""
    differing: tuple[tuple[str, ...], ...] = ()
    contenders: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class TrendCard:
    """A chart with its texts. `state` is the state of the last change: worse, better, differs, lab, accepted
    or steady."""

    title: str
    point: str
    latest: str
    change: str
    state: str
    svg: Markup
    table: tuple[tuple[str, str, str, str], ...]
    """The changes, one per row: the run, the date, the size of the change, and further remarks."""


@dataclass(frozen=True)
class SuiteCard:
    """A suite in the list. `named` is the spec with its profile. `trend` is the first trend that is worse, or else the
    first trend of its throughput."""

    link: Link
    named: str
    runs: str
    last: str
    state: str
    summary: str
    trend: TrendCard | None = None


@dataclass(frozen=True)
class SuiteView:
    card: SuiteCard
    trends: tuple[tuple[str, tuple[TrendCard, ...]], ...]
    """The trends of each quantity."""
    note: str
    ranking: ComparisonView | None
    step: ComparisonView | None
    runs: tuple[RunLine, ...]


@dataclass(frozen=True)
class ValueRow:
    point: str
    value: str
    spread: str
    repeats: str
    reason: str


@dataclass(frozen=True)
class RunPage:
    line: RunLine
    facts: tuple[tuple[str, str], ...]
    briefs: tuple[Link, ...]
    brief_problems: tuple[str, ...]
    tables: tuple[tuple[str, tuple[ValueRow, ...]], ...]
    ranking: ComparisonView | None
    environments: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    notice: str = ""


@dataclass(frozen=True)
class HardwareLine:
    name: str
    facts: tuple[tuple[str, str], ...]
    runs: str
    first: str
    last: str
    links: tuple[Link, ...]


@dataclass(frozen=True)
class HomeView:
    title: str
    summary: str
    suites: tuple[SuiteCard, ...]
    runs: tuple[RunLine, ...]
    broken: tuple[RunLine, ...]
    counts: tuple[tuple[str, str], ...] = field(default=())
