"""Whatever word of a spec is misspelt, an edit that mends it is suggested."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from benchbrief.compiler.compile import Checked, check
from benchbrief.dsl import ast
from benchbrief.dsl.diagnostics import Suggestion
from benchbrief.dsl.parse import parse
from benchbrief.dsl.source import Source, Span

FOLDER = Path(__file__).parent / "misspelt"
SPECS = ["documents.bench", "embedded.bench"]

FREE = {
    "network": "a fact that one hardware alone declares may have any name",
    "MONGO_USER": "a variable of the environment may have any name",
    "MONGO_PASSWORD": "a variable of the environment may have any name",
    **dict.fromkeys(("plain", "cached"), "a variant that is only named by `.variants` may have any name"),
    **dict.fromkeys(("offered", "rocks", "smoke", "brief"), "what nothing refers to may have any name"),
    **dict.fromkeys(("tail", "written", "cost", "peak", "cpu_time", "sum_of"), "a metric that nothing refers to"),
}
"""Words that may be misspelt without a suggestion, and why."""

AMBIGUOUS = {
    ("GiB", "GB"): "another unit",
    ("MiB", "MB"): "another unit",
    ("KiB", "KB"): "mostly meant as `kB`",
}
"""Slips that give another right word, and which."""


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
    """Every word of the language and of the spec: not of its comments and texts, but of the holes in them."""
    tree = parse(Source("spec", text))
    hidden: set[int] = set()
    for string in [node for node in nodes(tree) if isinstance(node, ast.String)]:
        hidden.update(range(string.span.start, string.span.end))
    for hole in [node for node in nodes(tree) if isinstance(node, ast.Hole)]:
        hidden.difference_update(range(hole.expr.span.start, hole.expr.span.end))
    for comment in re.finditer(r"#.*", text):
        hidden.update(range(*comment.span()))
    yield from (word for word in re.finditer(r"(?<![\w.])[A-Za-z_]\w+", text) if word.start() not in hidden)


def slips(word: str) -> Iterator[str]:
    """Two letters in the middle swapped, and one of them left out."""
    middle = len(word) // 2
    swap = next((at for at in range(middle, len(word)) if word[at - 1] != word[at]), None)
    if swap is not None:
        yield word[: swap - 1] + word[swap] + word[swap - 1] + word[swap + 1 :]
    if len(word) > 2:  # a single letter could be anything
        yield word[:middle] + word[middle + 1 :]


def edited(text: str, suggestion: Suggestion) -> str:
    return text[: suggestion.span.start] + suggestion.replacement + text[suggestion.span.end :]


@pytest.mark.parametrize("name", SPECS)
def test_the_spec_itself_is_right(name: str) -> None:
    with chdir(FOLDER):
        checked = check(Path(name))
    assert (checked.plan is not None, checked.diagnostics) == (True, ())


@pytest.mark.parametrize("name", SPECS)
def test_each_word_with_a_slip_in_it_gets_the_right_one_suggested(name: str, tmp_path: Path) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    tree = list(nodes(parse(Source("spec", text))))
    named = [node.name for node in tree if isinstance(node, ast.Block | ast.Metric | ast.Param)]
    facts = [node.key for node in tree if isinstance(node, ast.Attribute)]
    declared = {name.span.start for name in (*named, *facts) if name}
    shutil.copy(FOLDER / "lab.bench", tmp_path)
    spec = tmp_path / name
    missed, tried = [], 0
    for word in words(text):
        for slip in slips(word[0]):
            if word[0] in FREE or (word[0], slip) in AMBIGUOUS:
                continue
            tried += 1
            wrong = text[: word.start()] + slip + text[word.end() :]
            spec.write_text(wrong, encoding="utf-8")
            checked = check(spec)
            mended = text in suggested_texts(checked, wrong)
            # A name misspelt where it is declared is right there: its uses are to follow it.
            if not mended and not (word.start() in declared and follows(checked, slip)):
                missed.append(f"line {text.count(chr(10), 0, word.start()) + 1}: {word[0]} as {slip}")
    assert missed == []
    assert tried > 200


def suggested_texts(checked: Checked, text: str) -> set[str]:
    return {edited(text, each.suggestion) for each in checked.diagnostics if each.suggestion}


def follows(checked: Checked, slip: str) -> bool:
    return any(each.suggestion and slip in each.suggestion.replacement for each in checked.diagnostics)
