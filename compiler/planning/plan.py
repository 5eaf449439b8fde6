"""The plan: what runs, where, in which order, and how each derived number is computed from the results.

Runners, store and reports know a spec only by its plan. It is deterministic (the same spec, profile and parameters
give the same bytes), versioned, and free of secrets: those are references, which the controller resolves at run
time. Quantities are in base units, named in each field: seconds, bytes, ops/s.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from benchbrief.compiler.extensions.engine_spec import AFTER_WRITES, BY_FILE_SYSTEM, RESTORED, Reset
from benchbrief.compiler.extensions.meter_spec import Boundary
from benchbrief.compiler.extensions.registry import TOOL_SPECS
from benchbrief.compiler.extensions.tool_spec import Change
from benchbrief.compiler.planning.plan_base import (
    SHARED,
    DatabaseKey,
    Fact,
    Node,
    Origin,
    Quantity,
    Reference,
    Template,
)
from benchbrief.compiler.planning.plan_numbers import Dimension, Expect, Metric, Query, Quote, Range, Read, Unjudged
from benchbrief.compiler.planning.plan_reports import (
    MOST_COLUMNS,
    Asset,
    CalloutElement,
    DisclosureElement,
    Element,
    FactsElement,
    FigureElement,
    FormulaElement,
    Key,
    Label,
    Line,
    Prose,
    Report,
    SectionElement,
    Series,
    TableElement,
    Term,
    Tested,
    TextElement,
    Theme,
    Value,
    Wording,
)
from benchbrief.compiler.planning.plan_searches import (
    Adaptive,
    Confident,
    Knee,
    KneeSearch,
    Promise,
    PromiseLimit,
    UntilSteady,
)
from benchbrief.compiler.planning.plan_systems import (
    Arrivals,
    Asked,
    Auth,
    Client,
    Database,
    Event,
    Hardware,
    Hook,
    Host,
    Option,
    PowerMeter,
    SchedulerBlock,
    ServerStart,
    Tls,
    Tool,
)
from benchbrief.compiler.resets.tolerated_changes import ResetWork

__all__ = [  # other rooms import these from here
    "AFTER_WRITES",
    "BY_FILE_SYSTEM",
    "MOST_COLUMNS",
    "RESTORED",
    "Adaptive",
    "Arrivals",
    "Asked",
    "Asset",
    "Auth",
    "Boundary",
    "CalloutElement",
    "Change",
    "Client",
    "Confident",
    "Database",
    "DatabaseKey",
    "Dimension",
    "DisclosureElement",
    "Element",
    "Event",
    "Expect",
    "Fact",
    "FactsElement",
    "FigureElement",
    "FormulaElement",
    "Hardware",
    "Hook",
    "Host",
    "Key",
    "Knee",
    "KneeSearch",
    "Label",
    "Line",
    "Metric",
    "Option",
    "Origin",
    "PowerMeter",
    "Promise",
    "PromiseLimit",
    "Prose",
    "Quantity",
    "Query",
    "Quote",
    "Range",
    "Read",
    "Reference",
    "Report",
    "Reset",
    "ResetWork",
    "SchedulerBlock",
    "SectionElement",
    "Series",
    "ServerStart",
    "TableElement",
    "Template",
    "Term",
    "Tested",
    "TextElement",
    "Theme",
    "Tls",
    "Tool",
    "Unjudged",
    "UntilSteady",
    "Value",
    "Wording",
]

PLAN_VERSION = 1


class Workload(Node):
    """A workload. `family` is the tool that brings it, and `benchmark` its name there: `ycsb` and `a`.

    `properties` are the resolved settings, in base units, by the names of the family's attributes. `operations` are
    what it does, in our words. `files` are the texts of the files beside the spec that attributes name, by
    attribute. `writes` says whether it changes the data set, and `changes` how. `phase` is "load" for the measured
    loading of a data set, which ends with the last record or with the measured time.
    """

    name: str
    label: str
    description: str
    family: str
    benchmark: str
    properties: dict[str, str | float | bool]
    operations: tuple[str, ...] = ()
    files: dict[str, str] = Field(default_factory=dict)
    writes: bool
    changes: Change = "anything"
    phase: Literal["load", "run"] = "run"
    origin: Origin

    @model_validator(mode="before")
    @classmethod
    def _of_before(cls, given: object) -> object:
        """Read earlier plans, which have no operations, or do not say how a workload changes the data."""
        if not isinstance(given, dict):
            return given
        if "changes" not in given:
            given = {**given, "changes": "anything" if given.get("writes") else "nothing"}
        if "operations" in given:
            return given
        spec = TOOL_SPECS.own.get(given.get("family", ""))
        done = spec.operations(given.get("benchmark", ""), given.get("properties", {})) if spec else ()
        return {**given, "operations": ("insert",) if given.get("phase") == "load" else done}


class Probe(Node):
    """A sampler beside the measurement; `options` e.g. {"device": "/dev/nvme0n1"}.

    A probe that is read `after` fetches samples that another system recorded. `hosts` are the sampled ones. A probe
    on the `controller` reads over the network; one in the `tool` reads the output of the load generator on each
    host.
    """

    name: str
    every_s: float
    hosts: tuple[str, ...]
    on: Literal["node", "controller", "tool"] = "node"
    options: dict[str, str] = Field(default_factory=dict)
    after: bool = False
    package: str = ""
    """The package of the probe with its version ("bench-entropy 0.1.0"); "" for benchbrief's own."""
    origin: Origin


StepKind = Literal["prepare", "load", "warm_up", "measure", "collect", "cool_down"]


class Step(Node):
    """One step of a cell. `seconds` is its declared length, or an estimate; `timeout_s` ends it.

    A cool-down comes after the cell's verdict, and only where another cell of these hosts follows.
    """

    kind: StepKind
    seconds: float
    timeout_s: float
    reset: ResetWork = ""


class Dataset(Node):
    """What a load leaves. Two cells with the same `hash` on the same hardware can share one load."""

    hash: str
    records: int
    reuse: bool


class Cell(Node):
    """One point of the matrix: hardware x database x workload x ramp point x repeat.

    `id` is readable and unique in the plan; `hash` covers all that can change the result (not labels or prose).
    `load_hosts` generate the load with `tool`: the client's hosts, or, for a library engine (RocksDB), the hosts
    under test. `threads` and `target` are the total over them; `share_of` gives each one's. Cells that share a host
    in `locks`, or equipment in `shares`, never run at the same time (see `shared_equipment.py`). Of the cells with one
    `turn`, one is measured at a time, while others load. `threads` is None until a search finds it (`threads_from`),
    and so is the `target` of a cell with `target_from`.
    """

    id: str
    hash: str
    experiment: str
    hardware: str
    database: DatabaseKey
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
    events: Annotated[tuple[Event, ...], SHARED] = ()
    locks: Annotated[tuple[str, ...], SHARED]
    shares: Annotated[tuple[str, ...], SHARED] = ()
    turn: str = ""
    origin: Annotated[Origin, SHARED]

    @property
    def holds(self) -> tuple[str, ...]:
        """Return all that no other cell may use meanwhile: hosts by their ids, and shared equipment."""
        return (*self.locks, *self.shares)

    def at_load(self, threads: int | None, target: float | None) -> Cell:
        """Return the cell with the threads and the target that a search has found for it; None changes nothing."""
        known = {name: value for name, value in (("threads", threads), ("target", target)) if value is not None}
        return self.model_copy(update=known) if known else self


def share_of(total: int, part: int, parts: int) -> int:
    """Return the share of one of so many hosts. The first ones have one more where it does not divide."""
    return total // parts + (1 if part < total % parts else 0)


Overlap = Literal["measuring", "loading", "none"]


class Experiment(Node):
    """`points` are those of `axis`. A `search`, an `adaptive` ramp or a `promise` chooses among them, and they rise.

    `threads_from` and `target_from` name the experiment whose knee counts; the axis then has no points. `requires`
    are the experiments that have to end before. `repeats` is the maximum where `confident` or a budget may end them
    early. `budget_s` is the time that its cells may take on each group of hosts (see `budgets.py`).
    `arrivals` is how an offered load is spaced, where that is not the tool's usual way.
    Cells that are measured `until_steady` end by themselves; then `measure_s`, also of cells, is the most.
    `cool_down_s` passes after each cell, `retries` is how often a failed one is tried again, and `slack_s` how much
    longer than planned a measured job may take (None: see `expand.py`). `overlap` is what may run on its other hardware
    groups while one is measured. `unattended_s` is how long a job goes on
    without its controller (None: the runners' usual time).
    """

    name: str
    label: str
    hardware: tuple[str, ...]
    workloads: tuple[str, ...]
    axis: Literal["threads", "target"]
    points: tuple[float, ...]
    search: KneeSearch | None = None
    adaptive: Adaptive | None = None
    promise: Promise | None = None
    threads_from: str | None = None
    target_from: str | None = None
    requires: tuple[str, ...] = ()
    warm_up_s: float
    measure_s: float
    until_steady: UntilSteady | None = None
    phases: int
    repeats: int
    confident: Confident | None = None
    budget_s: float | None = None
    order: Literal["grouped", "interleaved", "random"]
    seed: int | None = None
    overlap: Overlap = "measuring"
    max_error_share: float = 0.0
    arrivals: Arrivals | None = None
    cool_down_s: float = 0.0
    retries: int = 0
    on_failure: Literal["continue", "stop", "try_all"] = "continue"
    slack_s: float | None = None
    unattended_s: float | None = None
    origin: Origin


class SpecRef(Node):
    """The spec of the plan. `files` maps each file to its SHA-256."""

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
    databases: dict[DatabaseKey, Database]
    """By `name@hardware`: a database on one hardware group (`Cell.database` is such a key)."""
    workloads: dict[str, Workload]
    experiments: dict[str, Experiment]
    cells: tuple[Cell, ...]
    metrics: tuple[Metric, ...] = ()
    expects: tuple[Expect, ...] = ()
    reports: tuple[Report, ...] = ()
    schedulers: dict[str, SchedulerBlock] = Field(default_factory=dict)
    """What the spec says of schedulers, by name. It changes no result."""
    budget_s: float | None = None
    """The time that all cells together may take on each group of hosts: `bench run --budget`."""
    estimate_s: float
    """Estimated wall time: cells one after another on each host, independent groups side by side, searches in full,
    of adaptive ramps as many points as they measure, and of searches for a promise as many cells as usual."""

    @property
    def extensions(self) -> dict[str, str]:
        """The other packages' extensions in use: package and version, by extension."""
        probes = (probe for cell in self.cells for probe in cell.probes)
        meters = (meter for hardware in self.hardware.values() for meter in hardware.power)
        found = {
            **{f"engine {database.engine}": database.package for database in self.databases.values()},
            **{f"tool {cell.tool.driver}": cell.tool.package for cell in self.cells},
            **{f"probe {probe.name}": probe.package for probe in probes},
            **{f"transport {host.transport}": host.package for host in self.hosts.values()},
            **{f"meter {meter.kind}": meter.package for meter in meters},
            **{f"scheduler {name}": block.package for name, block in self.schedulers.items()},
            **{f"template {report.template}": report.package for report in self.reports},
        }
        return {what: package for what, package in found.items() if package}

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
