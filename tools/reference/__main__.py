"""Writes docs/reference and the pages of our extensions: `python -m tools.reference`. `--check` names the pages that
are out of date."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from tools.reference import (
    blocks,
    commands,
    expressions,
    extensions,
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

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "reference"
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
    wanted = {FOLDER / name: page() for name, page in PAGES.items()}
    wanted |= {folder / "README.md": extensions.page(folder) for folder in extensions.folders()}
    stale = {path: text for path, text in wanted.items() if _read(path) != text}
    unknown = [path.name for path in FOLDER.glob("*") if path.name not in PAGES]
    if arguments == ["--check"]:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is out of date: run `make docs`")
        for name in unknown:
            print(f"docs/reference/{name} is no page of the reference")
        return 1 if stale or unknown else 0
    if arguments:
        print(__doc__)
        return 2
    for path, text in stale.items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
