"""Compares the output of a command that a page shows with the real output."""

from __future__ import annotations

import re


def assert_shown(shown: str, printed: str, where: str) -> None:
    """Check the shown text. In this text, a line `...` means any lines, and `...` within a line means any text."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else re.escape(line).replace(re.escape("..."), ".*") + r"\n"
        for line in shown.splitlines()
    )
    assert re.fullmatch(pattern, printed), f"{where} shows\n{shown}\nbut this was printed:\n{printed}"
