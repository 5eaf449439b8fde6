"""Reads the colours of a house style, and finds those that do not show on white or look alike."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache

_WRITTEN = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
ACCENT = "#0072b2"
"""The accent colour of our own style."""
GREY = "grey"
_GREYS = ("#7a7a7a",), ("#8f8f8f", "#5c5c5c"), ("#9b9b9b", "#6e6e6e", "#3f3f3f")
"""Shades of grey that can be told apart, for one, two and three shades."""
_SHOWS = 3.0
"""The contrast that a bar or a line needs on white (WCAG 2.2, 1.4.11)."""
NEAR = 0.06
"""The largest distance in OKLab at which two colours are hard to tell apart."""

_Vector = tuple[float, float, float]
_SEEN: tuple[tuple[_Vector, _Vector, _Vector], ...] = (
    ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    ((0.11238, 0.88762, 0.0), (0.11238, 0.88762, 0.0), (0.00401, -0.00401, 1.0)),
    ((0.29275, 0.70725, 0.0), (0.29275, 0.70725, 0.0), (-0.02234, 0.02234, 1.0)),
)
"""Red, green and blue light as seen by normal eyes, and by eyes without red or without green cones (Vienot and others,
1999)."""
_CONES = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
_OKLAB = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)
"""The two matrices of OKLab (Ottosson 2020): from linear light to cones, and from the cones' cube roots to lightness
and hue."""


def colour_of(text: str) -> str | None:
    """Return `#rgb` or `#rrggbb` as `#rrggbb` in small letters, or None for any other text."""
    if not _WRITTEN.fullmatch(text):
        return None
    return "#" + "".join(sign * (2 if len(text) == 4 else 1) for sign in text[1:].lower())


def greys(count: int) -> Sequence[str]:
    """Return `count` shades of grey. Beyond three, the shades repeat."""
    shades = _GREYS[min(max(count, 1), len(_GREYS)) - 1]
    return [shades[at % len(shades)] for at in range(count)]


def is_grey(colour: str) -> bool:
    return len({colour[at : at + 2] for at in (1, 3, 5)}) == 1


def shades(colour: str) -> Sequence[str]:
    """Return a colour, a lighter shade of its hue that is still visible on white, and a darker shade."""
    channels = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    lighter = ("#" + "".join(f"{c + (255 - c) * part // 100:02x}" for c in channels) for part in range(50, 0, -2))
    dark = "#" + "".join(f"{c * 50 // 100:02x}" for c in channels)
    return colour, next((light for light in lighter if contrast_on_white(light) >= _SHOWS), colour), dark


def mixed(colour: str, white: float) -> str:
    """Lighten a colour: `white` is the share of white, 0 to 1."""
    channels = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(each + (255 - each) * white):02x}" for each in channels)


def contrast_on_white(colour: str) -> float:
    """Return the contrast ratio of `#rrggbb` on white, 1 to 21, as WCAG 2.2 defines it."""
    red, green, blue = _light(colour)
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


def darker(colour: str, enough: float) -> str:
    """Return the darker colour of the same hue that is nearest to this one and has enough contrast on white."""
    channels = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    for percent in range(99, 0, -1):
        found = "#" + "".join(f"{channel * percent // 100:02x}" for channel in channels)
        if contrast_on_white(found) >= enough:
            return found
    return "#000000"


def distance(one: str, other: str) -> float:
    """Return how far apart two colours are (0 to 1) for the kind of colour vision that distinguishes them least."""
    return min(map(math.dist, _as_seen(one), _as_seen(other)))


@lru_cache(maxsize=4096)
def _as_seen(colour: str) -> tuple[_Vector, ...]:
    """Return the colour in OKLab as each kind of eye sees it."""
    return tuple(_oklab(_times(eyes, _light(colour))) for eyes in _SEEN)


def _light(colour: str) -> _Vector:
    """Convert the channels of sRGB to linear light (IEC 61966-2-1)."""
    shares = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4) for share in shares
    )
    return red, green, blue


def _oklab(light: _Vector) -> _Vector:
    long, middle, short = (math.cbrt(cone) for cone in _times(_CONES, light))
    return _times(_OKLAB, (long, middle, short))


def _times(matrix: Sequence[_Vector], vector: _Vector) -> _Vector:
    one, two, three = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
    return one, two, three
