"""The plan: what will be run, where, in which order, and how each derived number is computed from the results.

The plan is the only thing that the runners, the store and the reports know of a spec. It is deterministic (the same
spec, profile and parameters give the same bytes), versioned, and free of secrets: those are references, resolved on
the controller at run time. Quantities are in base units, named in each field: seconds, bytes, ops/s.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from benchbrief.compiler.plan_base import SHARED, Fact, Node, Origin, Quantity, Reference, Template
from benchbrief.compiler.plan_systems import (
    Auth,
    Boundary,
    Client,
    Database,
    Hardware,
    Hook,
    Host,
    Option,
    PowerMeter,
    Reset,
    ServerStart,
    Tls,
    Tool,
)

__all__ = [  # what is imported from here though it stands in `plan_base` and `plan_systems`
    "Auth",
    "Boundary",
    "Client",
    "Database",
    "Fact",
    "Hardware",
    "Hook",
    "Host",
    "Option",
    "Origin",
    "PowerMeter",
    "Quantity",
    "Reference",
    "Reset",
    "ServerStart",
    "Template",
    "Tls",
    "Tool",
]

PLAN_VERSION = 1


class Workload(Node):
    """What the load does. `family` is "ycsb" or "db_bench"; `benchmark` the name in it (`a`, `readwhilewriting`).

    `properties` are the resolved settings, in base units: records, operations, record_size, fields, field_length,
    distribution, read, update, insert, scan, read_modify_write (proportions), key_size, value_size, read_threads...
    `writes` says whether it changes the data set. `phase` is "load" for the measured loading of a data set, which ends
    when all records are inserted, or when the measured time is over.
    """

    name: str
    label: str
    description: str
    family: Literal["ycsb", "db_bench"]
    benchmark: str
    properties: dict[str, str | float | bool]
    writes: bool
    phase: Literal["load", "run"] = "run"
    origin: Origin


class Probe(Node):
    """What is sampled beside the measurement; `options` e.g. {"device": "/dev/nvme0n1"}.

    Of one that is read `after`, the samples are recorded elsewhere, and found when the measurement is over.
    `hosts` are those that the samples are of. On the `controller` stands what asks for them over the network; what is
    sampled by the `tool` is in the output of the load generator on each of them.
    """

    name: str
    every_s: float
    hosts: tuple[str, ...]
    on: Literal["node", "controller", "tool"] = "node"
    options: dict[str, str] = Field(default_factory=dict)
    after: bool = False
    origin: Origin


StepKind = Literal["prepare", "load", "warm_up", "measure", "collect", "cool_down"]


class Step(Node):
    """One step of a cell. `seconds` is its declared length, or an estimate; `timeout_s` ends it.

    A cool-down comes after the cell's verdict, and only where another cell of these hosts follows.
    """

    kind: StepKind
    seconds: float
    timeout_s: float


class Dataset(Node):
    """What a load leaves behind. Two cells with the same `hash` on the same hardware can share one load."""

    hash: str
    records: int
    reuse: bool


class KneeSearch(Node):
    """A ramp that is walked upwards, and ended at its knee: the point from which the next one raises the latency by
    `rise` or more, while the throughput gains less than `gain` (both shares).

    A point is judged when all its repeats are measured: by their mean throughput, and by the highest of their
    latencies. `latency` is a statistic in the store's words (mean, max, p50 ... p99.99), over all operations of a cell.
    """

    latency: str
    rise: float
    gain: float


class Confident(Node):
    """When the repeats of a point end: after `at_least` of them, as soon as half the width of the 95 % confidence
    interval of their mean throughput (Student's t) is at most `within` (a share) of that mean.
    """

    at_least: int
    within: float


class Knee(Node):
    """The point at which the search of an experiment on one hardware, with one workload, finds the knee."""

    experiment: str
    hardware: str
    workload: str


class Cell(Node):
    """One point of the matrix: hardware x database x workload x ramp point x repeat.

    `id` is readable and unique in the plan; `hash` covers all that can change the result (not labels or prose).
    `load_hosts` generate the load with `tool`: the client's hosts, or, for a library engine (RocksDB), the hosts under
    test. `threads` and `target` are the total over them; `share_of` says each one's. Cells that share a host in `locks`
    never run at the same time. `threads` is None as long as a search has yet to find it (`threads_from`); so is the
    `target` of a cell with `target_from`.
    """

    id: str
    hash: str
    experiment: str
    hardware: str
    database: str
    workload: str
    client: str | None
    load_hosts: Annotated[tuple[str, ...], SHARED]
    tool: Tool
    threads: int | None
    target: float | None = None
    threads_from: Knee | None = None
    target_from: Knee | None = None
    repeat: int = 1
    warm_up_s: float
    measure_s: float
    phases: int = 1
    dataset: Annotated[Dataset | None, SHARED]
    steps: Annotated[tuple[Step, ...], SHARED]
    probes: tuple[Probe, ...] = ()
    locks: Annotated[tuple[str, ...], SHARED]
    origin: Annotated[Origin, SHARED]


def share_of(total: int, part: int, parts: int) -> int:
    """The share of one of so many hosts: as even as can be, the first ones have one more when it does not come out."""
    return total // parts + (1 if part < total % parts else 0)


class Experiment(Node):
    """`points` are those of `axis`; of a `search`, all that may be tried, in rising order.

    `threads_from` and `target_from` name the experiment whose knee is taken; the axis then has no points.
    `requires` are the experiments that have to be over before. `repeats` are the most there may be where `confident`
    ends them before. `cool_down_s` passes after each cell, `retries` is how often a failed one is tried again, and
    `slack_s` how much longer than planned a measured job may take (None: see `compiler/expand.py`). `unattended_s` is
    how long a job goes on without its controller (None: the runners' usual time).
    """

    name: str
    label: str
    hardware: tuple[str, ...]
    workloads: tuple[str, ...]
    axis: Literal["threads", "target"]
    points: tuple[float, ...]
    search: KneeSearch | None = None
    threads_from: str | None = None
    target_from: str | None = None
    requires: tuple[str, ...] = ()
    warm_up_s: float
    measure_s: float
    phases: int
    repeats: int
    confident: Confident | None = None
    order: Literal["grouped", "interleaved", "random"]
    seed: int | None = None
    max_error_share: float = 0.0
    cool_down_s: float = 0.0
    retries: int = 0
    on_failure: Literal["continue", "stop"] = "continue"
    slack_s: float | None = None
    unattended_s: float | None = None
    origin: Origin


Dimension = Literal[
    "experiment", "hardware", "workload", "threads", "target", "phase", "repeat", "operation", "node", "time"
]


class Read(Node):
    """A measure that a query reads, and where: `keys` has, for each dimension that it is held to, the keys it may have.

    Along the other dimensions it is read at all that was planned. `view` is where the store has it, `statistic` the
    store's word for one of the latency's, `probe` what samples it.
    """

    measure: str
    view: Literal["throughput", "latency", "errors", "sample"]
    statistic: str = ""
    probe: str = ""
    keys: dict[Dimension, tuple[str | float, ...]] = Field(default_factory=dict)

    def covers(self, place: Mapping[str, object]) -> bool:
        """Whether what lies at these keys is read; a dimension that `place` leaves out decides nothing."""
        return all(place[dim] in keys for dim, keys in self.keys.items() if dim in place)


class Query(Node):
    """An expression lowered to SQL over the store's `measure` schema (see `results/schema.py`).

    The SQL gives one column for each of `dims`, in that order, then `value` (DOUBLE, in `unit`; NULL when missing).
    `text` is the expression as the user wrote it. `absent` says what a missing value means where all that it is made of
    was measured, as for a saturation that was not reached. `reads` are the measures in it, none for what is declared;
    None in a plan from before it was kept.
    """

    sql: str
    dims: tuple[Dimension, ...]
    unit: str
    text: str
    absent: str = ""
    reads: tuple[Read, ...] | None = None


class Metric(Node):
    """`repeats` has the same values for each repeat (a further dim), where there are several: comparisons are made of
    them. None, too, where a value is of all repeats together. `percentile`: whether the values are percentiles, or are
    computed from some; None in a plan from before it was kept."""

    name: str
    label: str
    better: Literal["higher", "lower"] | None
    query: Query
    repeats: Query | None = None
    percentile: bool | None = None
    origin: Origin


class Expect(Node):
    """A condition: `query` gives `value` 1.0 (holds), 0.0 (does not) or NULL (can't be known) for each of its dims.

    `sides` are what a comparison compares, so that a verdict can tell the numbers; empty for other conditions.
    """

    text: str
    label: str
    query: Query
    sides: tuple[Query, ...] = ()
    origin: Origin


# The report: loops are unrolled and names resolved when the plan is made, so a template only lays out.


class Value(Node):
    """A computed number in a text: printed by `format` (Python's format language; `%` multiplies by 100).

    `range_of` is set for `{range(x over d):.0f}`, which prints "28 to 37": the two queries give its ends.
    """

    query: Query
    format: str
    high: Query | None = None


class Prose(Node):
    """Markdown with computed numbers: `parts` in order. Plain strings are Markdown; labels in them are escaped."""

    parts: tuple[str | Value, ...]


class TextElement(Node):
    kind: Literal["text"] = "text"
    prose: Prose


class Key(Node):
    """A value of a dimension, as it stands in the results, and its label for people."""

    value: str | float
    label: str


class Line(Node):
    """A line of a table: a column, or, when the table is transposed, a row.

    Either `query` (whose dims are the table's `dim`, or none) with `format`, or `texts`, one for each key.
    """

    label: str
    unit: str = ""
    query: Query | None = None
    format: str = ""
    texts: tuple[Prose, ...] = ()


class TableElement(Node):
    """`keys` run along `dim` (the rows, unless `transposed`); `lines` are the other way."""

    kind: Literal["table"] = "table"
    title: str
    dim: str
    dim_label: str
    keys: tuple[Key, ...]
    lines: tuple[Line, ...]
    transposed: bool = False
    note: Prose | None = None


class CalloutElement(Node):
    """The lead box: a table without units in its head, or a text."""

    kind: Literal["callout"] = "callout"
    title: str
    table: TableElement | None = None
    prose: Prose | None = None
    note: Prose | None = None


class Series(Node):
    """What a figure draws. `mark`: line, bar, curve (query against `x_query`, joined along `x_dim`), rule.

    `x_dim` is the dimension on the x axis (for a curve: along which the points are joined and labelled);
    `color_dim` gives one colour for each of its keys, else `label` names the series. With `band`, `repeats` has the
    same values for each repeat (a further dim), of which the 95 % confidence interval is made.
    """

    mark: Literal["line", "bar", "curve", "rule"]
    query: Query
    label: str
    x_dim: Dimension | None = None
    x_query: Query | None = None
    x_label: str = ""
    color_dim: Dimension | None = None
    axis: Literal["left", "right"] = "left"
    dashed: bool = False
    band: bool = False
    repeats: Query | None = None


class FigureElement(Node):
    """`keys` gives, for each dimension used, its values in order with labels. `log_y` is of the left axis.

    With a `panel_dim` there is a panel for each of its keys (small multiples), all on shared axes.
    """

    kind: Literal["figure"] = "figure"
    title: str
    claim: Prose | None = None
    series: tuple[Series, ...]
    keys: dict[str, tuple[Key, ...]]
    x_label: str = ""
    log_x: bool = False
    log_y: bool = False
    log_y_right: bool = False
    panel_dim: Dimension | None = None
    note: Prose | None = None


class Term(Node):
    """A named factor of a formula with the query that gives its number."""

    text: str
    query: Query


class FormulaElement(Node):
    """A metric worked through for one key: `name = text`, then the text with the terms' numbers in it, then the result.

    `text` holds the terms as `{0}`, `{1}`, ...
    """

    kind: Literal["formula"] = "formula"
    name: str
    for_label: str
    text: str
    terms: tuple[Term, ...]
    result: Query


class FactsElement(Node):
    """The test configuration: declared facts beside observed ones for these hardware groups."""

    kind: Literal["facts"] = "facts"
    title: str
    hardware: tuple[str, ...]


class DisclosureElement(Node):
    kind: Literal["disclosure"] = "disclosure"


class SectionElement(Node):
    kind: Literal["section"] = "section"
    title: str
    elements: tuple[Element, ...]


Element = Annotated[
    TextElement
    | TableElement
    | CalloutElement
    | FigureElement
    | FormulaElement
    | FactsElement
    | DisclosureElement
    | SectionElement,
    Field(discriminator="kind"),
]
SectionElement.model_rebuild()


class Asset(Node):
    """A file of a report's house style, named as the spec's files are."""

    file: str
    sha256: str


class Theme(Node):
    """A house style. Colours are `#rrggbb`; what is empty is ours."""

    logo: Asset | None = None
    brand: str = ""
    accent: str = ""
    font: str = ""
    font_files: tuple[Asset, ...] = ()
    css: Asset | None = None


class Report(Node):
    """`parts` are templates that stand in for those of the layout. `provenance` is how much the appendix tells."""

    name: str
    title: str
    subtitle: str = ""
    template: str
    language: str = "en"
    words: dict[str, str | dict[str, str]] = Field(default_factory=dict)
    """Of a language that is not shipped: the user's own catalogue. What it lacks is in English."""
    author: str = ""
    paper: Literal["a4", "letter"] = "a4"
    provenance: Literal["full", "compact", "none"] = "full"
    theme: Theme = Theme()
    parts: tuple[Asset, ...] = ()
    legal: Prose | None = None
    elements: tuple[Element, ...]
    origin: Origin


class SpecRef(Node):
    """The spec that the plan was made from: `files` maps each file read to its SHA-256."""

    name: str
    files: dict[str, str]
    profile: str | None = None
    params: dict[str, str] = Field(default_factory=dict)


class Plan(Node):
    format: Literal["benchbrief-plan"] = "benchbrief-plan"
    version: int = PLAN_VERSION
    spec: SpecRef
    hosts: dict[str, Host]
    hardware: dict[str, Hardware]
    clients: dict[str, Client]
    databases: dict[str, Database]
    """Keyed `name@hardware`: a database as one hardware group sees it (`Cell.database` is such a key)."""
    workloads: dict[str, Workload]
    experiments: dict[str, Experiment]
    cells: tuple[Cell, ...]
    metrics: tuple[Metric, ...] = ()
    expects: tuple[Expect, ...] = ()
    reports: tuple[Report, ...] = ()
    estimate_s: float
    """Estimated wall time: cells one after another on each host, independent groups side by side, searches in full."""

    @property
    def assets(self) -> dict[str, str]:
        """The files of the reports' house styles, with their SHA-256."""
        found: dict[str, str] = {}
        for report in self.reports:
            theme = report.theme
            for asset in (theme.logo, theme.css, *theme.font_files, *report.parts):
                if asset:
                    found[asset.file] = asset.sha256
        return found
