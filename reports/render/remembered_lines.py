"""Remembers the style sheets that the PDF writer parses, and the line breaks that it finds.

A brief is laid out several times, with figures of other heights, and its columns and tables even more often. Most of
their lines are the same each time, and finding the lines takes most of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from operator import itemgetter
from typing import Any

_LOOK = itemgetter(
    *("font_family", "font_size", "font_style", "font_stretch", "font_weight", "font_kerning", "font_variant_caps"),
    *("font_variant_ligatures", "font_variant_position", "font_variant_numeric", "font_variant_alternates"),
    *("font_variant_east_asian", "font_feature_settings", "font_variation_settings", "font_language_override"),
    *("lang", "direction", "letter_spacing", "word_spacing", "tab_size", "text_decoration_line"),
    *("white_space", "overflow_wrap", "word_break"),
    *("hyphens", "hyphenate_character", "hyphenate_limit_chars", "hyphenate_limit_zone"),
)
"""The properties of a style that decide how a text breaks into lines."""
_SIZES = (
    *(f"{kind}_{side}" for kind in ("margin", "padding") for side in ("left", "right", "top", "bottom")),
    *(f"border_{side}_width" for side in ("left", "right", "top", "bottom")),
    *("width", "min_width", "max_width", "height", "min_height", "max_height"),
)
"""The sizes of a box that its style and its containing block decide."""
_OWN_SIZES = itemgetter("width", "min_width", "max_width", "height", "min_height", "max_height")
"""The properties that WeasyPrint sets in a copy of a style while it lays out a flexible box."""
_known: ContextVar[dict[object, tuple[Any, ...]] | None] = ContextVar("lines", default=None)


@contextmanager
def remembering_lines() -> Iterator[None]:
    """Remember the lines of every page that the block lays out. All its pages must use the same typefaces."""
    before = _known.set({})
    try:
        yield
    finally:
        _known.reset(before)


def with_memory(split: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
    """Return WeasyPrint's `split_first_line` with a cache. Cached lines are copied, because drawing a page changes its
    lines."""

    def remembered(text: str, style: Any, context: Any, *fit: Any, **more: Any) -> tuple[Any, ...]:
        if (known := _known.get()) is None:
            return split(text, style, context, *fit, **more)
        key = text, _look(style), fit, *more.items()
        if (found := known.get(key)) is None:
            found = known[key] = split(text, style, context, *fit, **more)
        line, *measured = found
        return copy(line), *measured

    return remembered


def once_a_style(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the function with its result cached in each style. This is safe because WeasyPrint copies a style before
    it changes it."""
    name = f"remembered_{read.__name__}"

    def remembered(style: Any) -> Any:
        known = vars(style)
        if name not in known:
            known[name] = read(style)
        return known[name]

    return remembered


def once_a_width(resolve: Callable[[Any, Any], None], boxes: Any) -> Callable[[Any, Any], None]:
    """Return WeasyPrint's `resolve_percentages`, which sets a box's sizes, with its results cached in each style by the
    size of the containing block. Nothing is cached for tables whose cells share borders, since their widths depend on
    neighbouring cells."""

    def remembered(box: Any, containing_block: Any) -> None:
        style = box.style
        if style["border_collapse"] == "collapse" or isinstance(box, boxes.PageBox):
            resolve(box, containing_block)
            return
        if isinstance(containing_block, boxes.Box):
            containing_block = containing_block.width, containing_block.height
        known = vars(style).setdefault("remembered_sizes", {})
        key = *containing_block, *_OWN_SIZES(style)
        if (found := known.get(key)) is None:
            resolve(box, containing_block)
            own = vars(box)
            known[key] = {name: own[name] for name in _SIZES}
        else:
            vars(box).update(found)

    return remembered


def once_a_sheet(parse: Callable[..., Any]) -> Callable[..., Any]:
    """Return WeasyPrint's `CSS` with each page's first style sheet cached in the configuration of typefaces, so that
    pages with the same configuration share it. Linked and imported sheets, and those that define counters or colour
    profiles, are parsed again."""

    def remembered(**given: Any) -> Any:
        rules, layers = given["page_rules"], given["layers"]
        if "string" not in given or rules or layers:  # rules and layers are of a sheet before this one
            return parse(**given)
        known = vars(given["font_config"]).setdefault("remembered_sheets", {})
        key, defined = (given["string"], given["media_type"]), _defined(given)
        if key not in known:
            sheet = parse(**given)
            if _defined(given) == defined:
                known[key] = sheet, tuple(rules), tuple(layers)
            return sheet
        sheet, its_rules, its_layers = known[key]
        rules += its_rules
        layers += its_layers
        sheet = copy(sheet)
        sheet.page_rules, sheet.layers = rules, layers
        return sheet

    return remembered


def _defined(given: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    return tuple(dict(given[name] or {}) for name in ("counter_style", "color_profiles"))


@once_a_style
def _look(style: Any) -> str:
    return str(_LOOK(style))
