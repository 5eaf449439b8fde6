"""Fills the pages of a document, by changing the heights of figures and by moving the first figure to the first page.

A layout is divided into atoms, which no page break splits: lines, rows of tables, figures. From the atoms' heights, the
module estimates where pages would end if the figures had other heights. Only the best choice is laid out again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Literal

from benchbrief.dsl.lazy_dataclass import dataclass

LOWEST = 0.7
"""The smallest share of its full height that a figure may have."""
HIGHEST, HIGHEST_ON_FIRST, HIGHEST_ON_LAST, HIGHEST_ON_SLIDES = 1.45, 1.75, 1.25, 1.6
"""The largest multiples of its height that a figure grows to: on an inner page, on the first page, on the last page,
and on a slide. The figure on the first page has the most to say."""
_SHARES = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, LOWEST, 1.1, 1.2, 1.3, HIGHEST)
"""The shares to try for the heights of all figures, preferred ones first. Each is also tried with the first figure at
its full height."""
_LOW_SHARES = (0.65, 0.6, 0.55, 0.5)
"""Further shares for a brief of one page. The first few are also tried if the last page would be nearly empty."""
_BLANK, _MOST_BLANK, _LAST = 0.25, 0.4, 0.58
"""The share of a page that counts as much blank space, the share that counts as too much, and the share of the last
page below which it counts as short. The first is stricter than the promised third of a page, because the end of a page
is estimated.
"""
_SEEN = 0.1
"""The blank share above which a page looks unfinished."""
_ALIKE = 1.4
"""The largest ratio between the heights of two figures on inner pages, because readers compare them."""
_LITTLE = 0.45
"""If the last page is filled less than this, smaller letters are tried, so that its content may move to the other
pages."""
_HALF = 0.5
"""If the last page is filled less than this and begins within a section, the whole section is moved onto it, if
possible."""
_SPARE = 6.0
"""The least number of pixels to leave blank at a page's foot."""
_RESERVE = 0.01
"""How far an estimate may be wrong, as a share of a page's height."""
_ROOMY = 0.3
"""The blank share of the last page above which the end of the brief is set in larger letters."""
_LIMIT = 10.0
"""The least height in pixels that a further limit adds, given that limits are in two columns."""
_WORTH = 0.12
"""The smallest gain worth a second layout, which takes as long as the first."""
CLOSEST = 2
"""The value of `close_set` for the smallest letters and the least space between them."""
_ORPHANS = 3
"""The fewest lines of a paragraph before and after a page break, as in the style sheet."""
_FIGURE = re.compile(r"figure-\d+")
_FORCED = ("page", "left", "right", "recto", "verso", "always")
_WHOLE = ("FlexBox", "GridBox", "BlockReplacedBox", "LineBox", "TableRowBox")


FirstFigure = Literal["in_place", "after_lead", "before_lead"]
Ending = Literal["short", "whole", "roomy"]
"""The end of a brief: with its first limits, with all of them, or with all of them in larger letters."""
_MOVED: Mapping[FirstFigure, float] = {"in_place": 0.0, "after_lead": 3.0, "before_lead": 6.0}
"""The cost of moving the first figure from its place."""


@dataclass(frozen=True)
class Arrangement:
    """The arrangement of a document. `shares` has the shares of the figures' full heights, by the figures' ids, and
    `first_figure` is where the first figure goes. A `close_set` of 1 means somewhat smaller letters with less space,
    and CLOSEST the smallest letters. `new_page` is the section that begins a new page.
    """

    shares: Mapping[str, float] = field(default_factory=dict)
    first_figure: FirstFigure = "in_place"
    close_set: int = 0
    new_page: str = ""
    ending: Ending = "short"
    notes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """The footnotes that a figure or table repeats from another page, by the id of the figure or table."""


@dataclass
class _Atom:
    """A piece of a page that no page break divides. `gap` is the space before it, and `inset` is the space before it at
    the top of a page. `figures` has the heights of the drawings in it."""

    page: int
    top: float
    height: float
    gap: float = 0.0
    inset: float = 0.0
    may_break: bool = True
    forced: bool = False
    section: str = ""
    """The id of the section that begins with the atom, or of the end of the brief."""
    figures: Mapping[str, float] = field(default_factory=dict)

    def height_with(self, shares: Mapping[str, float]) -> float:
        return self.height + max((high * (shares.get(name, 1) - 1) for name, high in self.figures.items()), default=0)


@dataclass(frozen=True)
class _Pages:
    """The atoms on each page in some arrangement, and the blank share of each page's height."""

    atoms: Sequence[Sequence[_Atom]]
    blanks: Sequence[float]
    arrangement: Arrangement

    @property
    def cost(self) -> float:
        """Return how bad the pages are. A first page without a figure is worst, followed by pages that are a third
        empty. Blank space on the first page counts twice."""
        has = [any(atom.figures for atom in page) for page in self.atoms]
        shares = self.arrangement.shares
        lowest = min(shares.values(), default=1.0)
        inner = [shares.get(name, 1.0) for page in self.atoms[1:] for atom in page for name in atom.figures] or [1.0]
        return (
            12.0 * (any(has) and not has[0])
            + sum(10.0 * (blank > _BLANK) + 5.0 * (blank > _MOST_BLANK) for blank in self.blanks[:-1])
            + (3.0 + 10.0 * (_LAST - self.last_share)) * self.ends_short
            + 3.0 * len(has)
            + 30.0 * max(0.0, 1 - lowest) ** 2
            + 4.0 * max(0.0, max(inner) / min(inner) - _ALIKE)
            + sum(self.blanks[:-1])
            + sum(self.blanks[:-1][:1])
            + 10.0 * sum(max(0.0, blank - _SEEN) for blank in self.blanks[:-1])
            + _MOVED[self.arrangement.first_figure]
            + 1.0 * self.arrangement.close_set
            + 2.0 * self.is_torn
        )

    @property
    def is_torn(self) -> bool:
        """Return whether the last page has little on it and begins within a section."""
        last = self.atoms[-1]
        return len(self.atoms) > 1 and self.last_share < _HALF and not (last and last[0].section)

    @property
    def last_share(self) -> float:
        """Return how much of the last page is filled, as a share of its height."""
        return 1 - self.blanks[-1]

    @property
    def has_hole(self) -> bool:
        """Return whether there is much blank space before a page break that nothing requires."""
        return any(
            blank > _BLANK and not (page and page[0].forced)
            for blank, page in zip(self.blanks, self.atoms[1:], strict=False)
        )

    @property
    def ends_short(self) -> bool:
        """Return whether the last page has little on it."""
        return len(self.atoms) > 1 and self.last_share < _LAST


@dataclass(frozen=True)
class _Setting:
    """A document in letters of one size, with an estimate of the best pages it can have."""

    document: Any
    galley: _Galley
    now: _Pages
    chosen: _Pages

    @classmethod
    def of(cls, document: Any, close_set: int, rigid: Collection[str], *, one_page: bool) -> _Setting:
        galley = _Galley(document, rigid, one_page=one_page)
        now, chosen = galley.laid_out(Arrangement(close_set=close_set)), galley.chosen(close_set=close_set)
        return cls(document, galley, now, chosen)

    @property
    def fits(self) -> bool:
        """Return whether a brief meant for one page takes fewer pages at its best than it does now."""
        return self.galley.one_page and len(self.chosen.atoms) < len(self.now.atoms)

    @property
    def best(self) -> _Pages:
        return self.chosen if self.fits or self.now.cost - self.chosen.cost >= _WORTH else self.now

    @property
    def rank(self) -> tuple[int, float]:
        """Return a rank for the setting. The lowest rank is the best."""
        one = len(self.best.atoms) if self.galley.one_page else 0
        return one, self.best.cost

    @property
    def may_be_closer(self) -> bool:
        """Return whether smaller letters might be better."""
        best = self.best
        lacks = best.ends_short or best.is_torn or best.has_hole
        return lacks or (self.galley.one_page and len(best.atoms) > 1)


def fit_figures(
    document: Any,
    again: Callable[[Arrangement], Any],
    *,
    rigid: Collection[str] = (),
    one_page: bool = False,
    further: int = 0,
) -> Any:
    """Return the best layout of the document. `again` lays it out in another arrangement. Since a layout takes long,
    the size of the letters is chosen by estimating the pages. `rigid` are the ids of figures that may not be lower.
    With `one_page`, the other figures may be lower than usual. `further` is the number of limits that a whole ending
    adds.
    """
    usual = _Setting.of(document, 0, rigid, one_page=one_page)
    if grown := usual.galley.fitted_slides():
        return again(Arrangement(grown))
    settings = [usual]

    def add_closer() -> None:
        close_set = len(settings)
        closely = again(Arrangement(close_set=close_set))
        settings.append(_Setting.of(closely, close_set, rigid, one_page=one_page))

    closer = len(usual.now.atoms) > 1 and usual.now.last_share < _LITTLE
    while len(settings) <= CLOSEST and not usual.galley.has_slides:
        if not (closer or min(settings, key=lambda each: each.rank).may_be_closer):
            break
        closer = False
        add_closer()
    found = list[tuple[tuple[int, float], Any]]()
    tried = list[_Setting]()
    while left := [each for each in settings if each not in tried]:
        setting = min(left, key=lambda each: each.rank)
        if found and found[0][0] <= (setting.rank[0], setting.rank[1] + _WORTH):
            break  # no estimate was so wrong that another size would be better
        fitted, pages = _fitted(setting, again, further)
        tried.append(setting)
        found.append(((len(fitted.pages) if one_page else 0, pages.cost), fitted))
        found.sort(key=lambda each: each[0])
        if len(setting.best.atoms) < len(fitted.pages) and setting is settings[-1] and len(settings) <= CLOSEST:
            add_closer()  # it nearly fitted
    return found[0][1]


def _fitted(setting: _Setting, again: Callable[[Arrangement], Any], further: int) -> tuple[Any, _Pages]:
    """Return the document and the contents of its pages. Figures are fitted to the pages if that makes the pages
    better. If the last page has room, more is put on it."""
    document, now, best = setting.document, setting.now, setting.best
    for arrangement in setting.galley.endings(best, further):
        if best is now and arrangement is now.arrangement:
            break
        fitted = again(arrangement)
        found = _Galley(fitted).laid_out(arrangement)
        if len(fitted.pages) > len(best.atoms) and arrangement is not best.arrangement:
            continue
        fewer = setting.fits and len(fitted.pages) < len(document.pages)
        if fewer or found.cost < now.cost or arrangement.ending != "short":
            return fitted, found
    return document, now


class _Galley:
    """The atoms of a layout as a single long column."""

    def __init__(self, document: Any, rigid: Collection[str] = (), *, one_page: bool = False) -> None:
        self.one_page, self.rigid = one_page, rigid
        self.atoms: list[_Atom] = []
        sheets = [page._page_box for page in document.pages]
        self.tops = [sheet.content_box_y() for sheet in sheets]
        self.heights = [sheet.height - _notes(sheet) for sheet in sheets]
        flows = [sheet.children[0] for sheet in sheets]
        self._slides = [sum(_is_slide(box) for box in flow.descendants()) for flow in flows]
        self._elements = [{box.element for box in flow.descendants()} for flow in flows]
        self.has_slides = any(self._slides)
        self.last_section: list[str] = []
        self._lead = self._rest = 0
        """How many atoms come before the lead, and how many come before the part that follows it."""
        self._limits = range(0)
        """The indices of the atoms of the line on limits. This line always comes before the first figure, wherever the
        figure is."""
        self._begun: list[Any] = []
        self._ended: list[Any] = []
        for page, flow in enumerate(flows):
            self._walk(flow, page)
        self.last_section = [atom.section for atom in self.atoms if atom.section.startswith("section-")][-1:]

    def laid_out(self, arrangement: Arrangement) -> _Pages:
        """Return the pages of this layout, which was made with the arrangement."""
        pages = [[atom for atom in self.atoms if atom.page == page] for page in range(len(self.tops))]
        ends = [page[-1].top + page[-1].height if page else top for page, top in zip(pages, self.tops, strict=True)]
        blanks = [1 - (end - top) / height for end, top, height in zip(ends, self.tops, self.heights, strict=True)]
        return _Pages(pages, blanks, arrangement)

    def endings(self, pages: _Pages, further: int) -> Iterator[Arrangement]:
        """Yield arrangements that may fill the last page better, and finally the one that the pages have already. If
        there is much room, the ending has larger letters or all limits, which may need smaller letters."""
        blank, usual = pages.blanks[-1], pages.arrangement
        is_end = any(atom.section == "method" for atom in pages.atoms[-1]) and not self.has_slides
        if is_end and blank > _ROOMY and len(pages.atoms) > 1:
            yield replace(usual, ending="roomy")
        room = blank * self._height(len(pages.atoms) - 1) / _LIMIT
        closer = usual.close_set + (room < further)
        if is_end and further and room > further / 2 and closer <= CLOSEST:
            yield replace(usual, ending="whole", close_set=closer)
        yield usual

    def chosen(self, *, close_set: int = 0) -> _Pages:
        """Return the pages with the best heights of figures and the best place of the first figure."""
        lower = _LOW_SHARES if self.one_page else _LOW_SHARES[:2] if close_set else ()
        first = next((list(atom.figures) for atom in self.atoms if atom.figures and not atom.page), [])
        tried = [
            self._filled(self._packed(atoms, Arrangement(shares, place, close_set, section)))
            for place, atoms in self._orders()
            for section in ("", *([] if self.one_page or self.has_slides else self.last_section))
            for share in (*_SHARES, *lower)
            for shares in (
                self._all_at(share),
                *([self._all_at(share) | dict.fromkeys(first, HIGHEST_ON_FIRST)] if first else []),
            )
        ]
        as_they_are = Arrangement(self._all_at(1.0), close_set=close_set)
        tried.append(self._filled(self.laid_out(as_they_are)))  # as it is laid out now
        return min(tried, key=lambda each: (self.one_page and len(each.atoms) > 1, each.cost))

    def _all_at(self, share: float) -> dict[str, float]:
        names = sorted({name for atom in self.atoms for name in atom.figures})
        return {name: max(1.0, share) if name in self.rigid else share for name in names}

    def _orders(self) -> Iterator[tuple[FirstFigure, list[_Atom]]]:
        """Yield the atoms in each order that is allowed."""
        yield "in_place", self.atoms
        at = next((at for at, atom in enumerate(self.atoms) if atom.figures), 0)
        places: tuple[tuple[FirstFigure, int], ...] = (("after_lead", self._rest), ("before_lead", self._lead))
        for place, to in places:
            if at > to > 0:
                moved, following = replace(self.atoms[at], may_break=True), self.atoms[at + 1 :]
                if following:
                    following[0] = replace(following[0], may_break=True)
                limits = [self.atoms[one] for one in range(to, at) if one in self._limits]
                others = [self.atoms[one] for one in range(to, at) if one not in self._limits]
                yield place, [*self.atoms[:to], *limits, moved, *others, *following]

    def fitted_slides(self) -> dict[str, float]:
        """For each figure that is alone on its slide, return the height at which it fills the slide, as a share of its
        own height. This includes figures that were moved to their own page because there was slightly too little room.
        """
        found: dict[str, float] = {}
        pages = self.laid_out(Arrangement())
        for page, atoms in enumerate(pages.atoms):
            drawn = [atom for atom in atoms if atom.figures]
            if self._slides[page] != 1 or len(drawn) != 1:
                continue
            room = pages.blanks[page] * self.heights[page] - _SPARE
            for name, height in drawn[0].figures.items():
                if self._is_torn(page):
                    left = pages.blanks[page - 1] * self.heights[page - 1] - 4 * _SPARE  # and the gap above it
                    share = 1 - ((1 - pages.blanks[page]) * self.heights[page] - left) / height
                    found |= {name: round(share, 3)} if share >= LOWEST else {}
                else:
                    found[name] = round(min(max(1.0, 1 + room / height), HIGHEST_ON_SLIDES), 3)
        return found

    def _is_torn(self, page: int) -> bool:
        """Return whether a page continues the slide of the page before it."""
        both = self._elements[page] & self._elements[page - 1] if page else ()
        return any(element is not None and "slide" in element.get("class", "").split() for element in both)

    def _height(self, page: int) -> float:
        return float(self.heights[min(page, len(self.heights) - 1, 1)]) - _SPARE

    def _packed(self, atoms: Sequence[_Atom], arrangement: Arrangement) -> _Pages:
        """Fill pages with the atoms in order, with the heights and page breaks of an arrangement."""
        pages: list[list[_Atom]] = [[]]
        shares = arrangement.shares
        blanks, at, y, last = list[float](), 0, 0.0, -1
        while at < len(atoms):
            atom, room = atoms[at], self._height(len(pages) - 1) * (1 - _RESERVE)
            gap = atom.gap if pages[-1] else atom.inset
            fits = y + gap + atom.height_with(shares) <= room or not pages[-1]
            forced = atom.forced or (atom.section != "" and atom.section == arrangement.new_page)
            if fits and not (forced and pages[-1]):
                last = at if atom.may_break and pages[-1] else last
                pages[-1].append(atom)
                y, at = y + gap + atom.height_with(shares), at + 1
                continue
            if not forced and not atom.may_break and last > 0:  # back to where a page may end
                for one in atoms[last:at]:
                    pages[-1].remove(one)
                    y -= one.gap + one.height_with(shares)
                at = last
            blanks.append(max(0.0, 1 - y / room))
            pages.append([])
            y, last = 0.0, -1
        blanks.append(max(0.0, 1 - y / self._height(len(pages) - 1)))
        return _Pages(pages, blanks, arrangement)

    def _filled(self, packed: _Pages) -> _Pages:
        """Return the pages with figures enlarged to fill the blank space of each page. On the last page, they are
        enlarged only until it no longer looks unfinished."""
        shares, blanks = dict(packed.arrangement.shares), list(packed.blanks)
        for page, atoms in enumerate(packed.atoms):
            drawn = [atom for atom in atoms if atom.figures]
            sizes = [max(atom.figures.values()) for atom in drawn]
            if not drawn:
                continue
            is_last = page == len(packed.atoms) - 1
            room = (blanks[page] - (_SEEN if is_last else _RESERVE)) * self._height(page)
            now = max(shares[name] for atom in drawn for name in atom.figures)
            more = min(
                room / sum(sizes),
                (HIGHEST_ON_LAST if is_last and page else HIGHEST if page else HIGHEST_ON_FIRST) - now,
            )
            if more * sum(sizes) > 2 * _SPARE:
                shares |= {name: round(shares[name] + more, 3) for atom in drawn for name in atom.figures}
                blanks[page] -= more * sum(sizes) / self._height(page)
        return replace(packed, blanks=blanks, arrangement=replace(packed.arrangement, shares=shares))

    def _walk(self, box: Any, page: int) -> None:
        """Add the atoms of a box on this page."""
        first = len(self.atoms)
        before = page > 0 and box.element in self._elements[page - 1]
        after = page + 1 < len(self._elements) and box.element in self._elements[page + 1]
        line = type(box).__name__ == "LineBox"
        if not line and not before:
            self._begun.append(box)
        inside = [child for child in getattr(box, "children", ()) if child.is_in_normal_flow()]
        if line or not inside or _is_whole(box):
            if line or box.height or inside:
                self._add(box, page)
        else:
            lines = [child for child in inside if type(child).__name__ == "LineBox"]
            for at, child in enumerate(inside):
                known = len(self.atoms)
                self._walk(child, page)
                if lines and len(self.atoms) > known and (before or at) and not after:
                    left = len(lines) - at
                    self.atoms[known].may_break &= (before or at >= _ORPHANS) and left >= _ORPHANS
                elif lines and after and at and len(self.atoms) > known:
                    self.atoms[known].may_break &= before or at >= _ORPHANS
        if not line and not after:
            self._ended.append(box)
            if self.atoms and self.atoms[-1].page == page:  # its padding, or a height of its own
                last = self.atoms[-1]
                last.height = max(last.height, float(box.border_box_y() + box.border_height()) - last.top)
            kinds = () if box.element is None else box.element.get("class", "").split()
            if {"band", "headline"} & set(kinds):
                self._lead = self._rest = len(self.atoms)
            elif "limits-line" in kinds:
                self._limits = range(first, len(self.atoms))
            elif "opening" in kinds:
                self._rest = len(self.atoms)

    def _add(self, box: Any, page: int) -> None:
        line = type(box).__name__ == "LineBox"
        top = box.position_y if line else box.border_box_y()
        height = box.height if line else box.border_height()
        begun, ended = self._begun, self._ended
        follows = self.atoms and self.atoms[-1].page == page
        gap = top - self.atoms[-1].top - self.atoms[-1].height if follows else _between(begun, ended)
        allowed = all(one.style["break_before"] != "avoid" for one in begun)
        allowed &= all(one.style["break_after"] != "avoid" for one in ended)
        forced = any(one.style["break_before"] in _FORCED for one in begun)
        forced |= any(one.style["break_after"] in _FORCED for one in ended)
        inset = 0.0 if follows else top - self.tops[page]
        ids = [one.element.get("id", "") for one in begun if one.element is not None and one.element.tag == "section"]
        section = next((name for name in ids if name.startswith("section-") or name == "method"), "")
        self.atoms.append(_Atom(page, top, height, gap, inset, allowed, forced, section, dict(_drawings(box))))
        self._begun, self._ended = [], []


def _is_whole(box: Any) -> bool:
    """Return whether a box counts as undivided, because no page may end within it or because it has columns or
    floats."""
    style = box.style
    return (
        type(box).__name__ in _WHOLE
        or style["break_inside"] == "avoid"
        or style["column_count"] != "auto"
        or any(child.is_floated() for child in getattr(box, "children", ()))
    )


def _is_slide(box: Any) -> bool:
    return box.element is not None and box.element.tag == "section" and "slide" in box.element.get("class", "").split()


def _between(begun: Sequence[Any], ended: Sequence[Any]) -> float:
    """Return the space between two atoms, as the style sheet sets it. Boxes lose their margins at a page break."""
    return max(
        (_margin(one, side) for boxes, side in ((begun, "margin_top"), (ended, "margin_bottom")) for one in boxes),
        default=0.0,
    )


def _margin(box: Any, side: str) -> float:
    length = box.style[side]
    return float(length.value) if getattr(length, "unit", None) == "px" else 0.0


def _notes(sheet: Any) -> float:
    """Return the height of a page's footnotes."""
    return sum(float(box.margin_height()) for box in sheet.children[1:] if type(box).__name__ == "FootnoteAreaBox")


def _drawings(box: Any) -> Iterator[tuple[str, float]]:
    """Yield the figures in a box, each with the height of its drawing."""
    for figure in (box, *getattr(box, "descendants", list)()):
        name = "" if figure.element is None else figure.element.get("id", "")
        if _FIGURE.fullmatch(name):
            for inner in figure.descendants():
                if type(inner).__name__ == "BlockReplacedBox":
                    yield name, float(inner.height)


_BLOCK, _NOTE = re.compile(r"(?:figure|table|formula|text)-\d+"), re.compile(r"note-\d+")


def notes_elsewhere(document: Any) -> dict[str, tuple[int, ...]]:
    """For each element (a figure, table, formula or text), return the numbers of the footnotes that it cites but that
    are on another page, where no reader would look for them. The keys are the elements' ids. Of several elements on a
    page, only the first is returned.
    """
    cited: dict[str, set[tuple[int, int]]] = {}
    known = set[tuple[int, int]]()
    stands: dict[int, int] = {}
    for page, sheet in enumerate(document.pages):
        for block, element in _elements(sheet._page_box, ""):
            name, target = element.get("id", ""), element.get("href", "")
            if _NOTE.fullmatch(name):
                stands.setdefault(int(name.removeprefix("note-")), page)
            elif block and _NOTE.fullmatch(target.removeprefix("#")):
                found = (int(target.removeprefix("#note-")), page)
                cited.setdefault(block, set()).update({found} - known)
                known.add(found)
    far = {
        block: tuple(sorted({note for note, page in of if stands.get(note, page) != page}))
        for block, of in cited.items()
    }
    return {block: notes for block, notes in far.items() if notes}


def _elements(box: Any, block: str) -> Iterator[tuple[str, Any]]:
    """Yield the elements of a box at all depths, each with the id of the surrounding figure, table, formula or text."""
    if box.element is not None:
        name = box.element.get("id", "")
        block = name if _BLOCK.fullmatch(name) else block
        yield block, box.element
    for inner in getattr(box, "children", ()):
        yield from _elements(inner, block)
