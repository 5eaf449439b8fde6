"""Writes Markdown, and reads the handwritten texts that accompany the tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

TEXTS = Path(__file__).parent / "texts"


def text(name: str) -> str:
    """Return the text of that name, or "" if there is none."""
    path = TEXTS / f"{name}.md"
    return path.read_text(encoding="utf-8").strip() if path.exists() else ""


def page_of(plural: str, name: str) -> str:
    """Return the link to the page of one of our extensions, for a page of the reference."""
    return f"../../extensions/{plural}/{name.replace('-', '_')}/README.md"


def joined(parts: Iterable[str]) -> str:
    """Join the parts of a page, leaving out empty ones."""
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def code(*words: str) -> str:
    """Return the words as code, separated by commas."""
    return ", ".join(f"`{word}`" for word in words)


def fenced(language: str, lines: str) -> str:
    return f"```{language}\n{lines.strip(chr(10))}\n```"
