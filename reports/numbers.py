"""The numbers of a brief as a file: each as it is shown, its raw value, where it comes from, and how it is printed.

`<brief>.json` beside a brief holds it, and so does an attachment of the PDF; `docs/verify.md` describes it. All that is
needed to compute a number again from a store, and to print it again, is in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict

from benchbrief.compiler.plan import Dimension, Query
from benchbrief.reports.values import automatic, fixed, formatted, in_prose, quantity

FORMAT = "benchbrief-numbers"
FILE_VERSION = 1
ATTACHMENT = "numbers.json"
"""What the file is called inside of a PDF."""

Key = str | float


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")  # a later benchbrief may say more of a number


class Printed(_Part):
    """How a number is printed. `by` names the rule of `reports/values.py`; the rest are what the rule goes by."""

    by: Literal["prose", "format", "scale", "amount", "declared"]
    format: str = ""
    follows: str = ""
    to: str = ""
    as_declared: bool = False
    factor: float = 1.0
    decimals: int = 0
    significant: int = 0
    missing: str = "–"

    def text(self, value: float | None, high: float | None, unit: str, *, ranged: bool = False) -> str:
        """The number as a reader sees it. A fact that is printed as it was declared is only known by its value."""
        if value is None or (ranged and high is None):
            return self.missing
        match self.by:
            case "prose":
                return in_prose(value, high, self.format, unit, self.follows, self.to, declared=self.as_declared)
            case "format":
                return formatted(value, self.format, unit)
            case "scale":
                shown = fixed(value / self.factor, self.decimals)
                nothing = value and not any(digit in shown for digit in "123456789")
                return automatic(value / self.factor) if nothing else shown  # beside far larger ones: small, not none
            case "amount":
                ends = [value] if high is None else [value, high]
                return self.to.join(quantity(end, unit, significant=self.significant) for end in ends)
            case "declared":
                return self.format


class QueryEntry(_Part):
    """An expression with its SQL (see `compiler/plan.py`), and the cells it reads; `source` is its row in the brief, ""
    where that has no appendix."""

    id: str
    expression: str
    sql: str
    dims: tuple[Dimension, ...]
    unit: str
    cells: tuple[str, ...]
    source: str

    @property
    def query(self) -> Query:
        return Query(sql=self.sql, dims=self.dims, unit=self.unit, text=self.expression)


class Number(_Part):
    """A number that the brief shows. `at` are its coordinates within the query's dimensions.

    With `high_query`, the number is a range, whose upper end is `high`. A value that is missing is null.
    """

    id: str
    place: str
    shown: str
    value: float | None
    high: float | None = None
    query: str
    high_query: str | None = None
    at: dict[str, Key] = {}
    cells: tuple[str, ...]
    printed: Printed
    linked: bool = True
    """Whether the page marks it, by a link where it has an appendix; it does not within a link of the author's."""


class Series(_Part):
    """What a figure draws of a query: its rows, as keys in the order of the query's dimensions, then the value."""

    query: str
    rows: tuple[tuple[Key | None, ...], ...]


class Figure(_Part):
    id: str
    title: str
    series: tuple[Series, ...]


class CellEntry(_Part):
    """A cell behind the numbers; `files` maps each raw output that it was read from to its SHA-256."""

    hash: str
    status: str
    run: str
    attempt: int | None
    files: dict[str, str]


class NumbersFile(_Part):
    """`origin` tells what all numbers have in common: the run, the spec and its revision, tools and servers.

    `provenance` is what the document's appendix tells; without one, its numbers are marked, but are no links.
    Numbers are printed by the conventions of `locale`: `with written_as(Locale(file.locale))` prints them again.
    """

    format: Literal["benchbrief-numbers"] = "benchbrief-numbers"
    version: Literal[1] = 1
    benchbrief: str
    report: str
    title: str
    language: str
    locale: str = "en_GB"
    run: str
    kind: Literal["measured", "simulated", "imported"]
    plan_sha256: str
    provenance: Literal["full", "compact", "none"] = "full"
    origin: tuple[tuple[str, str], ...]
    queries: tuple[QueryEntry, ...]
    numbers: tuple[Number, ...]
    figures: tuple[Figure, ...]
    cells: dict[str, CellEntry]
    page_sha256: str = ""
    """Of the whole HTML page, words and drawings too; "" in a file from before it was kept."""

    def in_order(self, shown: Mapping[str, bool]) -> NumbersFile:
        """With the numbers in the order in which a page shows them, and whether they are marked there.

        Those that it does not show are left out.
        """
        known = {number.id: number for number in self.numbers}
        numbers = tuple(known[i].model_copy(update={"linked": linked}) for i, linked in shown.items())
        return self.model_copy(update={"numbers": numbers})

    def json_text(self) -> str:
        return self.model_dump_json(indent=1) + "\n"
