"""Makes the page of errors and warnings."""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.compiler.diagnostic_codes import CodeInfo, all_codes
from tools.reference.markdown import joined, table, text


def page() -> str:
    return joined(["# Errors and warnings", text("messages"), _contents(), *_explained()])


def _contents() -> str:
    rows = [(f"[{info.code}](#{info.code.lower()})", info.title) for info in all_codes()]
    return table(("code", "what it means"), rows)


def _explained() -> Iterator[str]:
    for info in all_codes():
        yield f"## {info.code}\n\n**{info.title}** ({_kind(info)})"
        yield info.explanation_markdown


def _kind(info: CodeInfo) -> str:
    return "an error: nothing runs" if info.severity == "error" else "a warning: the spec runs as it is"
