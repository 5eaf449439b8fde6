"""Makes the page of reports: their elements, options, templates and languages."""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.compiler import word_meanings
from benchbrief.compiler.schemas import ELEMENTS, OPTIONS
from benchbrief.model.extension_spec import LANGUAGES
from tools.reference.attributes import attributes, heading
from tools.reference.markdown import code, joined, page_of, table, text


def page() -> str:
    return joined(
        [
            "# Reports",
            text("reports"),
            *_elements(),
            "## Options of a series",
            text("options"),
            table(("option", "what it does"), [(code(name), doc) for name, doc in OPTIONS.items()]),
            "## Texts and their holes",
            text("holes"),
            "## Templates",
            table(
                ("template", "what it looks like"),
                [(f"[`{name}`]({page_of('templates', name)})", doc) for name, doc in word_meanings.TEMPLATES.items()],
            ),
            "## Languages",
            table(
                ("language", "of all that the brief adds to your words"),
                [(code(w), word_meanings.LANGUAGES[w]) for w in LANGUAGES],
            ),
        ]
    )


def _elements() -> Iterator[str]:
    for name, block in ELEMENTS.items():
        yield heading(name, block, 2)
        yield text(f"reports/{name}")
        yield attributes(block.keys)
        if block.blocks:
            yield f"Elements in it: {', '.join(f'[`{each}`](#{each})' for each in block.blocks)}."
