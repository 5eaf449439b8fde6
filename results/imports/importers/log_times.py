"""The time stamps of logs. One without a zone counts as UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_FORMATS = (
    "%m/%d/%Y %I:%M:%S %p",
    "%m/%d/%y %H:%M:%S",
    "%m/%d/%Y %H:%M:%S",
    "%a %b %d %H:%M:%S %Y",
    "%d.%m.%Y %H:%M:%S",
    "%Y年%m月%d日 %H時%M分%S秒",
)


def parse_time(text: str) -> float:
    """Parse a time to epoch seconds. Raises ValueError."""
    if re.fullmatch(r"\d{10}(\.\d+)?", text):
        return float(text)
    for form in _FORMATS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
    at = datetime.fromisoformat(text.replace(",", "."))
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
