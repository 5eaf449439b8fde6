"""Writes docs/reference: `python -m tools.reference`. With `--check`, only reports what is outdated."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from tools.reference import (
    blocks,
    commands,
    expressions,
    index,
    journal,
    messages,
    reports,
    results,
    surface,
    tools,
    units,
    workloads,
)

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
PAGES: Mapping[str, Callable[[], str]] = {
    "README.md": index.page,
    "blocks.md": blocks.page,
    "workloads.md": workloads.page,
    "tools.md": tools.page,
    "units.md": units.page,
    "expressions.md": expressions.page,
    "reports.md": reports.page,
    "results.md": results.page,
    "journal.md": journal.page,
    "commands.md": commands.page,
    "messages.md": messages.page,
    "surface.md": surface.page,
}


def main(arguments: list[str]) -> int:
    stale = [name for name, page in PAGES.items() if _read(FOLDER / name) != page()]
    unknown = [path.name for path in FOLDER.glob("*") if path.name not in PAGES]
    if arguments == ["--check"]:
        for name in stale:
            print(f"docs/reference/{name} is out of date: run `make docs`")
        for name in unknown:
            print(f"docs/reference/{name} is no page of the reference")
        return 1 if stale or unknown else 0
    if arguments:
        print(__doc__)
        return 2
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in stale:
        (FOLDER / name).write_text(PAGES[name](), encoding="utf-8")
        print(f"wrote docs/reference/{name}")
    return 0


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
