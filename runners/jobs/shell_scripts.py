"""Shell scripts that run on hosts. Each is a `.sh` file beside its code, for a plain POSIX `sh`, under shellcheck.

A script goes to a host as one text: a line `. parts/root.sh` stands for that file, and comments stay here. A script
names the values that it needs at its beginning, as `: "${owner?}"`: without one, it ends with a message.
"""

from __future__ import annotations

import re
from pathlib import Path

from benchbrief.runners.jobs.commands import quote

_PART = re.compile(r"\. (\S+\.sh)\n")


def read_script(code: str, name: str) -> str:
    """Return a script with its parts, each once. `name` is relative to the module with this `__file__`."""
    return "".join(_lines(Path(code).parent / name, set()))


def _lines(path: Path, included: set[Path]) -> list[str]:
    if path.resolve() in included:
        return []
    included.add(path.resolve())
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if part := _PART.fullmatch(line):
            lines += _lines(path.parent / part[1], included)
        elif line.strip() and not line.lstrip().startswith("#"):
            lines.append(line)
    return lines


def with_values(script: str, **values: str) -> str:
    """Return a script that first sets these variables."""
    return "".join(f"{name}={quote(value)}\n" for name, value in values.items()) + script
