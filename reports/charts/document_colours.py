"""Gives each hardware, workload, level or quantity of a brief one colour in all figures.

Colours are assigned in the spec's order: first to the keys of each dimension that colours a figure, then to the labels
of other series. So neither the order within a figure nor leaving something out of one figure changes a colour in
another figure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field

from benchbrief.compiler.briefs.colours import greys, is_grey, shades
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import plan as p
from benchbrief.model.plan import DimKey, key_text
from benchbrief.reports.data.place_labels import keys_in_order


@dataclass(frozen=True)
class Colour:
    """An index in the palette, which also determines shape and dash. A `given` colour overrides the palette's."""

    place: int
    given: str = ""


@dataclass(frozen=True)
class DocumentColours:
    """The colours of a brief's keys, and of the labels of series that have no key of their own."""

    of_key: Mapping[tuple[str, DimKey], Colour] = field(default_factory=dict)
    of_label: Mapping[str, Colour] = field(default_factory=dict)

    def of_series(self, figure: p.FigureElement, series: p.Series, plan: p.Plan) -> Colour:
        """Return the colour of a series without a `color`. If the series has a key of its own in the figure, this is
        the key's colour. Otherwise, it is the colour of the series' label."""
        own = _only_key(series, plan)
        others = [_only_key(each, plan) for each in figure.series if each is not series and each.mark != "bracket"]
        if own and own in self.of_key and own not in others:
            return self.of_key[own]
        return self.of_label.get(str(series.label), Colour(0))


def document_colours(elements: Iterable[p.Element], plan: p.Plan, palette: Mapping[str, str]) -> DocumentColours:
    """Return the colours of a brief with these elements. A `palette` sets the colours of some keys, and the other keys
    of their dimension become grey. If only one key is not grey, the brief is about that key, and figures without it
    show their quantities in shades of its colour. A quantity that is always drawn alone has the colour itself, since no
    legend would explain a shade.
    """
    figures = list(p.figures_in(elements))
    keys: dict[tuple[str, DimKey], None] = {}
    labels: dict[str, None] = {}
    together: set[str] = set()
    """The labels of series that are drawn beside others."""
    beside: set[str] = set()
    """The labels of series that are drawn beside the series of a key."""
    for figure in figures:
        for series in figure.series:
            if dim := series.color_dim:
                own = [key.value for key in figure.keys.get(dim, ())]
                known = keys_in_order(dim, plan)
                keys |= dict.fromkeys((dim, key) for key in (*known, *(key for key in own if key not in known)))
    for figure in figures:
        if not any(series.color_dim for series in figure.series):
            for series in figure.series:
                key = _only_key(series, plan)
                if key and key_text(key[1]) in palette:
                    keys[key] = None
                own_label = [str(series.label)] if series.mark != "bracket" else []
                together |= {*own_label} if sum(each.mark not in _OVER for each in figure.series) > 1 else set()
                labels |= dict.fromkeys(own_label)
                beside |= {*own_label} if any(_only_key(each, plan) for each in figure.series) else set()
    by_key: dict[tuple[str, DimKey], Colour] = {}
    for dim in dict.fromkeys(dim for dim, _ in keys):
        own = [key for of, key in keys if of == dim]
        others = [key_text(key) for key in own if key_text(key) not in palette]
        given = dict(palette)
        if len(others) < len(own):
            given |= zip(others, greys(len(others)), strict=True)
        by_key |= {(dim, key): Colour(len(by_key) + at, given.get(key_text(key), "")) for at, key in enumerate(own)}
    subjects = [colour for colour in palette.values() if not is_grey(colour)]
    apart = [label for label in labels if label not in beside]
    several = [label for label in apart if label in together]
    family: dict[str, str] = {}
    if len(subjects) == 1 and len(several) <= 3:
        family = {**dict.fromkeys(apart, subjects[0]), **dict(zip(several, shades(subjects[0]), strict=False))}
    of_label = {label: Colour(len(by_key) + at, family.get(label, "")) for at, label in enumerate(labels)}
    return DocumentColours(by_key, of_label)


_OVER = ("bracket", "rule")
"""The marks that are drawn over other series."""
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")


def _only_key(series: p.Series, plan: p.Plan) -> tuple[str, DimKey] | None:
    """Return the only key of a series: its hardware if the plan has several, or else its level of a factor, or its
    workload. Return None if the series has several keys of that kind."""
    if series.color_dim:
        return None
    named = {word for found in _BRACKETS.findall(series.query.text) for word in re.findall(r"\w+", found)}
    for dim in ("hardware", *plan.factors, "workload"):
        known = keys_in_order(dim, plan)
        read = {key for each in series.query.reads or () for key in each.keys.get(dim, ()) if key in known}
        there = read or {key for key in known if key in named}
        if len(known) > 1 and len(there) == 1 and dim not in series.query.dims:
            return dim, there.pop()
    return None
