"""The plan: what will be run, where, in which order, and how each derived number is computed from the results.

The plan is the only thing that the runners, the store and the reports know of a spec. It is deterministic (the same
spec, profile and parameters give the same bytes), versioned, and free of secrets: those are references, resolved on
the controller at run time. Quantities are in base units, named in each field: seconds, bytes, ops/s.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from benchbrief.compiler.blocks.workload_tables import DB_BENCH, PROPORTIONS
from benchbrief.compiler.plan_base import SHARED, Fact, Node, Origin, Quantity, Reference, Template
from benchbrief.compiler.plan_numbers import (
    Dimension,
    Expect,
    Metric,
    Query,
    Read,
)
from benchbrief.compiler.plan_reports import (
    Asset,
    CalloutElement,
    DisclosureElement,
    Element,
    FactsElement,
    FigureElement,
    FormulaElement,
    Key,
    Line,
    Prose,
    Report,
    SectionElement,
    Series,
    TableElement,
    Term,
    TextElement,
    Theme,
    Value,
)
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

__all__ = [  # what is imported from here though it stands in the other modules of the plan
    "Asset",
    "Auth",
    "Boundary",
    "CalloutElement",
    "Client",
    "Database",
    "Dimension",
    "DisclosureElement",
    "Element",
    "Expect",
    "Fact",
    "FactsElement",
    "FigureElement",
    "FormulaElement",
    "Hardware",
    "Hook",
    "Host",
    "Key",
    "Line",
    "Metric",
    "Option",
    "Origin",
    "PowerMeter",
    "Prose",
    "Quantity",
    "Query",
    "Read",
    "Reference",
    "Report",
    "Reset",
    "SectionElement",
    "Series",
    "ServerStart",
    "TableElement",
    "Template",
    "Term",
    "TextElement",
    "Theme",
    "Tls",
    "Tool",
    "Value",
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

    @property
    def operations(self) -> tuple[str, ...]:
        """What it does, in our words. YCSB counts the halves of a read-modify-write as a read and an update too."""
        if self.family == "db_bench":
            return DB_BENCH[self.benchmark].operations
        done = {name for name in PROPORTIONS if self.properties.get(name)}
        if "read_modify_write" in done:
            done |= {"read", "update"}
        return tuple(name for name in PROPORTIONS if name in done)


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
