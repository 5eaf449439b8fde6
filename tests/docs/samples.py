"""The fenced samples of a Markdown page, and the whole or partial specs in them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from benchbrief.dsl.source import Source
from benchbrief.dsl.syntax import ast
from benchbrief.dsl.syntax.parse import parse
from tests.compiler.samples import BASES, completed

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_OPTIONS = ("error", "base")
_MARKS = ("wrong", "mended", "alone", "mongodb", "rocksdb")


@dataclass(frozen=True)
class Sample:
    """A sample. `language` is the fence's first word, and `error` is the code in `error=E0301`. `base` is the name in
    `base=rocksdb`: the base spec that completes the sample. `marks` are the fence's other words, which mark samples of
    messages. `line` is where the sample begins on its page.
    """

    page: str
    line: int
    language: str
    error: str
    base: str
    marks: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def spec(self) -> str:
        """The sample with what its page leaves out, so that it can be checked."""
        return completed(self.text, base_spec(self.base)) if self.base else self.text


def base_spec(name: str) -> str:
    """Return the base spec of this name. Samples leave out what it contains, and the first page of the reference shows
    it."""
    return (BASES / f"{name}.bench").read_text(encoding="utf-8")


def pages() -> tuple[str, ...]:
    """Return every page for users or developers, as a path from the root of the repository."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md"), *ROOT.glob("examples/*.md")]
    found += ROOT.glob("extensions/*/*/README.md")
    found += [path for path in ROOT.glob("editors/**/*.md") if "node_modules" not in path.parts]
    return tuple(sorted(path.relative_to(ROOT).as_posix() for path in found))


def samples(page: str) -> tuple[Sample, ...]:
    """Return all samples of a page in order. `page` is its path from the repository's root."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = tuple(_sample(page, text, fence) for fence in _FENCE.finditer(text))
    assert 2 * len(found) == len(re.findall("^ *```", text, re.MULTILINE)), f"{page}: a fence must start its line"
    return found


def _sample(page: str, text: str, fence: re.Match[str]) -> Sample:
    language, *words = fence["info"].split() or [""]
    said = dict(word.split("=", 1) for word in words if "=" in word)
    marks = tuple(word for word in words if "=" not in word)
    assert said.keys() <= {*_OPTIONS}, f"{page}: a fence says {fence['info']!r}"
    assert set(marks) <= {*_MARKS}, f"{page}: a fence says {fence['info']!r}"
    line = text.count("\n", 0, fence.start()) + 1
    return Sample(page, line, language, said.get("error", ""), said.get("base", ""), marks, fence["text"])


@dataclass(frozen=True)
class Spec:
    """Declarations by kind and name. If a declaration is repeated, the later one replaces the earlier one."""

    declarations: dict[tuple[str, str], str] = field(default_factory=dict)

    def with_sample(self, sample: Sample) -> Spec:
        file = parse(Source(str(sample), sample.text))
        new = {_key(declaration): declaration.span.text for declaration in file.declarations}
        return Spec(self.declarations | new)

    @property
    def text(self) -> str:
        return "\n\n".join(self.declarations.values()) + "\n"


def _key(declaration: ast.Declaration) -> tuple[str, str]:
    match declaration:
        case ast.Block(keyword=keyword, name=name):
            return keyword.text, name.text if name else ""
        case ast.Metric(name=name) | ast.Param(name=name):
            return type(declaration).__name__, name.text
        case _:
            return type(declaration).__name__, declaration.span.text
