"""Rewrites the highlighting of every editor: `python -m editors`. With `--check`, only says what is out of date."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from editors import textmate, vim

HERE = Path(__file__).parent
WRITTEN: Mapping[str, Callable[[], str]] = {
    "vscode/syntaxes/bench.tmLanguage.json": textmate.text,
    "sublime/bench.tmLanguage": textmate.property_list,
    "neovim/syntax/bench.vim": vim.text,
}


def main(arguments: list[str]) -> int:
    stale = [file for file, text in WRITTEN.items() if _read(HERE / file) != text()]
    if arguments == ["--check"]:
        for file in stale:
            print(f"editors/{file} is out of date: run `python -m editors`")
        return 1 if stale else 0
    if arguments:
        print(__doc__)
        return 2
    for file in stale:
        (HERE / file).parent.mkdir(parents=True, exist_ok=True)
        (HERE / file).write_text(WRITTEN[file](), encoding="utf-8")
        print(f"wrote editors/{file}")
    return 0


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
