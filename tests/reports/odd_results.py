"""Results that no run should leave but some do: noisy, equal, empty, extreme, or refused, with odd names.

`every_element.txt` is a spec whose report has an element of each kind. `Odd.of(seed)` chooses its names, template and
language, and what was measured.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchbrief.model.plan import Plan
from benchbrief.results.store import store_schema as s
from benchbrief.results.store.store_schema import PromiseRow, RateRow, SampleRow
from tests.reports.generated import RUN, rows_for
from tests.support.plans import compile_text

TEMPLATES = ("technical_brief", "blog", "slide", "white_paper")
LANGUAGES = ("en", "ja")
EVERY = Path(__file__).with_name("every_element.txt").read_text("utf-8")
NAMES = {
    "plain": "Plain",
    "long": "A name that goes on " * 3 + "x" * 40,
    "right to left": "מסד נתונים قاعدة",
    "emoji": "👩‍👩‍👧‍👦🚀 e\u0301",
    "signs": "<b>&amp; `|` *a* _b_ \u200b\u202e",
    "wide": "日本語のとても長い名前（記号付き）",
}
Change = Callable[[random.Random, float], float | None]
VALUES: dict[str, Change] = {
    "as they are": lambda _, v: v,
    "equal": lambda _, _v: 1000.0,
    "equal but for rounding": lambda rng, _: 1000.0 + rng.choice((0.0, 1e-10)),
    "noisy": lambda rng, v: v * rng.lognormvariate(0, 0.3),
    "wild": lambda rng, v: v * rng.lognormvariate(0, 6),
    "zero": lambda _, _v: 0.0,
    "some zero": lambda rng, v: rng.choice((0.0, v)),
    "negative": lambda _, v: -v,
    "NaN": lambda _, _v: math.nan,
    "some NaN": lambda rng, v: rng.choice((math.nan, v)),
    "infinite": lambda rng, v: rng.choice((math.inf, -math.inf, v)),
    "tiny": lambda rng, _: 1e-9 * rng.random(),
    "huge": lambda rng, _: 1e15 * rng.random(),
    "far apart": lambda rng, _: 10.0 ** rng.uniform(-9, 15),
    "whole": lambda rng, _: float(rng.randrange(5)),
    "NULL": lambda _, _v: None,
    "some NULL": lambda rng, v: rng.choice((None, v)),
    "anything": lambda rng, v: rng.choice((None, math.nan, 0.0, -1.0, 1e-9, 1e15, v)),
}
STATUSES: dict[str, Callable[[random.Random], str]] = {
    "good": lambda _: "ok",
    "all refused": lambda _: "failed",
    "all missing": lambda _: "missing",
    "none needed": lambda _: "skipped",
    "some failed": lambda rng: rng.choice(("ok", "ok", "failed")),
    "few good": lambda rng: rng.choices(("ok", "failed", "missing", "skipped"), (1, 3, 3, 1))[0],
}
SEARCHES = ("found", "at_least", "none", "undecided", "never began")
PAGES = {
    "usual": ("a4", "1", "pages", "customer", "automatic"),
    "letter": ("letter", "1", "pages", "internal", "automatic"),
    "two columns": ("a4", "2", "pages", "customer", "in_brief"),
    "one page": ("letter", "2", "one_page", "internal", "in_brief"),
}
"""For each kind of page, its paper, columns, layout, audience and disclosure."""
RAMPS = {"usual": ("[1, 2, 4, 8]", "[1k ops/s, 2k ops/s, 4k ops/s]"), "one point": ("1", "1k ops/s")}


@dataclass(frozen=True)
class Odd:
    """The choices that the seed of a result determines."""

    seed: int
    name: str
    template: str
    language: str
    provenance: str
    ramp: str
    repeats: int
    pages: str
    values: str
    statuses: str
    searches: str
    moments: int

    @classmethod
    def of(cls, seed: int) -> Odd:
        rng = random.Random(seed)  # noqa: S311  # the same in every run

        def one(of: Sequence[Any]) -> Any:
            """Return one of the items. Successive seeds return all items in turn, so that a few seeds cover all of
            them, in a different order each round."""
            return rng.sample(of, len(of))[seed % len(of)]

        values = list(VALUES)[seed % len(VALUES)]
        usual = rng.random() < 0.5
        return cls(
            seed, one([*NAMES]), TEMPLATES[seed % 4], LANGUAGES[seed // 4 % 2], one(("full", "compact", "none")),
            one([*RAMPS]), one((1, 2, 2, 3, 9)), one([*PAGES]), values,
            "good" if usual else one([*STATUSES]), one(SEARCHES), one((0, 1, 2, 30, 30, 30, 30, 30, 10_000)),
        )  # fmt: skip

    def plan(self) -> Plan:
        return _compiled(self.name, self.template, self.language, self.provenance, self.ramp, self.repeats, self.pages)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of the store's tables."""
        rng, plan = random.Random(self.seed), self.plan()  # noqa: S311  # the same in every run
        change = VALUES[self.values]
        statuses = {cell.id: STATUSES[self.statuses](rng) for cell in plan.cells}
        for row in rows_for(plan):
            match row:
                case s.CellRow():
                    status = statuses[row.cell_id]
                    reason = None if status == "ok" else f"it was {status}"
                    if status != "missing":
                        yield row._replace(status=status, reason=reason)
                case s.ThroughputRow() | SampleRow() if statuses[row.cell_id] != "ok":
                    pass
                case s.ThroughputRow():
                    yield row._replace(ops_per_s=change(rng, row.ops_per_s or 0.0))
                case s.LatencyRow():
                    if "ok" in statuses.values() and row.operation in ("read", "update"):
                        yield row._replace(value_s=change(rng, row.value_s or 0.0))
                case SampleRow():
                    yield row._replace(value=change(rng, row.value or 0.0))
                case PromiseRow() | RateRow():
                    yield from self._searched(row, rng)
                case _:
                    yield row
        good = [cell for cell in plan.cells if statuses[cell.id] == "ok" and cell.experiment == "ramp"]
        for second in range(self.moments if good else 0):
            at = second + 5.0 * (second > self.moments / 2)  # with a gap
            value = change(rng, 1000.0)
            yield SampleRow(RUN, good[0].id, "throughput", "local", "", at + 1, value, "ops/s", at, at + 1)

    def _searched(self, row: PromiseRow | RateRow, rng: random.Random) -> Iterator[PromiseRow | RateRow]:
        if self.searches == "never began":
            return
        if isinstance(row, RateRow):
            met, broken, beyond = (rng.randrange(3) for _ in range(3))
            yield row._replace(met=met, broken=broken, beyond=beyond)
        elif self.searches == "none":
            yield row._replace(
                kind="none", sustained=None, found=None, kept_to=None, by_generator=True, held_met=0, held_out=0,
                reason="its load generator was too late to tell",
            )  # fmt: skip
        else:
            sure = self.searches != "undecided"
            yield row._replace(kind=self.searches, above=None if self.searches == "at_least" else row.above, sure=sure)


@lru_cache(maxsize=64)
def _compiled(name: str, template: str, language: str, provenance: str, ramp: str, repeats: int, pages: str) -> Plan:
    threads, targets = RAMPS[ramp]
    paper, columns, layout, audience, disclosure = PAGES[pages]
    text = EVERY
    for word, value in {
        "TEMPLATE": template, "LANGUAGE": language, "PROVENANCE": provenance, "THREADS": threads, "TARGETS": targets,
        "REPEATS": str(repeats), "PAPER": paper, "COLUMNS": columns, "LAYOUT": layout, "AUDIENCE": audience,
        "DISCLOSURE": disclosure, "NAME": NAMES[name],
    }.items():  # fmt: skip
        text = text.replace(word, value)
    with TemporaryDirectory() as folder:
        return compile_text(text, Path(folder))
