"""The CSS that a house's style sheet may contain: rules for looks that can't hide or cover any part of the brief.

The PDF writer's layout shows whether the notices can be seen, but browsers may lay them out differently, and the layout
does not show whether something covers them. So this module lists the allowed properties, functions, rules and
selectors, and refuses all others, giving their lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from benchbrief.dsl.late_pattern import compile_late

_PROPERTIES = compile_late(
    r"--[\w-]+|src|unicode-range|size|color|fill|stroke|stroke-(?:width|dasharray)|opacity|visibility|display|box-sizing"
    r"|background(?:-color|-image|-position|-repeat|-size)?|border(?:-(?!image)[a-z-]+)?|box-shadow|text-shadow"
    r"|font(?:-(?!size-adjust)[a-z-]+)?|line-height|letter-spacing|word-spacing|tab-size|accent-color"
    r"|text-(?:align|align-last|transform|indent|decoration(?:-[a-z-]+)?|underline-offset|wrap)"
    r"|hyphens|white-space|overflow-wrap|word-break|word-wrap|line-break|overflow|vertical-align|transform"
    r"|(?:margin|padding)(?:-[a-z-]+)?|(?:min-|max-)?(?:width|height)|columns|column-[a-z-]+|float|clear"
    r"|list-style(?:-[a-z]+)?|table-layout|caption-side|empty-cells|quotes|content|counter-(?:reset|increment)"
    r"|(?:page-)?break-(?:before|after|inside)|orphans|widows|flex(?:-[a-z]+)?|order|gap|row-gap"
    r"|grid-template-columns|(?:align|justify)-(?:content|items|self)"
)
_FUNCTIONS = frozenset(
    """
    rgb rgba hsl hsla var url calc counter local format linear-gradient radial-gradient repeat minmax rotate
    translate translatex translatey
    """.split()  # noqa: SIM905  # quoted and in a line each, they would hide the rest
)
_IMAGES = frozenset(("url", "linear-gradient", "radial-gradient"))
_KEYWORDS = frozenset(
    """
    canvas canvastext linktext visitedtext activetext buttonface buttontext buttonborder field fieldtext highlight
    highlighttext selecteditem selecteditemtext mark marktext graytext accentcolor accentcolortext activeborder
    activecaption appworkspace background buttonhighlight buttonshadow captiontext inactiveborder inactivecaption
    inactivecaptiontext infobackground infotext menu menutext scrollbar threeddarkshadow threedface threedhighlight
    threedlightshadow threedshadow window windowframe windowtext column-reverse table-column table-column-group
    contents ruby ruby-text revert revert-layer
    """.split()  # noqa: SIM905  # quoted and in a line each, they would hide the rest
)
"""Keywords that browsers (but not the PDF writer) read as system colours or as hidden boxes."""
_PSEUDO = frozenset(
    """
    root first-child last-child only-child first-of-type last-of-type only-of-type nth-child nth-last-child
    nth-of-type nth-last-of-type not is where empty link before after first-line first-letter marker
    """.split()  # noqa: SIM905  # quoted and in a line each, they would hide the rest
)
_POINTED_AT = compile_late(r"(?:^|[\s>+~])a:(?:hover|focus|focus-visible|active)$")
_AT_RULES = ("media", "page", "font-face")
PROTECTED = frozenset(
    """
    notice noticed error warning cover-notices traced whole simulated-mark imported-mark slide slides technical-brief
    white-paper blog opening origin-tag limits-line companion
    """.split()  # noqa: SIM905  # quoted and in a line each, they would hide the rest
)
"""The classes of a brief's required statements, of marks on unmeasured values, and of the elements that contain these.
"""
_NO_NEGATIVE = compile_late(r"--|margin|padding|word-spacing|line-height|letter-spacing")
_AS_WRITTEN = compile_late(r"line-height|.*-shadow|transform|text-decoration.*|text-underline-offset|vertical-align")
"""Properties whose values have limits, and so can't be variables or calculations."""
_MOST_MOVED = 10.0
"""The largest shift in pixels, or turn in degrees, that is sure not to cover anything else."""
_LARGEST_SHADOW = 40.0
_THICKEST = {"px": 10.0, "pt": 8.0, "em": 1.0, "rem": 1.0}
_LEAST_LINE = {"": 0.9, "em": 0.9, "rem": 0.6, "%": 90.0, "px": 8.0, "pt": 6.0}


class RefusedStyle(NamedTuple):
    line: int
    what: str
    why: str


def refused_style(css: str) -> RefusedStyle | None:
    """Return the first forbidden part of a style sheet, or None if there is none."""
    import tinycss2

    return next(_of_rules(tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True)), None)


def _of_rules(rules: Iterable[Any]) -> Iterator[RefusedStyle]:
    import tinycss2

    for rule in rules:
        if rule.type == "error":
            yield RefusedStyle(rule.source_line, "this", f"it can't be read ({rule.message})")
        elif rule.type == "qualified-rule":
            yield from _of_selector(rule)
            free = all(map(_is_free, _selectors(rule.prelude)))
            yield from _of_contents(rule.content, free=free, within="a rule")
        elif rule.type == "at-rule":
            name = rule.lower_at_keyword
            if name not in _AT_RULES or rule.content is None:
                if name != "charset":
                    yield RefusedStyle(rule.source_line, f"@{name}", "rules may stand in @media, and in nothing else")
            elif name == "media":
                yield from _of_rules(tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True))
            else:
                yield from _of_contents(rule.content, free=True, within=f"@{name}")


def _of_contents(content: Any, *, free: bool, within: str) -> Iterator[RefusedStyle]:
    import tinycss2

    for each in tinycss2.parse_blocks_contents(content, skip_comments=True, skip_whitespace=True):
        if each.type == "declaration":
            why = _wrong(each, free=free)
            if why:
                yield RefusedStyle(each.source_line, each.name, why)
        elif each.type == "at-rule" and within == "@page" and each.content is not None:
            yield from _of_contents(each.content, free=True, within="@page")
        elif each.type == "error":
            yield RefusedStyle(each.source_line, "this", f"it can't be read ({each.message})")
        else:
            yield RefusedStyle(each.source_line, "this rule", f"it is inside {within}")


def _wrong(declaration: Any, *, free: bool) -> str:
    """Return why a declaration is refused, or "" if it is allowed."""
    name = declaration.lower_name
    if not _PROPERTIES.fullmatch(name):
        return "it is not one of the properties that change only the look of an element"
    tokens = list(_tokens(declaration.value))
    functions = {token.lower_name for token in tokens if token.type == "function"}
    functions |= {"url"} if any(token.type == "url" for token in tokens) else set()
    if unknown := functions - _FUNCTIONS:
        return f"`{min(unknown)}()` is not understood alike by browsers and the PDF writer"
    if word := next((t.lower_value for t in tokens if t.type == "ident" and t.lower_value in _KEYWORDS), ""):
        return f"`{word}` is not understood alike by browsers and the PDF writer"
    own = (t.lower_value for t in tokens if t.type == "ident" and re.match("-[a-z]", t.lower_value))
    if not name.startswith("font") and (word := next(own, "")):
        return f"`{word}` is a browser's own"
    if (functions & _IMAGES) and not free and not name.startswith("src"):
        return "pictures and gradients are for elements of a class of their own, such as `.band`"
    sizes = [(token.value, getattr(token, "lower_unit", "%" if token.type == "percentage" else ""))
             for token in tokens if token.type in ("number", "dimension", "percentage")]  # fmt: skip
    if _NO_NEGATIVE.match(name):
        least = -0.1 if name == "letter-spacing" else 0.0
        if any(value < least or (value < 0 and unit != "em") for value, unit in sizes) or "calc" in functions:
            return "what is less than nothing, or calculated, could lie over something else"
    if _AS_WRITTEN.fullmatch(name) and functions & {"var", "calc"}:
        return "its sizes must be written as numbers"
    return _too_far(name, tokens, sizes)


def _too_far(name: str, tokens: list[Any], sizes: list[tuple[float, str]]) -> str:
    """Return why a size is refused for reaching over other elements, or "" if it is allowed."""
    lengths = [(abs(value), unit) for value, unit in sizes if value]
    if name == "font" and any(part == "/" for part in tokens):
        return "write the height of its lines as `line-height`"
    if name == "line-height" and any(value < _LEAST_LINE.get(unit, 1e9) for value, unit in sizes):
        return "its lines would lie over each other"
    if name.endswith("-shadow") and any(
        value > _LARGEST_SHADOW or unit not in ("", "px", "pt") for value, unit in lengths
    ):
        return f"shadows reach as far as {_LARGEST_SHADOW:.0f}px"
    if name.startswith(("text-decoration", "text-underline")) and any(
        v > _THICKEST.get(unit, 0) for v, unit in lengths
    ):
        return "its lines are as thick as 10px, or 1em"
    if name == "vertical-align" and sizes:
        return "it is given by a word, such as `top`"
    if name == "transform" and any(value > _MOST_MOVED or unit not in ("px", "deg") for value, unit in lengths):
        return f"it may move by {_MOST_MOVED:.0f}px, and turn by as many degrees"
    return ""


def _of_selector(rule: Any) -> Iterator[RefusedStyle]:
    tokens = list(_tokens(rule.prelude))
    for before, token in pairwise(tokens):
        if before == ":" and token.type in ("ident", "function"):
            name = token.lower_value if token.type == "ident" else token.lower_name
            if name in _PSEUDO and not any(t.type == "ident" and t.lower_value == "of" for t in
                                           _tokens(getattr(token, "arguments", ()))):  # fmt: skip
                continue
            if not all(_POINTED_AT.search(text) for text in _texts(rule.prelude) if f":{name}" in text.lower()):
                why = "the PDF writer can't tell what it holds for; links may have `a:hover`, `a:focus` and `a:active`"
                yield RefusedStyle(rule.source_line, f":{name}", why)
    if any(token in ("&", "|") for token in tokens):
        yield RefusedStyle(rule.source_line, "this rule", "its selector is not understood alike by all browsers")


def _selectors(prelude: list[Any]) -> Iterator[list[Any]]:
    found: list[Any] = []
    for part in prelude:
        if part == ",":
            yield found
            found = []
        else:
            found.append(part)
    yield found


def _texts(prelude: list[Any]) -> list[str]:
    import tinycss2

    return [tinycss2.serialize(selector).strip() for selector in _selectors(prelude)]


def _is_free(selector: list[Any]) -> bool:
    """Return whether the selector has a class that neither the notices nor the elements around them have."""
    last: list[Any] = []
    for token in selector:
        ends = token.type == "whitespace" or token in (">", "+", "~")
        if not ends:
            last.append(token)
        elif token is not selector[-1]:
            last = []
    classes = [after.value for dot, after in pairwise(last) if dot == "." and after.type == "ident"]
    return any(name not in PROTECTED for name in classes)


def _tokens(values: Iterable[Any]) -> Iterator[Any]:
    """Yield all tokens, including those inside functions and brackets."""
    for token in values:
        yield token
        yield from _tokens(getattr(token, "arguments", None) or getattr(token, "content", None) or ())
