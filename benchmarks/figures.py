"""The figures that benchmarks have measured, and the page that shows them.

A benchmark calls `record` for each figure. `python -m benchmarks NAME --write` saves the figures in `figures.json`,
each with its day and commit, and writes `README.md` from them and `README.template.md`. After a change of the template,
`python -m benchmarks.figures` writes the page alone.
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
STORED = FOLDER / "figures.json"
TEMPLATE = FOLDER / "README.template.md"
PAGE = FOLDER / "README.md"
_PLACE = "{figures}"
_BAR = r"\|"


@dataclass(frozen=True)
class Figure:
    """One row of the table. A later measurement with the same `benchmark` and `what` replaces it."""

    benchmark: str
    what: str
    figure: str
    against: str
    measured: str


_recorded: list[tuple[str, str, str]] = []


def record(what: str, figure: str, against: str = "") -> None:
    """Print a figure, and remember it for `--write`. A figure must have the same `what` each time that it is
    measured."""
    print(f"  {what}: {figure}{f'; against {against}' if against else ''}", flush=True)
    _recorded.append((what, figure, against))


def write_recorded(benchmark: str) -> None:
    """Save the figures recorded since the last call under this benchmark's name, and write the page."""
    measured = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}, {_commit()}, load average {os.getloadavg()[0]:.0f}"
    new = [Figure(benchmark, what, figure, against, measured) for what, figure, against in _recorded]
    _recorded.clear()
    lines = (json.dumps(asdict(each), ensure_ascii=False) for each in merged(stored(), new))
    STORED.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


def stored() -> list[Figure]:
    return [Figure(**each) for each in json.loads(STORED.read_text(encoding="utf-8"))]


def merged(old: Iterable[Figure], new: Iterable[Figure]) -> list[Figure]:
    """Return the old figures, replaced by new ones of the same name. Figures that are entirely new follow those of
    their benchmark."""
    found = {(each.benchmark, each.what): each for each in old}
    found |= {(each.benchmark, each.what): each for each in new}
    order = list(dict.fromkeys(each.benchmark for each in found.values()))
    return sorted(found.values(), key=lambda each: order.index(each.benchmark))


def page() -> str:
    """Return the text of `README.md`, made from the template and the stored figures."""
    rows = ["| benchmark | what | figure | against | measured |", "| --- | --- | --- | --- | --- |"]
    for each in stored():
        cells = (f"`{each.benchmark}`", each.what, each.figure, each.against, each.measured)
        rows.append(f"| {' | '.join(cell.replace('|', _BAR) for cell in cells)} |")
    template = TEMPLATE.read_text(encoding="utf-8")
    assert template.count(_PLACE) == 1, f"{TEMPLATE.name} has one place for the table: {_PLACE}"
    return template.replace(_PLACE, "\n".join(rows))


def _commit() -> str:
    """Return the measured commit, with a remark if the working tree has other changes than the files that this module
    writes."""
    commit = _git("rev-parse", "--short=8", "HEAD")
    others = (f":(exclude){path.name}" for path in (STORED, PAGE))
    return f"{commit} with changes" if _git("status", "--porcelain", "--", ":/", *others) else commit


def _git(*words: str) -> str:
    return subprocess.run(("git", *words), cwd=FOLDER, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
