"""Estimates where the pages of a document for Word end, to choose the heights of its figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml.ns import qn
from docx.shared import Emu
from docx.table import Table, _Cell
from docx.text.paragraph import Paragraph

from benchbrief.dsl.lazy_dataclass import cached_property, dataclass
from benchbrief.reports.office.text_fit import LINE_HEIGHT, line_height, lines_of

_SHARES = (1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7)
"""The shares of their heights that figures may have, preferred ones first."""
_HIGHEST, _HIGHEST_ON_LAST = 1.7, 1.3
"""How high a figure may become on a page, and on the last page, as a multiple of its own height."""
_SEEN, _ENOUGH = 0.08, 0.8
"""The smallest share of blank space that a reader notices on a page, and the share of the last page that should be
filled."""
_RESERVE, _GROWN = 0.985, 0.955
"""The share of a page's height to fill. It is below 1 because contents are only estimated, and lower still if figures
grow."""
_PAGE_COST, _BLANK_COST, _END_COST = 100, 20, 15
"""The costs of one more page, of a blank page before the last one, and of a last page without contents. In comparison,
doubling the heights of the figures costs 1."""
_USUAL_PT, _LEADING, _NARROWER, _FACTORS, _CELL_GAP = 10.0, 0.97, 1.06, 10.0, 12.0
"""The usual type size, for a style that sets none; the height of a line as a share of its height on a slide; the factor
by which type that is not bold is narrower than estimated; the largest line height of a style that is a factor instead
of a length; and the space beside a cell's text.
"""


@dataclass(frozen=True)
class Piece:
    """A paragraph or table row, which is never split across pages. `keeps` means that the next piece must be on the
    same page. `figures` has the heights of the drawings in it. All heights are in points."""

    height: float
    keeps: bool
    figures: Mapping[str, float]

    def with_shares(self, shares: Mapping[str, float]) -> float:
        return self.height + max((high * shares.get(name, 1.0) for name, high in self.figures.items()), default=0.0)


@dataclass(frozen=True)
class Drawn:
    """A drawing that a paragraph will have, with its height in points."""

    paragraph: Any
    name: str
    height: float


def shares_of(document: Any, drawn: Sequence[Drawn], least: float) -> dict[str, float]:
    """Return the height of each figure, as a share of its full height, with which the figures of a document fill its
    pages best. No share is below `least`."""
    page = document.sections[0]
    whole: float = Emu(page.page_height - page.top_margin - page.bottom_margin).pt
    width = Emu(page.page_width - page.left_margin - page.right_margin).pt
    pieces = list(_Contents(document, {each.paragraph._p: each for each in drawn}).pieces(width))
    names = [each.name for each in drawn]

    def packed(share: float) -> list[list[Piece]]:
        return _packed(pieces, dict.fromkeys(names, share), whole * (_GROWN if share > 1 else _RESERVE))

    def cost(share: float) -> float:
        pages = packed(share)
        blanks = [1 - _used(page, dict.fromkeys(names, share)) / whole for page in pages]
        inner = sum(max(0.0, blank - _SEEN) for blank in (*blanks[:1], *blanks)[:-1])  # twice on the first page
        end = max(0.0, _ENOUGH - 1 + blanks[-1])
        return float(_PAGE_COST * len(pages) + _BLANK_COST * inner + _END_COST * end + abs(share - 1))

    best = min((share for share in _SHARES if share >= least), key=cost)
    shares = dict.fromkeys(names, best)
    pages = packed(best)
    for at, own in enumerate(pages):
        rows = [piece for piece in own if piece.figures]
        sizes = sum(max(piece.figures.values()) for piece in rows)
        most = _HIGHEST_ON_LAST if at == len(pages) - 1 and at else _HIGHEST
        if sizes:
            more = min(most - best, (whole * _GROWN - _used(own, shares)) / sizes)
            shares |= {name: best + max(0.0, more) for piece in rows for name in piece.figures}
    return shares


def _used(page: Sequence[Piece], shares: Mapping[str, float]) -> float:
    return sum(piece.with_shares(shares) for piece in page)


def _packed(pieces: Sequence[Piece], shares: Mapping[str, float], height: float) -> list[list[Piece]]:
    pages: list[list[Piece]] = [[]]
    kept: list[Piece] = []
    for at, piece in enumerate(pieces, 1):
        kept.append(piece)
        if piece.keeps and at < len(pieces):
            continue
        if pages[-1] and _used(pages[-1], shares) + _used(kept, shares) > height:
            pages.append([])
        pages[-1] += kept
        kept = []
    return pages


@dataclass(frozen=True)
class _Contents:
    """The contents of a document whose figures are not drawn yet, and the planned drawings by their paragraphs."""

    document: Any
    drawn: Mapping[Any, Drawn]

    @cached_property
    def line(self) -> float:
        """The height of a line in multiples of the type size. It is larger if the document has Japanese text."""
        texts = (each.text or "" for each in self.document.element.body.iter(qn("w:t")))
        highest = max(map(line_height, texts), default=LINE_HEIGHT)
        return highest if highest > LINE_HEIGHT else LINE_HEIGHT * _LEADING

    @cached_property
    def notes(self) -> dict[str, Any]:
        """The footnotes at the bottom of pages, by id."""
        related = self.document.part.rels.values()
        parts = (each.target_part for each in related if each.reltype == RELATIONSHIP_TYPE.FOOTNOTES)
        return {note.get(qn("w:id")): note for part in parts for note in part.element}

    def pieces(self, width: float) -> Iterator[Piece]:
        """Yield the contents in order."""
        above = 0.0
        for element in self.document.element.body:
            if element.tag == qn("w:p"):
                paragraph = Paragraph(element, self.document._body)
                yield self._of_paragraph(paragraph, width, above)
                above = _spaces(paragraph)[1]
            elif element.tag == qn("w:tbl"):
                yield from self._of_rows(Table(element, self.document._body), width)
                above = 0.0

    def _of_paragraph(self, paragraph: Paragraph, width: float, above: float = 0.0) -> Piece:
        """Return a paragraph as a piece, with its footnotes. `above` is the space below the paragraph before it, and
        reduces the paragraph's own space at the top."""
        look, own = _looks(paragraph.style), paragraph.paragraph_format
        sizes = [run.font.size.pt for run in paragraph.runs if run.font.size]
        points = max(sizes) if sizes and len(sizes) == len(paragraph.runs) else look["size"]
        indents = sum(Emu(each or 0).pt for each in (own.left_indent, own.right_indent))
        room = max((width - indents) * (1.0 if look["bold"] else _NARROWER), points)
        lines = max(1, lines_of(paragraph.text, room, points, bold=bool(look["bold"])))
        spacing = own.line_spacing if own.line_spacing is not None else look["line"]
        line = Emu(int(spacing)).pt if spacing > _FACTORS else points * self.line * spacing
        before, after = _spaces(paragraph)
        figure, placed = self.drawn.get(paragraph._p), list(paragraph._p.iter(qn("wp:extent")))
        inside = sum(int(each.get("cy")) for each in placed) / 12_700 + (0.0 if figure else lines * line)
        figures = {figure.name: figure.height} if figure else {}
        marks = paragraph._p.iter(qn("w:footnoteReference"))
        noted = [each for mark in marks for each in self.notes[mark.get(qn("w:id"))].iter(qn("w:p"))]
        inside += sum(self._of_paragraph(Paragraph(each, self.document._body), width).height for each in noted)
        return Piece(max(0.0, before - above) + inside + after, bool(own.keep_with_next or look["keep"]), figures)

    def _of_rows(self, table: Table, width: float) -> Iterator[Piece]:
        margins = table._tbl.tblPr.find(qn("w:tblCellMar"))
        sides = () if margins is None else margins.iterchildren(qn("w:top"), qn("w:bottom"))
        pad = sum(int(each.get(qn("w:w"), 0)) / 20 for each in sides)
        for row in table.rows:
            cells = {cell._tc: cell for cell in row.cells}.values()
            inside = [[self._of_paragraph(each, _width_of(cell, width)) for each in cell.paragraphs] for cell in cells]
            figures = {name: high for own in inside for piece in own for name, high in piece.figures.items()}
            height = max(sum(piece.height for piece in own) for own in inside)
            yield Piece(height + pad, any(own[0].keeps for own in inside if own), figures)


def _width_of(cell: _Cell, width: float) -> float:
    return (Emu(cell.width).pt if cell.width else width) - _CELL_GAP


def _spaces(paragraph: Paragraph) -> tuple[float, float]:
    """Return the space above and below a paragraph."""
    look, own = _looks(paragraph.style), paragraph.paragraph_format
    before = look["before"] if own.space_before is None else own.space_before.pt
    return before, look["after"] if own.space_after is None else own.space_after.pt


def _looks(style: Any) -> dict[str, float]:
    """Return the look of a style. What it does not set itself comes from the styles that it is based on, or is the
    default."""
    found: dict[str, float] = {}
    while style is not None:
        layout, font = style.paragraph_format, style.font
        own = {
            "size": font.size and font.size.pt,
            "bold": font.bold,
            "line": layout.line_spacing,
            "before": layout.space_before and layout.space_before.pt,
            "after": layout.space_after and layout.space_after.pt,
            "keep": layout.keep_with_next,
        }
        found = {name: value for name, value in own.items() if value is not None} | found
        style = style.base_style
    return {"size": _USUAL_PT, "bold": 0, "line": 1.0, "before": 0.0, "after": 0.0, "keep": 0} | found
