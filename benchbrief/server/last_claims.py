"""The last results of a spec's claims, for the hover text. They are read from the numbers files of the run's briefs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from glob import escape
from itertools import islice
from pathlib import Path

from benchbrief.results.runs.find_runs import RUN_NAME
from benchbrief.runners.plain_files import open_plain

_RUNS = "bench-out"
_FOLDERS_ABOVE = 4
"""How many folders above the spec's own to search for runs. The number allows for a spec in `examples/name/`."""
_MOST_FILES = 20
_MOST_BYTES = 16_000_000


def last_said(spec: Path, claim: str) -> str:
    """Return a claim's result in the last run of a spec, in Markdown, or "" if there is no run nearby."""
    for runs, path in islice(_numbers_files(spec), _MOST_FILES):
        for entry in _claims_in(path, runs):
            if entry.get("claim") == claim and isinstance(entry.get("sentence"), str):
                run = _plain(path.relative_to(runs).parts[0])
                return f"last: **{_plain(entry['sentence'])}**  \n{_plain(entry.get('judged'))}; run {run}"
    return ""


def _numbers_files(spec: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the numbers files of a spec's runs, latest run first, each with the folder of runs."""
    for folder in islice(spec.absolute().parents, _FOLDERS_ABOVE):
        for run in sorted((folder / _RUNS).glob(f"*-{escape(spec.stem)}*"), reverse=True):
            if re.fullmatch(rf"{RUN_NAME.pattern}{re.escape(spec.stem)}(?:-[0-9]+)?", run.name):
                yield from ((folder / _RUNS, each) for each in sorted((run / "reports").glob("*.json")))


def _claims_in(path: Path, inside: Path) -> list[dict[str, object]]:
    """Return the claims in a numbers file. Its run may come from a stranger, so links, large files and other kinds of
    files yield no claims."""
    try:
        with open_plain(path, inside) as file:
            text = file.read(_MOST_BYTES + 1)
        claims = json.loads(text).get("claims") if len(text) <= _MOST_BYTES else ()
    except (OSError, ValueError, AttributeError, RecursionError):
        return []
    return [each for each in claims if isinstance(each, dict)] if isinstance(claims, list) else []


def _plain(text: object) -> str:
    """Return a text on one line, without characters that have a meaning in Markdown."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>#|" else sign for sign in " ".join(str(text).split())[:500])
