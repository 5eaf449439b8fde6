"""Arranges a report's elements for its layouts: the lead beside the first text, and the contents of each slide."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from markupsafe import Markup

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.charts.chart import text_width
from benchbrief.reports.data.view_model import (
    Block,
    CalloutView,
    DisclosureView,
    FactsView,
    FigureRow,
    FigureView,
    FormulaView,
    HeadlineNumberView,
    HeadlineView,
    SectionView,
    TableRow,
    TableView,
    TextView,
)
from benchbrief.reports.text.html_markup import lift_marks, note_marks, plain_text
from benchbrief.reports.text.line_ends import keep_units_beside_numbers

_BESIDE = 350
"""The fewest characters of text beside a lead box."""
_CLAIM, _LEAD_IN = 150, 460
"""The most characters of a text that can be a slide's head, and of the texts below a head."""
_FIGURE_LINES = 3.5
"""The most lines of text above a figure on a slide. Each paragraph adds half a line at its end."""


_SLIDE_HEIGHT, _HEADS, _TOPIC_LINE = 425.0, (42.0, 72.0), 20.0
"""The height in points of a slide without a figure's caption, of a head with one line and with two, and of a topic."""
_DRAWN, _NOTE_PT, _NOTE_LINE, _CLOSE_LINE = 260.0, 11.0, 15.4, 19.5
"""In points: the height of a slide's drawing before it grows, the type size of notes, the height of a line of notes,
and the height of a line of text."""
_THIRD, _ENDING_LINES = 255.0, 16.0
"""The width of one of three columns, and the most lines of the method and the limits that fit on one slide."""

_PAGE_WIDTH, _HEADLINE_GAP = 490.0, 20.0
"""The width of a page between its margins, and the gap between two numbers of a headline, in points."""
_LIMITS_LINE, _LIMITS_PT = 400.0, 8.2
"""The width of the first page's line about limits without its link, and its type size, in points."""
_HEADLINE, _SMALLEST_HEADLINE, _WRAPPED_HEADLINE = (40.0, 58.0), 20.0, 26.0
"""The least and the largest type size of a headline's numbers, the smallest size for long numbers, and the size of
words on several lines, in points."""
_HEADLINE_SHARE, _BOLD = 0.66, 1.02
"""The largest share of the width that a number takes if its sentence is beside it, and the factor by which bold letters
are wider."""
_FEW_ROWS = 6
"""The most rows of a table that leaves room for a text on its slide."""
_SLIDE_ROOM, _TEXT_LINE = 350.0, 22.0
"""The height that a slide's head and a caption leave, and the height of a line of text, in points."""
_SLIDE_WIDTH, _COLUMN_WIDTH = 850.0, 405.0
"""The width of a line of text on a slide, and in one of two columns, in points."""
_COLUMN_LINES, _TOPIC_LINES = 40.0, 2.5
"""The most lines of topics in two columns, and the number of lines that the head of each topic takes."""
_HEAD_PT, _TITLE_PT, _JAPANESE_TITLE_PT = 25.0, 46.0, 38.0
"""The type size of a slide's head, of the title, and of a Japanese title."""
_TITLE_EMS, _LETTER, _BLANK, _CLOSE, _TITLE_AIR = (17.5, 21.2), 0.58, 0.26, 0.022, 0.4
"""In multiples of a title's type size: the width of a page for Latin and for Japanese titles, the width of a usual
letter and of a blank, how much closer than usual letters are set, and the space to leave free at the end of a line."""
_SUBTITLE_EMS = 38.6
"""The width of a page in multiples of a subtitle's type size."""
_NUMBER = re.compile(r'<(a|span) class="num.*?</\1>', re.DOTALL)
_FACT_LINE, _FACTS_PT = 1.63, (8.0, 16.0)
"""The height of a line of facts as a multiple of its type size, and the least and the largest type size."""
_FACT_PADDING = (0.13, 0.5)
"""The space above and below a line of facts, as a multiple of its type size."""
_CARD_PT, _CARD_ROOM, _CARD_LINE = 60.0, 240.0, 17.0
"""In points: the largest type size of a box's numbers, the total of the type sizes of its lines, and the part of that
total that a line of text takes."""
_SAID_PT = (13.0, 18.0)
"""The smallest and the largest type size of topics in two columns."""
_ALONE_PT, _ALONE_LINES = (20.0, 24.0), 14.0
"""The least and the largest type size of a text that is alone on its slide, and how many lines of 13 points fill half a
slide in the larger type."""
_FEW_FACTS = 4
"""The most rows of facts that go with the method on the last slide."""
_FEW_COLUMNS = 2
"""The most columns of numbers of a table whose type is enlarged."""
_TABLE_PT, _TABLE_LINE = (15.0, 20.0), 2.2
"""The usual and the larger type size of a table in points, and the height of its lines as a multiple of the type size.
"""
_TEXT_COLUMN, _NUMBER_COLUMN = (0.12, 0.45), 0.19
"""The least and the largest share of a slide's width for a column of texts, and the share for each column of numbers.
"""
_LINE_HEIGHT, _ROW_PADDING = 1.35, (0.36, 0.8)
"""The height of a line, and the least and the largest space above and below it, as multiples of the type size."""


@dataclass(frozen=True)
class Lead:
    """The lead box and the texts beside it."""

    callout: CalloutView
    texts: tuple[TextView, ...]


def headline_of(blocks: Sequence[Block]) -> tuple[HeadlineView | None, tuple[Block, ...]]:
    """Return the headline with the numbers for the first page, and all other elements."""
    found = [block for block in blocks if isinstance(block, HeadlineView)]
    return (found[0] if found else None), tuple(block for block in blocks if block not in found)


def headline_size(numbers: Sequence[HeadlineNumberView]) -> tuple[float, bool, bool]:
    """Return the type size in points of a headline's numbers, whether their sentences have room beside them, and
    whether the longest number takes more than one line. (A number may also be words.)"""
    width = _PAGE_WIDTH / len(numbers) - _HEADLINE_GAP
    widest = max(text_width(number.value.striptags(), 1.0) for number in numbers) * _BOLD
    low, high = _HEADLINE
    beside = len(numbers) == 1 and widest * low <= width * _HEADLINE_SHARE
    room = width * _HEADLINE_SHARE if beside else width
    most = high if beside else low + (high - low) / 3
    wraps = widest * _SMALLEST_HEADLINE > room
    fitting = _WRAPPED_HEADLINE if wraps else room / max(widest, 0.1)
    return round(max(_SMALLEST_HEADLINE, min(most, fitting)), 1), beside, wraps


def in_one_line(limits: Sequence[str], *, after: Sequence[str] = ()) -> tuple[str, ...]:
    """Return as many limits as fit on the first page's line after the limits in `after`. If `after` is empty, return at
    least one."""
    room = _LIMITS_LINE - sum(text_width(text, _LIMITS_PT) for text in after)
    said = list[str]()
    for text in limits:
        room -= text_width(text, _LIMITS_PT)
        if room < 0 and (said or after):
            break
        said.append(text)
    return tuple(said)


def lead_of(blocks: Sequence[Block]) -> tuple[Lead | None, tuple[Block, ...]]:
    """If a brief begins with one box and enough text, return these as its lead, followed by all other blocks."""
    callouts: list[CalloutView] = []
    texts: list[TextView] = []
    for block in blocks:
        if isinstance(block, CalloutView) and not callouts and _narrow(block):
            callouts.append(block)
        elif isinstance(block, TextView):
            texts.append(block)
        else:
            break
    if not callouts or sum(map(_length, texts)) < _BESIDE:
        return None, tuple(blocks)
    return Lead(callouts[0], tuple(texts)), tuple(blocks[len(callouts) + len(texts) :])


def opening_of(blocks: Sequence[Block]) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
    """Return a brief's result, which is its texts up to and including the first box, and then all other blocks. The
    result is empty if there is no box."""
    for at, block in enumerate(blocks, 1):
        if isinstance(block, CalloutView):
            return tuple(blocks[:at]), tuple(blocks[at:])
        if not isinstance(block, TextView):
            break
    return (), tuple(blocks)


def take_figure(blocks: Sequence[Block]) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
    """Return the first figure or row of figures, and all other elements. A section left without contents is dropped."""
    found: list[Block] = []
    rest: list[Block] = []
    for block in blocks:
        if not found and isinstance(block, FigureView | FigureRow):
            found.append(block)
        elif not found and isinstance(block, SectionView):
            figure, others = take_figure(block.blocks)
            found += figure if others or not figure else (block,)
            rest += [replace(block, blocks=others)] if others or not figure else ()
        else:
            rest.append(block)
    return tuple(found), tuple(rest)


def conclusions_of(blocks: Sequence[Block]) -> list[str]:
    """Return the anchors of the sections that conclude a brief. These are the last sections, as long as they have only
    texts and facts."""
    found: list[str] = []
    for block in reversed(blocks):
        if isinstance(block, SectionView):
            if not all(isinstance(inner, TextView | FactsView) for inner in block.blocks):
                break
            found.append(block.anchor)
        elif not isinstance(block, TextView | FactsView | DisclosureView):
            break
    return found


def _narrow(callout: CalloutView) -> bool:
    return callout.table is None or len(callout.table.columns) <= 2


def with_leads(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Mark the short texts that introduce the next element, so that no page ends with such a text. If a text is right
    before a figure or a table, its notes are printed below that."""
    found: list[Block] = []
    shown, left = False, 0.0
    for one in reversed(blocks):
        block = one
        if isinstance(one, TextView) and one.notes and found and isinstance(found[-1], FigureView | TableView):
            found[-1] = replace(found[-1], notes=(*one.notes, *found[-1].notes))
            block = replace(one, notes=())
        if isinstance(block, FigureView | FigureRow | TableView | FormulaView):
            shown, left = True, _LEAD_IN
        elif isinstance(block, TextView) and shown and _room(block) <= left and not block.notes:
            left -= _room(block)
            found.append(replace(block, leads=True))
            continue
        else:
            shown = False
        found.append(block)
    return tuple(reversed(found))


@dataclass(frozen=True)
class Slide:
    """A slide. `head` is its claim, and `topic` is its section. `texts` are above the blocks, and `after` is below
    them. `topics` are text-only slides that were merged into this one. `noted` are blocks that only the notes of a
    presentation have.
    """

    topic: str
    head: Markup
    texts: tuple[TextView, ...]
    blocks: tuple[Block, ...]
    after: tuple[TextView, ...] = ()
    anchor: str = ""
    topics: tuple[Slide, ...] = ()
    noted: tuple[Block, ...] = ()

    @property
    def head_width(self) -> str:
        """The width at which the lines of the slide's head are about equally long."""
        return balanced_width(self.head.striptags(), _HEAD_PT)

    @property
    def appended(self) -> bool:
        """Whether the slide is the disclosure, which has its own heading."""
        return any(isinstance(block, DisclosureView) for block in self.blocks)

    @property
    def facts_pt(self) -> float:
        """The largest readable type size in points at which a table of facts fits on the slide."""
        return round(min(_FACTS_PT[1], max(_FACTS_PT[0], self._fact_pitch / _FACT_LINE)), 1)

    @property
    def facts_padding(self) -> float:
        """The space above and below a line of facts, as a multiple of its type size."""
        return round(min(_FACT_PADDING[1], max(_FACT_PADDING[0], (self._fact_pitch / self.facts_pt - 1.35) / 2)), 2)

    @property
    def _fact_pitch(self) -> float:
        lines = sum(_lines_of(block) for block in self.blocks if isinstance(block, FactsView))
        return (_SLIDE_ROOM - _TEXT_LINE * _lines((*self.texts, *self.after), _SLIDE_WIDTH)) / max(1.0, lines)

    @property
    def card_pt(self) -> float:
        """The type size in points of a box's numbers, which have a line each."""
        lines = max(1, sum(map(_numbers_of, self.blocks)))
        texts = _lines((*self.texts, *self.after), _SLIDE_WIDTH)
        notes = sum(isinstance(block, CalloutView) and block.note is not None for block in self.blocks)
        above = _HEAD_PT * (self.head_width != "none")
        return round(min(_CARD_PT, (_CARD_ROOM - above - _CARD_LINE * (texts + notes)) / lines), 1)

    @property
    def said_pt(self) -> float:
        """The type size in points of a text without a figure, or of topics in two columns."""
        if not self.topics:
            lines = max(1.0, _lines(self.texts, _SLIDE_WIDTH))
            return round(min(_ALONE_PT[1], max(_ALONE_PT[0], 13.0 * math.sqrt(_ALONE_LINES / lines))), 1)
        lines = sum(_TOPIC_LINES + _lines(each.texts, _COLUMN_WIDTH) for each in self.topics)
        return round(min(_SAID_PT[1], _SAID_PT[0] * math.sqrt(_COLUMN_LINES / max(1.0, lines))), 1)

    @property
    def table_pt(self) -> float:
        """The type size in points of a table. It is larger for a table with few rows and columns."""
        tables = [block for block in self.blocks if isinstance(block, TableView)]
        small = all(len(table.columns) <= _FEW_COLUMNS for table in tables)
        return _TABLE_PT[small and self._pitch >= _TABLE_LINE * _TABLE_PT[1]]

    @property
    def table_padding(self) -> float:
        """The space above and below a line of the table, as a multiple of its type size."""
        return round(min(_ROW_PADDING[1], max(_ROW_PADDING[0], (self._pitch / self.table_pt - _LINE_HEIGHT) / 2)), 2)

    @property
    def _pitch(self) -> float:
        """The distance in points between a table's lines at which the table, the texts and the notes fill the slide."""
        tables = [block for block in self.blocks if isinstance(block, TableView)]
        texts = _lines((*self.texts, *self.after), _SLIDE_WIDTH)
        notes = 2 * sum(len(table.notes) + (table.note is not None) for table in tables)
        lines = sum(len(table.head) + 1 + sum(map(_row_lines, table.rows)) for table in tables)
        return (_SLIDE_ROOM - _TEXT_LINE * (texts + notes)) / max(1, lines)


def _row_lines(row: TableRow) -> int:
    """Estimate how many lines a table's row takes on a slide in the larger type."""
    texts = (cell.html.striptags() for cell in row.cells if not cell.numeric)
    widest = max((text_width(text, _TABLE_PT[1]) for text in texts), default=0.0)
    least, most = _TEXT_COLUMN
    share = max(least, min(most, 0.7 - _NUMBER_COLUMN * sum(cell.numeric for cell in row.cells)))
    return max(1, math.ceil(widest / (share * _SLIDE_WIDTH)))


def balanced_width(text: str, points: float) -> str:
    """Return the width at which a head's lines are about equally long, or "none" for a single line."""
    width = text_width(text, points) * _BOLD
    lines = math.ceil(width / _SLIDE_WIDTH)
    return "none" if lines < 2 else f"{round(min(_SLIDE_WIDTH, width / lines * 1.08 + points))}pt"


def title_width(title: str, language: str) -> str:
    """Return the width (such as "300pt") that gives a slide title lines of about equal length, or "none" if it fits on
    one line."""
    return balanced_width(title, _JAPANESE_TITLE_PT if language == "ja" else _TITLE_PT)


def even_width(title: Markup, letters: int, language: str) -> str:
    """Return the width at which a title's lines are about equally long. A line has room for `letters` letters, and
    numbers are not broken."""
    close = 0.0 if language == "ja" else _CLOSE
    return _even_width(title, min(_TITLE_EMS[language == "ja"], letters * _LETTER), close)


def even_subtitle_width(subtitle: Markup, language: str) -> str:
    """Return the width at which a subtitle's lines are about equally long, or "none" for Japanese, whose lines break
    between phrases."""
    return "none" if language == "ja" else _even_width(subtitle, _SUBTITLE_EMS, 0.0)


def _even_width(title: Markup, most: float, close: float) -> str:
    """Return the smallest width, in multiples of the type size, at which a title takes no more lines than at the width
    `most`."""
    text = keep_units_beside_numbers(_NUMBER.sub(lambda match: match.group().replace(" ", "_"), str(title)))
    words = [
        text_width(word, _BOLD) - close * len(word)
        for word in Markup(text).striptags().split(" ")  # noqa: S704  # HTML before
    ]
    least = lines_in(words, most)
    if least < 2:
        return "none"
    return f"{round(next(width for width in _widths(most) if lines_in(words, width) <= least) + _TITLE_AIR, 1)}em"


def lines_in(words: Sequence[float], width: float) -> int:
    """Return how many lines of this width the words take. The widths of the words are in multiples of the type size."""
    lines, at = 1, -_BLANK
    for word in words:
        if at + _BLANK + word > width and at > 0:
            lines, at = lines + 1, -_BLANK
        at += _BLANK + word
    return lines


def _widths(most: float) -> Iterator[float]:
    """Yield widths up to the full line."""
    yield from (most * part / 40 for part in range(20, 40))
    yield most


def slides_of(blocks: Iterable[Block]) -> tuple[Slide, ...]:
    """Return a slide for each figure, table and box, whose title is its claim. A text is put on the slide of the next
    block, or on a slide of texts. A short text is kept for a slide with other texts, or is put above the last facts.
    """
    found: list[Slide] = []
    waiting: list[Slide] = []
    slides = _slides(blocks)
    for at, slide in enumerate(slides):
        if slide.blocks:
            if holds_facts_alone(slide):
                found += _said(waiting)
                waiting.clear()
            found.append(slide)
            continue
        waiting += slide.topics or (slide,)
        if any(next_one.blocks for next_one in slides[at + 1 : at + 2]) and not _is_short(waiting):
            found += _said(waiting)
            waiting.clear()
    return _with_text_above_facts(found + _said(waiting))


def single_slides_of(blocks: Iterable[Block]) -> tuple[Slide, ...]:
    """Return slides like `slides_of`, but with each text on a slide of its own. Facts follow at the end."""
    slides = _slides(blocks)
    return tuple(sorted(slides, key=holds_facts_alone))


_SHORT = 8.0
"""The most lines of a short text, which would leave a slide of its own mostly empty."""


def _is_short(said: Sequence[Slide]) -> bool:
    return sum(_lines(each.texts, _SLIDE_WIDTH) for each in said) < _SHORT


def holds_facts_alone(slide: Slide) -> bool:
    return len(slide.blocks) == 1 and isinstance(slide.blocks[0], FactsView) and not slide.texts


def _said(texts: Sequence[Slide]) -> list[Slide]:
    """Return text-only slides. Each has as many texts as two columns can hold."""
    found: list[Slide] = []
    for text in texts:
        said = [*(found[-1].topics or (found[-1],)), text] if found else []
        if said and sum(_TOPIC_LINES + _lines(each.texts, _COLUMN_WIDTH) for each in said) <= _COLUMN_LINES:
            found[-1] = Slide("", Markup(), (), (), topics=tuple(said))
        else:
            found.append(text)
    return found


def _with_text_above_facts(slides: Sequence[Slide]) -> tuple[Slide, ...]:
    """If the last slide is a table of few facts, return the slides with that table moved below the text before it. The
    text must be short, and its slide must not be left with a single other text."""
    match slides:
        case [*others, said, last] if not said.blocks and holds_facts_alone(last) and _few_of(last):
            *rest, text = said.topics or (said,)
            if len(rest) != 1 and _is_short([text]):
                kept = [replace(said, topics=tuple(rest))] if rest else []
                return (*others, *kept, replace(text, blocks=last.blocks))
    return tuple(slides)


def _few_of(slide: Slide) -> bool:
    """Return whether a slide's table of facts is so short that it can become a sentence beside the method."""
    return any(isinstance(block, FactsView) and block.beside and _few(block) for block in slide.blocks)


def closing_facts(slides: Sequence[Slide]) -> tuple[tuple[Slide, ...], tuple[Block, ...]]:
    """Return the slides and, separately, the facts of the last slide if it has only a few facts. That slide is then
    dropped."""
    match slides:
        case [*others, Slide(texts=(), blocks=(FactsView() as facts,), after=()) as last] if others and _few(facts):
            head = last.head if "<" in last.head else Markup()
            return tuple(others), (replace(facts, title=facts.title or str(plain_text(last.head)), title_html=head),)
    return tuple(slides), ()


def _few(facts: FactsView) -> bool:
    if facts.common and not facts.beside:
        return True  # a sentence
    return (len(facts.beside) or sum(len(group.lines) for group in facts.groups)) <= _FEW_FACTS


def _slides(blocks: Iterable[Block], topic: str = "", anchor: str = "") -> tuple[Slide, ...]:
    found: list[Slide] = []
    waiting: list[TextView] = []

    def rest() -> None:
        if waiting and found and _takes(found[-1], waiting):
            found[-1] = replace(found[-1], after=tuple(waiting))
        elif waiting:
            found.append(Slide(topic, Markup.escape(topic), tuple(waiting), ()))
        waiting.clear()

    for block in blocks:
        match block:
            case TextView():
                waiting.append(block)
            case SectionView():
                rest()
                found += _with_marks(_slides(block.blocks, block.title, block.anchor), block)
            case FigureRow():
                for figure in block.figures:
                    found.append(_slide(topic, figure, waiting))
            case _:
                above = waiting[:-1] if waiting and _is_claim(waiting[-1]) else waiting
                many = isinstance(block, FigureView) and _lines(above, _SLIDE_WIDTH) > _lines_above(topic, block)
                if many or sum(map(_room, waiting)) > _LEAD_IN:
                    rest()
                found.append(_slide(topic, block, waiting))
    rest()
    if found and anchor:
        found[0] = replace(found[0], anchor=anchor)
    return tuple(found)


def _with_marks(slides: tuple[Slide, ...], section: SectionView) -> tuple[Slide, ...]:
    """Return the slides of a section. The section title on the first slide gets the marks of the title's notes."""
    marks, told = note_marks(lift_marks(section.title_html)[1]), Markup.escape(section.title)
    if not marks or not slides or slides[0].topic != section.title:
        return slides
    first, *others = slides
    head = first.head + marks if first.head == told else first.head
    return (replace(first, topic=told + marks, head=head), *others)


def _slide(topic: str, block: Block, waiting: list[TextView]) -> Slide:
    """Return the slide of one block with the texts that were kept for it. A short text becomes the slide's claim."""
    texts = list(waiting)
    waiting.clear()
    if isinstance(block, TableView | FactsView) and block.title and not (texts and _is_claim(texts[-1])):
        return Slide(topic, _title(block), tuple(texts), (replace(block, title="", title_html=Markup()),))
    claim = block.claim if isinstance(block, FigureView) else None
    if claim is None and isinstance(block, FigureView | TableView) and texts and _is_claim(texts[-1]):
        said = texts.pop()
        claim = Markup(said.html.replace("<p>", "").replace("</p>", ""))  # noqa: S704  # was HTML before
        block = replace(block, notes=(*said.notes, *block.notes))
    head = claim or _title(block) or Markup.escape(topic)
    if isinstance(block, FigureView) and claim is None and block.title:
        block = replace(block, title="", title_html=Markup())  # its head says it
    return Slide(topic, head, tuple(texts), (block,))


def _lines_above(topic: str, figure: FigureView) -> float:
    """Return how many lines of text fit between the slide's head and a figure with its notes."""
    head = _HEADS[balanced_width(str((figure.claim or _title(figure)).striptags()), _HEAD_PT) != "none"]
    told = [str(note.text) for note in figure.notes] + ([figure.note.striptags()] if figure.note else [])
    notes = sum(math.ceil(text_width(text, _NOTE_PT) / _SLIDE_WIDTH) for text in told)
    room = _SLIDE_HEIGHT - head - _TOPIC_LINE * bool(topic) - _DRAWN - _NOTE_LINE * notes
    return min(_FIGURE_LINES, room / _CLOSE_LINE)


def is_long_ending(texts: Sequence[str], limits: Sequence[str]) -> bool:
    """Return whether the method and the limits need smaller letters to fit on one slide."""
    columns = sum(math.ceil(text_width(text, 13.0) / _THIRD) + 0.3 for text in texts) / 3
    lines = columns + sum(math.ceil(text_width(text, 13.0) / _COLUMN_WIDTH) + 0.3 for text in limits)
    return lines > _ENDING_LINES


def _takes(slide: Slide, texts: Sequence[TextView]) -> bool:
    """Return whether a slide's figure, box or short table leaves room for these texts."""
    if len(slide.blocks) != 1 or slide.after or sum(map(_room, texts)) > _LEAD_IN:
        return False
    block = slide.blocks[0]
    if isinstance(block, FigureView):
        return _lines((*slide.texts, *texts), _SLIDE_WIDTH) <= _FIGURE_LINES
    few = isinstance(block, TableView) and len(block.rows) <= _FEW_ROWS
    return few or isinstance(block, CalloutView | FactsView)


def _title(block: Block) -> Markup:
    """Return the title of a block with the numbers of its claims, or an empty title if the block has no title."""
    said: Markup = getattr(block, "title_html", Markup())
    return said or Markup.escape(getattr(block, "title", ""))


def _is_claim(text: TextView) -> bool:
    return _room(text) <= _CLAIM and text.html.count("<p>") == 1


def _numbers_of(block: Block) -> int:
    """Return how many numbers a box, or a table of one row, has."""
    if isinstance(block, CalloutView):
        return len(block.cards) + (_numbers_of(block.table) if block.table else 0)
    return len(block.columns) if isinstance(block, TableView) else 0


def _lines_of(facts: FactsView) -> float:
    """Return the number of lines of a table of facts on a slide, counting its head, its groups with the space above
    them, and long values."""
    most = 1000.0 / (2 if facts.observed else 1)  # pixels of a column
    if facts.beside:
        return 1.5 + len(facts.beside)
    lines = [line for group in facts.groups for line in group.lines]
    long = (math.ceil(max(text_width(text, 16.0) for text in (line.declared, line.observed)) / most) for line in lines)
    return 1.5 + 1.3 * len(facts.groups) + sum(max(1, count) for count in long)


def _lines(texts: Iterable[TextView], width: float) -> float:
    """Return how many lines texts take at this width in points. Each paragraph adds half a line at its end."""
    parts = (Markup(part).striptags() for text in texts for part in text.html.split("</p>"))  # noqa: S704  # was HTML
    return sum(math.ceil(text_width(part, 13.0) / width) + 0.5 for part in parts if part)


def _room(text: TextView) -> float:
    """Estimate how many Latin letters take as much room as a text. A Japanese letter takes the room of two."""
    return text_width(text.html.striptags(), 1.9)


def _length(text: TextView) -> int:
    return len(text.html.striptags())
