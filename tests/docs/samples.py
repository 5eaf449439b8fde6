"""The fenced samples of a Markdown page, and a spec that grows sample by sample."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from benchbrief.dsl import ast
from benchbrief.dsl.parse import parse
from benchbrief.dsl.source import Source

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Sample:
    """`language` is the fence's first word, `error` the code in `error=E0301`; `line` is where it
    begins on its page."""

    page: str
    line: int
    language: str
    error: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def samples(page: str) -> tuple[Sample, ...]:
    """All of a page's, in order. `page` is its path from the repository's root."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return tuple(_sample(page, text, fence) for fence in _FENCE.finditer(text))


def _sample(page: str, text: str, fence: re.Match[str]) -> Sample:
    language, *options = fence["info"].split() or [""]
    said = dict(option.split("=", 1) for option in options)
    assert said.keys() <= {"error"}, f"{page}: a fence says {fence['info']!r}"
    return Sample(page, text.count("\n", 0, fence.start()) + 1, language, said.get("error", ""), fence["text"])


@dataclass(frozen=True)
class Spec:
    """Declarations by kind and name: one that is shown again takes the place of the earlier one."""

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
