"""What a page shows of what a command prints."""

from __future__ import annotations

import re


def assert_shown(shown: str, printed: str, where: str) -> None:
    """A line `...` of what is shown stands for any lines, and `...` in a line for any text."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else re.escape(line).replace(re.escape("..."), ".*") + r"\n"
        for line in shown.splitlines()
    )
    assert re.fullmatch(pattern, printed), f"{where} shows\n{shown}\nbut this was printed:\n{printed}"
