"""Tests that a house's style sheet can't hide or cover anything that readers must see."""

from __future__ import annotations

import pytest

from benchbrief.compiler.briefs.confined_styles import refused_style

REACHING = {
    "@supports (display: block) { .notice { display: none } }": "@supports",
    "@container (width > 1px) { .notice { display: none } }": "@container",
    "@layer x { .notice { display: none } }": "@layer",
    '@import "x.css";': "@import",
    ".notice { clip-path: inset(50%) }": "clip-path",
    ".notice { filter: opacity(0) }": "filter",
    ".notice { mask: linear-gradient(transparent, transparent) }": "mask",
    ".notice { scale: 0 }": "scale",
    ".notice { translate: -9999px }": "translate",
    ".notice { zoom: 0.01 }": "zoom",
    ".notice { content-visibility: hidden }": "content-visibility",
    ".notice { -webkit-text-fill-color: white }": "-webkit-text-fill-color",
    ".notice { animation: x 1s }": "animation",
    "body::after { content: ''; position: fixed; bottom: 0 }": "position",
    "main { POSITION: absolute }": "POSITION",
    r"main { p\6fsition: absolute }": "position",
    ".callout { margin-top: -400px }": "margin-top",
    ".callout { margin: calc(0px - 400px) }": "margin",
    ":root { --x: -400px } .callout { margin-top: var(--x) }": "--x",
    ".callout { grid-area: 1 / 1 }": "grid-area",
    ".callout { transform: translateY(-400px) }": "transform",
    ".callout { transform: scale(40) }": "transform",
    ".callout { outline: 900px solid white }": "outline",
    ".callout { box-shadow: 0 0 0 900px white }": "box-shadow",
    ".callout { text-decoration: underline 400px white }": "text-decoration",
    ".notice { background: linear-gradient(brown, brown) }": "background",
    "* { background-image: url(data:x) }": "background-image",
    ".band, main { background-image: url(data:x) }": "background-image",
    ".notice { color: light-dark(white, white) }": "color",
    ".notice { color: Canvas }": "color",
    ".notice { color: revert }": "color",
    ".notice { display: table-column }": "display",
    ".notice { display: -webkit-box }": "display",
    ".notice { line-height: 0 }": "line-height",
    ".notice { font: 12pt/0 serif }": "font",
    "body:not(:hover) .notice { color: white }": ":hover",
    ".notice:dir(ltr) { color: white }": ":dir",
    ":is(:unknown, .notice) { color: white }": ":unknown",
    ".a { .notice & { display: none } }": "this rule",
    "@media print { .callout { margin: -1px } }": "margin",
    ".notice { color red }": "this",
}


@pytest.mark.parametrize("css", REACHING)
def test_what_hides_covers_or_is_understood_in_two_ways_is_refused_with_its_line(css: str) -> None:
    found = refused_style(f"p {{ color: black }}\n/* a remark */ {css}\n")
    assert found
    assert (found.line, found.what) == (2, REACHING[css])
    assert found.why


@pytest.mark.parametrize(
    "css",
    [
        '@charset "utf-8"; @page { size: A4; margin: 2cm; @bottom-left { content: "Ours" } }',
        "@font-face { font-family: Ours; src: url(data:font/ttf;base64,AA) format('truetype') }",
        "@media (max-width: 40rem) { .cards { display: block; gap: 1em } }",
        "h1, h2 { letter-spacing: -0.02em; text-transform: uppercase; font: 600 20pt -apple-system, sans-serif }",
        ":root { --brand: #123456 } .band { background: linear-gradient(90deg, var(--brand), rgb(0, 0, 0)) }",
        ".callout::before { content: url(data:image/png;base64,AA) }",
        "tr:nth-of-type(2n) > td:last-of-type:not(.n) { background: #eee }",
        "a { color: var(--accent) } .lead a:hover, a:focus { text-decoration: underline 2px }",
        "tr:nth-child(2n + 1) td:not(:first-child) { background: #eee; text-indent: -1em }",
        "main { transform: rotate(0deg) } .notice { transform: translateY(-2px); box-shadow: 0 2px 6px #888 }",
        ".band { display: flex; flex-direction: row-reverse; line-height: 1.2 }",
        "",
    ],
)
def test_what_changes_the_looks_passes(css: str) -> None:
    assert refused_style(css) is None
