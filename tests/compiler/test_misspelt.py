"""Tests that for every misspelt word of a spec, a correct edit is suggested."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from benchbrief.compiler.compile import Examined, check, examine
from benchbrief.dsl.diagnostics.diagnostic import Suggestion
from benchbrief.dsl.source import Source, Span
from benchbrief.dsl.syntax import ast
from benchbrief.dsl.syntax.parse import parse
from tests.support.longer import longer

FOLDER = Path(__file__).parent / "misspelt"
SPECS = ["documents.bench", "embedded.bench", "started.bench"]

FREE = {
    "network": "a fact that one hardware alone declares may have any name",
    "MONGO_USER": "a variable of the environment may have any name",
    "MONGO_PASSWORD": "a variable of the environment may have any name",
    "MONGO_KEY": "a variable of the environment may have any name",
    **dict.fromkeys(("plain", "cached"), "a variant that is only named by `.variants` may have any name"),
    **dict.fromkeys(("offered", "found", "rocks", "smoke", "brief"), "what nothing refers to may have any name"),
    **dict.fromkeys(("tail", "written", "cost", "peak", "cpu_time", "sum_of"), "a metric that nothing refers to"),
}
"""Words that may be misspelt without a suggestion, with the reason."""

AMBIGUOUS = {
    ("GiB", "GB"): "another unit",
    ("MiB", "MB"): "another unit",
    ("KiB", "KB"): "mostly meant as `kB`",
}
"""Slips that result in another correct word, with that word."""


def nodes(root: object) -> Iterator[object]:
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack.extend(node)
        elif is_dataclass(node) and not isinstance(node, Span | Source):
            yield node
            stack.extend(getattr(node, field.name) for field in fields(node))


def words(text: str) -> Iterator[re.Match[str]]:
    """Yield every word of the language and of the spec. Comments and texts are skipped, but not the holes in texts.

    If a word is repeated in the same kind of place, only its first occurrence is yielded, because the others are
    corrected in the same way.
    """
    tree = parse(Source("spec", text))
    hidden: set[int] = set()
    for string in [node for node in nodes(tree) if isinstance(node, ast.String)]:
        hidden.update(range(string.span.start, string.span.end))
    for hole in [node for node in nodes(tree) if isinstance(node, ast.Hole)]:
        hidden.difference_update(range(hole.expr.span.start, hole.expr.span.end))
    for comment in re.finditer(r"#.*", text):
        hidden.update(range(*comment.span()))
    known = places(tree)
    met: set[tuple[object, ...]] = set()
    for word in re.finditer(r"(?<![\w.])[A-Za-z_]\w+", text):
        place = (word[0], *known.get(word.start(), ()))
        if word.start() not in hidden and place not in met:
            met.add(place)
            yield word


def places(tree: ast.File) -> dict[int, tuple[str, ...]]:
    """Return where each name of the tree begins, and which kinds of block and node contain it."""
    found: dict[int, tuple[str, ...]] = {}
    stack: list[tuple[object, tuple[str, ...]]] = [(tree, ())]
    while stack:
        node, place = stack.pop()
        if isinstance(node, tuple):
            stack.extend((each, place) for each in node)
        elif isinstance(node, ast.Name):
            found[node.span.start] = place
        elif is_dataclass(node) and not isinstance(node, Span | Source):
            block = node.keyword.text if isinstance(node, ast.Block) else place[0] if place else ""
            stack.extend(
                (getattr(node, field.name), (block, type(node).__name__, field.name)) for field in fields(node)
            )
    return found


def swapped(word: str) -> str:
    """Swap two letters in the middle of the word."""
    at = next((at for at in range(len(word) // 2, len(word)) if word[at - 1] != word[at]), 0)
    return word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :] if at else word


def shortened(word: str) -> str:
    """Remove the letter in the middle of the word. A word of two letters is not changed, because a single letter could
    mean anything."""
    return word[: len(word) // 2] + word[len(word) // 2 + 1 :] if len(word) > 2 else word


def edited(text: str, suggestion: Suggestion) -> str:
    return text[: suggestion.span.start] + suggestion.replacement + text[suggestion.span.end :]


@pytest.mark.parametrize("name", SPECS)
def test_the_spec_itself_is_right(name: str) -> None:
    with chdir(FOLDER):
        checked = check(Path(name))
    assert (checked.plan is not None, checked.diagnostics) == (True, ())


@pytest.mark.parametrize(
    "slip_of", [pytest.param(swapped, id="swapped"), pytest.param(shortened, id="shortened", marks=pytest.mark.long)]
)
@pytest.mark.parametrize("name", [*longer(*SPECS[:2]), SPECS[2]])
def test_each_word_with_a_slip_in_it_gets_the_right_one_suggested_and_nothing_else(
    name: str, slip_of: Callable[[str], str], tmp_path: Path
) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    tree = list(nodes(parse(Source("spec", text))))
    named = [node.name for node in tree if isinstance(node, ast.Block | ast.Metric | ast.Param)]
    facts = [node.key for node in tree if isinstance(node, ast.Attribute)]
    declared = {name.span.start for name in (*named, *facts) if name}
    shutil.copy(FOLDER / "lab.bench", tmp_path)
    spec = tmp_path / name
    missed, noisy, tried = [], [], 0
    for word in words(text):
        slip = slip_of(word[0])
        if word[0] in FREE or (word[0], slip) in AMBIGUOUS or slip == word[0]:
            continue
        tried += 1
        wrong = text[: word.start()] + slip + text[word.end() :]
        spec.write_text(wrong, encoding="utf-8")
        checked = examine(spec)
        mended = text in suggested_texts(checked, wrong)
        where = f"line {text.count(chr(10), 0, word.start()) + 1}: {word[0]} as {slip}"
        # A name misspelt where it is declared is right there: its uses are to follow it.
        if not mended and not (word.start() in declared and follows(checked, slip)):
            missed.append(where)
        if mended and len({each.code for each in checked.diagnostics} - {"W0202"}) > 1:
            noisy.append(where)
    assert missed == []
    assert noisy == [], "one slip is one mistake: what only follows from it is not to be reported"
    assert tried > 90


def suggested_texts(checked: Examined, text: str) -> set[str]:
    return {edited(text, each.suggestion) for each in checked.diagnostics if each.suggestion}


def follows(checked: Examined, slip: str) -> bool:
    return any(each.suggestion and slip in each.suggestion.replacement for each in checked.diagnostics)


def test_a_missing_sign_is_hardly_ever_more_than_one_mistake(tmp_path: Path) -> None:
    """A second diagnostic would point at text that is correct."""
    text = (FOLDER / "documents.bench").read_text(encoding="utf-8")
    for file in FOLDER.iterdir():
        shutil.copy(file, tmp_path)
    spec = tmp_path / "documents.bench"
    told = []
    for sign in [*re.finditer(r'[={}\[\](),":]', text)][::20]:
        spec.write_text(text[: sign.start()] + text[sign.end() :], encoding="utf-8")
        told.append(sum(each.severity == "error" for each in check(spec).diagnostics))
    assert max(told) <= 5
    assert sum(errors <= 1 for errors in told) >= 0.9 * len(told)
