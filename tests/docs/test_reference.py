"""Tests that the reference matches the tables, and that every relative link on every page has a target."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import get_args

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from benchbrief.cli.command_line import COMMANDS
from benchbrief.cli.terminal import MEANINGS
from benchbrief.compiler import schemas, word_meanings
from benchbrief.compiler.blocks import ramps
from benchbrief.compiler.diagnostic_codes import all_codes
from benchbrief.compiler.measure_catalogue import KINDS
from benchbrief.compiler.metrics import curves
from benchbrief.compiler.metrics.expressions import FUNCTIONS
from benchbrief.compiler.registry import ENGINE_SPECS, METER_SPECS, own_families, own_tools
from benchbrief.compiler.schemas import ELEMENTS, OPTIONS
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.model.extension_spec import LANGUAGES, Boundary
from benchbrief.model.plan import DIMENSIONS
from benchbrief.model.units import known_units
from benchbrief.results.store.store_schema import TABLES
from tests.docs.samples import ROOT, pages
from tools.reference import __main__ as reference
from tools.reference import extensions
from tools.reference.blocks import elsewhere

PARSER = MarkdownIt("commonmark")
REFERENCE = "docs/reference"


def test_the_committed_pages_are_what_the_tables_give(capsys: pytest.CaptureFixture[str]) -> None:
    assert reference.main(["--check"]) == 0, capsys.readouterr().out


def test_every_text_beside_the_tables_is_on_a_page() -> None:
    written = "".join((ROOT / REFERENCE / page).read_text(encoding="utf-8") for page in reference.PAGES)
    texts = sorted((ROOT / "tools" / "reference" / "texts").rglob("*.md"))
    assert len(texts) > 20
    assert [path.name for path in texts if path.read_text(encoding="utf-8").strip() not in written] == []


WORDS = {
    "blocks.md": [
        *(name for block in schemas.BLOCKS.values() for name, key in block.keys.items() if not key.only),
        *schemas.BLOCKS,
    ],
    "workloads.md": [f"{tool}.{name}" for tool, spec in own_families().items() for name in spec.workloads],
    "tools.md": [*METER_SPECS.own, *schemas.PROBES, *own_tools(), *ENGINE_SPECS.own],
    "units.md": [*known_units()],
    "expressions.md": [*KINDS, *DIMENSIONS, *word_meanings.RULES],
    "reports.md": [*ELEMENTS, *OPTIONS, *word_meanings.TEMPLATES, *LANGUAGES],
    "results.md": [*TABLES, *(column for row in TABLES.values() for column in row.__annotations__)],
    "commands.md": [*(f"bench {name}" for name in COMMANDS), *(str(int(code)) for code in ExitCode)],
}


@pytest.mark.parametrize("page", WORDS)
def test_a_page_has_every_word_of_its_tables(page: str) -> None:
    text = (ROOT / REFERENCE / page).read_text(encoding="utf-8")
    assert [word for word in WORDS[page] if f"`{word}`" not in text] == []


def test_the_attributes_that_only_some_extensions_have_are_on_the_pages_of_those() -> None:
    pages = "".join((folder / "README.md").read_text(encoding="utf-8") for folder in extensions.folders())
    attributes = [
        name
        for block in schemas.BLOCKS.values()
        for name, key in block.keys.items()
        if key.only and name in elsewhere()
    ]
    options = [word for each in ENGINE_SPECS.own.values() for word in each.options]
    assert len(attributes) > 20
    assert [word for word in (*attributes, *options) if f"| `{word}` |" not in pages] == []


def test_every_function_and_every_code_has_its_place() -> None:
    functions = (ROOT / REFERENCE / "expressions.md").read_text(encoding="utf-8")
    assert [name for name in FUNCTIONS if f"`{name}(" not in functions] == []
    messages = (ROOT / REFERENCE / "messages.md").read_text(encoding="utf-8")
    assert [info.code for info in all_codes() if f"\n## {info.code}\n\n**{info.title}**" not in messages] == []


def test_the_tables_of_words_have_all_that_there_is() -> None:
    assert set(word_meanings.ARGUMENTS["knee"]) == set(ramps.KNEE_ARGUMENTS)
    assert set(word_meanings.ARGUMENTS["range"]) == set(ramps.RANGE_ARGUMENTS)
    assert set(word_meanings.ARGUMENTS["highest"]) == set(ramps.HIGHEST_ARGUMENTS)
    assert set(word_meanings.ARGUMENTS["adaptive"]) == set(ramps.ADAPTIVE_ARGUMENTS)
    assert {name: tuple(word_meanings.ARGUMENTS[name]) for name in curves.ARGUMENTS} == curves.ARGUMENTS
    assert set(word_meanings.LANGUAGES) == set(LANGUAGES)
    assert set(word_meanings.TOOLS) == set(own_tools())
    assert set(word_meanings.ENGINES) == set(ENGINE_SPECS.own)
    assert set(word_meanings.PROBES) == set(schemas.PROBES)
    assert set(word_meanings.BOUNDARIES) == set(get_args(Boundary))
    assert set(MEANINGS) == set(ExitCode)


# --- links ---


@cache
def tokens(page: str) -> tuple[Token, ...]:
    return tuple(PARSER.parse((ROOT / page).read_text(encoding="utf-8")))


@cache
def anchors(page: str) -> frozenset[str]:
    """Return the anchors that a code host gives to a page's headings."""
    found: Counter[str] = Counter()
    names = set()
    for before, token in zip(tokens(page), tokens(page)[1:], strict=False):
        if before.type == "heading_open":
            words = "".join(child.content for child in token.children or [])
            name = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            names.add(f"{name}-{found[name]}" if found[name] else name)
            found[name] += 1
    return frozenset(names)


def links(page: str) -> list[str]:
    inline = [child for token in tokens(page) for child in token.children or []]
    return [str(child.attrs["href"]) for child in inline if child.type == "link_open"]


def test_links_are_found() -> None:
    assert "docs/language.md" in links("README.md")
    assert {"blocks.md", "messages.md"} <= set(links("docs/reference/README.md"))
    assert "basemongodb" in anchors("docs/reference/README.md")


def test_every_page_of_the_reference_can_be_reached_from_its_first_page_and_from_the_overview() -> None:
    others = set(reference.PAGES) - {"README.md"}
    assert others <= set(links("docs/reference/README.md"))
    linked = {link.partition("#")[0].removeprefix("reference/") for link in links("docs/language.md")}
    assert others <= linked


@pytest.mark.parametrize("page", pages())
def test_every_relative_link_and_anchor_of_a_page_is_there(page: str) -> None:
    wrong = []
    for link in _with_tables(page):
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        there = target.exists() and target.resolve().is_relative_to(ROOT)
        if not there or (anchor and anchor not in anchors(target.resolve().relative_to(ROOT).as_posix())):
            wrong.append(link)
    assert wrong == []


def _with_tables(page: str) -> list[str]:
    """Return the relative links, including those in tables, which CommonMark treats as plain paragraphs."""
    return [link for link in links(page) if not re.match(r"[a-z]+:", link)]
