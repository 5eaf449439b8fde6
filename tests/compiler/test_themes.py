"""Tests what a house's style sheet may contain, so that a brief loads nothing."""

from __future__ import annotations

import pytest

from benchbrief.compiler.briefs.themes import what_loads


@pytest.mark.parametrize(
    "css",
    [
        "p { background: url(http://example.org/x.png) }",
        r"p { background: \75rl(http://example.org/x.png) }",
        r"p { background: \000075 RL( ' http://example.org/x.png') }",
        r"p { background: u\rl(//example.org/x.png) }",
        '@import "x.css";',
        r"@import \d800 \110000 \a \22 x;",
        r'@\69mport "x.css";',
        'p { background: image-set("http://example.org/x.png" 1x) }',
        'p { background: -webkit-image-set(url(data:image/png;base64,AA) 1x, "x.png" 2x) }',
        'p { background: image("x.png") }',
        'a { content: "/*" } p { background: url(x.png) } b { content: "*/" }',
        'p { background: src("x.png") }',
    ],
)
def test_what_loads_something_is_found_however_it_is_written(css: str) -> None:
    found = what_loads(f"a {{ color: red }}\n{css}")
    assert found
    assert found[0] == 2


@pytest.mark.parametrize(
    "css",
    [
        "p { background: url(data:image/png;base64,AA) } a { fill: url(#grad) }",
        "/* url(x.png) */ p { color: red }",
        "p { color: red } /* never closed: url(x.png)",
        r'p::before { content: "\2014  \22 \201C see" }',
        'p { background: image-set(url(data:image/png;base64,AA) 1x type("image/png"), "data:image/png,AA" 2x); }',
        "p { background-image: none; src: none }",
    ],
)
def test_what_loads_nothing_may_stay(css: str) -> None:
    assert what_loads(css) is None
