"""Reads fixtures. They are specs whose first line has the options for compiling them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchbrief.compiler.compile import CheckedSource, check

_WITH = "# with: "


def check_fixture(path: Path) -> CheckedSource:
    """Compile a fixture as a user in its folder would, with options such as `# with: --profile smoke --param
    records=5k`."""
    profile: str | None = None
    params: dict[str, str] = {}
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    if first.startswith(_WITH):
        words = shlex.split(first.removeprefix(_WITH))
        for option, value in zip(words[::2], words[1::2], strict=True):
            if option == "--profile":
                profile = value
            else:
                name, _, params[name] = value.partition("=")
    with _folder(path.parent):
        return check(Path(path.name), profile=profile, params=params)


@contextmanager
def _folder(path: Path) -> Iterator[None]:
    """Change to a folder for the block. Messages contain names as they were typed, so the goldens have no absolute
    paths."""
    before = Path.cwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)
