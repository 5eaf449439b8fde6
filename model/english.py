"""The English words for a run's sentences. `benchbrief/__init__.py` says how they are read when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping


class English:
    """The English texts, which `read` returns by key. A text with plural forms is a mapping from form to text."""

    language = "en"
    read: Callable[[], Mapping[str, str | dict[str, str]]] = dict

    def form(self, key: str, count: float) -> str:
        """Return the text for a count, in the right plural form. Raises KeyError for an unknown key."""
        entry = self.read()[key]
        return entry if isinstance(entry, str) else entry.get("one" if count == 1 else "other", entry["other"])


ENGLISH = English()
