"""How layouts take a report's elements: the lead beside the first text, and what stands on which slide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from benchbrief.reports.view import Block, CalloutView, FigureRow, FigureView, SectionView, TableView, TextView

_BESIDE = 350
"""Characters of text that a lead box is worth standing beside."""
_CLAIM, _LEAD_IN = 150, 460
"""Characters of a text that can head a slide, and of one that can stand under its head."""


@dataclass(frozen=True)
class Lead:
    """The lead box and the texts that stand beside it."""

    callout: CalloutView
    texts: tuple[TextView, ...]


def lead_of(blocks: Sequence[Block]) -> tuple[Lead | None, tuple[Block, ...]]:
    """The lead of a brief, where it begins with one box and enough text, and all that follows."""
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


def _narrow(callout: CalloutView) -> bool:
    return callout.table is None or len(callout.table.columns) <= 2


@dataclass(frozen=True)
class Slide:
    """`head` is what it claims; `topic` the section that it is of; `texts` stand above the blocks, `after` below."""

    topic: str
    head: Markup
    texts: tuple[TextView, ...]
    blocks: tuple[Block, ...]
    after: tuple[TextView, ...] = ()
    anchor: str = ""


def slides_of(blocks: Iterable[Block], topic: str = "", anchor: str = "") -> tuple[Slide, ...]:
    """A slide for each figure, table and box, under its claim; texts go to what follows them, or stand alone."""
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
                found += slides_of(block.blocks, block.title, block.anchor)
            case FigureRow():
                for figure in block.figures:
                    found.append(_slide(topic, figure, waiting))
            case _:
                if sum(map(_length, waiting)) > _LEAD_IN:
                    rest()
                found.append(_slide(topic, block, waiting))
    rest()
    if found and anchor:
        found[0] = replace(found[0], anchor=anchor)
    return tuple(found)


def _slide(topic: str, block: Block, waiting: list[TextView]) -> Slide:
    """The slide of one block, with the texts that waited for it: one that is short enough is its claim."""
    texts = list(waiting)
    waiting.clear()
    claim = block.claim if isinstance(block, FigureView) else None
    shown = isinstance(block, FigureView | TableView)
    if claim is None and shown and texts and _is_claim(texts[-1]):
        claim = Markup(texts.pop().html.replace("<p>", "").replace("</p>", ""))  # noqa: S704  # was HTML before
    head = claim or Markup.escape(getattr(block, "title", "") or topic)
    return Slide(topic, head, tuple(texts), (block,))


def _takes(slide: Slide, texts: Sequence[TextView]) -> bool:
    """Whether there is room for these under a slide's figure."""
    shown = len(slide.blocks) == 1 and isinstance(slide.blocks[0], FigureView) and not slide.after
    return shown and sum(map(_length, texts)) <= _LEAD_IN


def _is_claim(text: TextView) -> bool:
    return _length(text) <= _CLAIM and not text.notes and text.html.count("<p>") == 1


def _length(text: TextView) -> int:
    return len(text.html.striptags())
