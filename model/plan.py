"""The plan: what runs, where, in which order, and how each derived number is computed from the results.

Runners, store and reports know a spec only through its plan. A plan is deterministic (the same spec, profile and
parameters give the same bytes) and versioned. It contains no secrets, only references that the controller resolves at
run time. Quantities are in base units, which each field's name states: seconds, bytes, ops/s.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from benchbrief.model.engine_spec import Reset
from benchbrief.model.extension_spec import Boundary, Format
from benchbrief.model.node import Node
from benchbrief.model.tool_spec import Arrival, Change

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler

ResetWork = str
"""How a reset restores the data: "", "load", "undo", "copy", "links", "command", or the name of a `SnapshotSpec`."""
"""How a cell gets its data set: by a load, by deleting what cells inserted, by copying, linking or putting a snapshot
back, or by the declared commands; "" when it is there already."""


DimKey = str | float
"""A value of a dimension, such as `eco` for the hardware or 64 for threads."""


class Levels(str):
    """The levels of all factors as one text: `codec=lz4,vsize=1000`. It is "" if there are no factors.

    A level is a word, or a number in its base unit. The factors are in the order of the spec.
    """

    __slots__ = ()

    @classmethod
    def of(cls, keys: Mapping[str, DimKey]) -> Levels:
        return cls(",".join(f"{factor}={key_text(key)}" for factor, key in keys.items()))

    @property
    def keys(self) -> dict[str, DimKey]:
        """Return each factor's level."""
        return dict(_pairs(self))

    def only(self, factors: Collection[str]) -> Levels:
        """Return the levels of only these factors."""
        return Levels.of({factor: key for factor, key in self.keys.items() if factor in factors})

    def behind(self, workload: str) -> str:
        """Return a workload followed by the levels, as in messages: `rr, codec=lz4, vsize=1000`."""
        return ", ".join((workload, *filter(None, self.split(","))))

    @classmethod
    def __get_pydantic_core_schema__(cls, _: object, handler: GetCoreSchemaHandler) -> Any:
        return _text_schema(cls, handler)


@lru_cache(1 << 16)
def _pairs(levels: str) -> tuple[tuple[str, DimKey], ...]:
    pairs = (pair.partition("=") for pair in levels.split(",") if pair)
    return tuple((factor, key if is_word(key) else float(key)) for factor, _, key in pairs)


def key_text(key: DimKey) -> str:
    """Return a level as written in texts and ids: a word, or a number that reads back as the same number."""
    return key if isinstance(key, str) else repr(float(key)).removesuffix(".0")


def is_word(text: str) -> bool:
    """Return whether a level is a word rather than a number."""
    return text[:1].isalpha() or text[:1] == "_"


class DatabaseKey(str):
    """A plan's name for a database on a hardware group or variant: `rocks@box.disk`. If the database uses factors,
    their levels follow: `rocks@box.disk?codec=lz4`."""

    __slots__ = ()

    @classmethod
    def of(cls, database: str, hardware: str, levels: str = "") -> DatabaseKey:
        return cls(f"{database}@{hardware}{levels and f'?{levels}'}")

    @property
    def database(self) -> str:
        """Return the database's name in the spec."""
        return self.partition("@")[0]

    @property
    def hardware(self) -> str:
        """Return the key of the hardware group or variant."""
        return self.partition("@")[2].partition("?")[0]

    @property
    def levels(self) -> Levels:
        """Return the levels of the factors that the database uses."""
        return Levels(self.partition("?")[2])

    @classmethod
    def __get_pydantic_core_schema__(cls, _: object, handler: GetCoreSchemaHandler) -> Any:
        return _text_schema(cls, handler)


def _text_schema(kind: type[str], handler: GetCoreSchemaHandler) -> Any:
    from pydantic import AfterValidator

    return handler.generate_schema(Annotated[str, AfterValidator(kind)])


class Origin(Node):
    """A place in the spec, so that a failure at run time can name the line."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Reference(Node):
    """A value that the controller reads at run time: an environment variable, or a secret (masked everywhere)."""

    kind: Literal["env", "secret"]
    name: str


Template = tuple[str | Reference, ...]
"""A text as a sequence of strings and references. A plain text is a tuple of one string."""


class Quantity(Node):
    """A declared value with its unit. `value` is in the base unit, and `text` is the value as the user wrote it."""

    value: float
    unit: str
    text: str


Fact = str | Quantity | bool
"""A fact that a spec declares about a hardware group: `cpu = "64 vCPU"`, `memory = 512 GiB`."""


Dimension = str
"""A dimension of results: one of `DIMENSIONS`, or the name of one of the spec's factors."""

DIMENSIONS: tuple[Dimension, ...] = (
    *("experiment", "hardware", "workload", "threads", "target"),
    *("phase", "repeat", "operation", "node", "time"),
)
"""The dimensions that every spec has, in the order of results. Factors come after `workload`."""

LatencyKind = Literal["intended", "service"]
"""Whether a latency counts from the time when the operation was due, or from when it was sent."""


class Read(Node):
    """A measure that a query reads, and the cells from which it is read. `keys` has the allowed keys of each fixed
    dimension.

    The other dimensions are read at all planned keys. `view` is the store's view with the measure, `statistic` is a
    latency's statistic in the store's words, and `probe` is the probe that samples the measure. `counted` is the kind
    of latency that the query asks for, or "" for the kind that `latency` means for the cell.
    """

    measure: str
    view: Literal["throughput", "latency", "errors", "sample", "sustained"]
    statistic: str = ""
    probe: str = ""
    counted: LatencyKind | Literal[""] = ""
    keys: dict[Dimension, tuple[str | float, ...]] = field(default_factory=dict)

    def covers(self, place: Mapping[Dimension, object] | Mapping[str, object]) -> bool:
        """Return whether the read includes these keys. Dimensions that `place` lacks are ignored."""
        return all(place[dim] in keys for dim, keys in self.keys.items() if dim in place)


BETTER: Mapping[str, Literal["higher", "lower"]] = {
    "throughput": "higher", "sustained": "higher", "latency": "lower", "errors": "lower",
}  # fmt: skip
"""Whether higher or lower values of a plain measure are better, by kind. Kinds for which neither is better are left
out."""


class Quote(Node):
    """A published value that replaces an expression over imported results (see `PublishedRow` of the store).

    It is the value of `metric` at the keys `at`. If `bound` is low or high, it is the lowest or highest of all
    published values over the dimensions `over`. If `negated`, its sign is reversed.
    """

    metric: str
    bound: Literal["value", "low", "high"]
    at: dict[Dimension, str | float] = field(default_factory=dict)
    over: tuple[Dimension, ...] = ()
    negated: bool = False


class Query(Node):
    """An expression lowered to SQL over the store's `measure` schema (see `results/store/store_schema.py`).

    The SQL gives one column for each of `dims`, in that order, then `value` (DOUBLE, in `unit`; NULL if missing).
    `text` is the expression as the user wrote it. `absent` says what a missing value means if all parts were measured,
    such as a saturation that is not reached. `reads` are the measures that the query reads. A declared quantity has
    none. `quote` is set if a source may give the value itself. `divides` means that the query divides by a value. The
    query's own value is missing if that divisor is zero. `signed` means that its value may be below 0, by the types of
    its parts. `by_ratio` means that the logarithms of its repeats are tested, because their noise is a share of the
    value. `exact` means that the query is made only of sizes, counts and declared values. If these do not vary, a
    difference is due to the compared things. `ragged` has the factors over which the expression reduces although not
    all of their combinations are measured. Its values then cover different points. `made_of` are the metrics, measures
    and facts that the expression names, in order.

    In a plan from before these fields existed, `reads`, `divides` and `made_of` are None, `signed` is True and
    `by_ratio` is False.
    """

    sql: str
    dims: tuple[Dimension, ...]
    unit: str
    text: str
    absent: tuple[str, ...] | str = ()
    reads: tuple[Read, ...] | None = None
    quote: Quote | None = None
    divides: bool | None = None
    signed: bool = True
    by_ratio: bool = False
    exact: bool = False
    ragged: tuple[Dimension, ...] = ()
    made_of: tuple[str, ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Return `made_of`, or all words of the expression if the plan lacks this field."""
        return tuple(re.findall(r"[^\W\d]\w*", self.text)) if self.made_of is None else self.made_of


class Metric(Node):
    """A metric of the spec.

    `repeats` gives the value of each repeat (with a further dimension), for comparisons. It is None if there is only
    one repeat, or if a value covers all repeats together. `percentile` is true if the values are percentiles or are
    computed from percentiles. It is None in plans older than this field. `params` are the parameters that the metric
    names, directly or through other parameters, with their values as written.
    """

    name: str
    label: str
    better: Literal["higher", "lower"] | None
    query: Query
    repeats: Query | None = None
    percentile: bool | None = None
    params: dict[str, str] = field(default_factory=dict)
    origin: Origin


Range = tuple[float | None, float | None]
"""The lowest and the highest possible value. None means that there is no bound."""


class Unjudged(Node):
    """A measure that an expectation can't judge. `measure`, such as `latency.p99[read]`, is not measured at the `keys`
    of `dim`."""

    measure: str
    dim: Dimension
    keys: tuple[str, ...]


class Expect(Node):
    """A condition. `query` gives `value` 1.0 (holds), 0.0 (does not hold) or NULL (unknown) for each of its dims.

    `sides` are the two sides of a comparison, and the verdict shows their numbers. It is empty for other conditions.
    `better` says whether a higher or lower left side helps the condition to hold. It is None if the condition does not
    ask which side is larger. Otherwise, if there are several repeats, `repeats` has both sides with the value of each
    repeat (with a further dimension). The values of `repeats` always lie in `ranges`, whatever is measured. `unjudged`
    are measures that the condition reads but can't judge, because a workload or an experiment has no cell with them,
    although the condition does not exclude that workload or experiment.

    If one side is the highest or the lowest of several values, `points` is like `repeats`, but with all these values
    instead of the extreme. (The highest of single repeats would be higher than the highest of the means.) `needs` says
    how many of the values have to fulfil the condition.
    """

    text: str
    label: str
    wording: Label = ""
    """The condition in words, or "" in a plan older than this field."""
    query: Query
    sides: tuple[Query, ...] = ()
    better: Literal["higher", "lower"] | None = None
    repeats: tuple[Query, ...] = ()
    ranges: tuple[Range, ...] = ()
    points: tuple[Query, ...] = ()
    needs: Literal["every", "any"] = "every"
    unjudged: tuple[Unjudged, ...] = ()
    origin: Origin


class KneeSearch(Node):
    """A search that goes up a ramp to its knee. The knee is the first point whose next point raises the latency by at
    least `rise` while the throughput gains less than `gain`. Both are shares.

    A point is judged after all its repeats, by their mean throughput and the highest of their latencies. `latency` is a
    statistic in the store's words (mean, max, p50 ... p99.99), over all operations of a cell. `otherwise` is the point
    that other experiments use if the ramp has no knee. If it is None, they can't run in that case.
    """

    latency: str
    rise: float
    gain: float
    otherwise: float | None = None


class Confident(Node):
    """The rule that ends a point's repeats. There are at least `at_least` repeats. After that, they end once their mean
    throughput has a narrow 95 % confidence interval (Student's t): half its width, as a share of the mean, is at most
    `within`.
    """

    at_least: int
    within: float


class UntilSteady(Node):
    """The rule that ends a cell's measurement: after `from_s`, at the first look that finds the load steady, and no
    later than after the experiment's `measure_s`. The rule in `model/steadiness.py` decides whether it is steady. It
    uses MSER-5, and Student's interval of the mean, which must lie within a share of the mean to either side.
    """

    within: float
    from_s: float


class Adaptive(Node):
    """A ramp that is measured at `points` points only. The run chooses them, starting with both ends."""

    points: int


class Knee(Node):
    """The place where a knee is searched for: an experiment on one hardware group and with one workload."""

    experiment: str
    hardware: str
    workload: str
    levels: Levels = Levels()


class PromiseLimit(Node):
    """The upper limit of a promise: a latency in seconds, or a share of failed operations.

    For a latency, `statistic` is in the store's words (p99), and applies to one `operation`. `strict` means that
    reaching the limit breaks the promise.
    """

    measure: Literal["latency", "errors"]
    statistic: str = ""
    operation: str = ""
    most: float
    strict: bool = True
    text: str
    """The limit as written in the spec: `latency.p99[read] < 5 ms`."""

    @property
    def name(self) -> str:
        """The name of the limited quantity in a verdict's `asked` statistics: `p99 read`, or `errors`."""
        return f"{self.statistic} {self.operation}".strip() if self.measure == "latency" else self.measure

    def keeps(self, value: float) -> bool:
        return value < self.most if self.strict else value <= self.most


class Promise(Node):
    """A search for an experiment's highest point that keeps each limit.

    The points are rates in steps of half of `within`. At most `judged` repeats decide on a rate, and `held_out` more
    confirm the rate that was found. A search measures at most `most` cells, and typically `usual` cells (see
    `model/rate_search.py`).
    """

    limits: tuple[PromiseLimit, ...]
    within: float
    judged: int
    held_out: int
    usual: int
    most: int

    @property
    def text(self) -> str:
        return " and ".join(limit.text for limit in self.limits)

    def is_same(self, other: Promise) -> bool:
        """Whether both promises have the same limits, in any order and any units."""
        ours, theirs = ({limit.model_copy(update={"text": ""}) for limit in each.limits} for each in (self, other))
        return ours == theirs


class Asked(Node):
    """A request to a scheduler, in place of a named host: `slurm("nvme", 4, partition: "fast")`."""

    scheduler: str
    what: str = ""
    options: tuple[tuple[str, str], ...] = ()


class Host(Node):
    """A machine that runs commands. `id` is unique in the plan: `local`, or the destination as written.

    For `ssh`, the user's own ~/.ssh/config applies to `name`, but the values here take precedence. If a host is
    requested from a scheduler (`asked`), its node is not known until a lane starts. Until then, the host's name is its
    id (`compiler/planning/plan_lanes.py`).
    """

    id: str
    transport: str
    """The name of the host's transport: `local`, `ssh`, or a transport of another package."""
    name: str
    user: str | None = None
    port: int | None = None
    jump: str | None = None
    identity: str | None = None
    package: str = ""
    """The package of the transport, with its version, or "" for benchbrief's own transports."""
    asked: Asked | None = None

    @property
    def is_open(self) -> bool:
        """Return whether the host is still waiting for a node from a scheduler."""
        return self.asked is not None and self.name == self.id


class PowerMeter(Node):
    """How to read power on a hardware group. `kind` is ipmi, redfish, snmp, rapl, command or csv.

    `addresses` are the hosts' meters in the order of the hosts. There are none if the meters are on the hosts
    themselves. `parts` select what to read at each address: object identifiers, sensors, chassis, columns. A `shared`
    meter covers all hosts, and the readings of all its addresses are added up. `on` is the place where it is read.
    `options` are all other arguments, including a command line as `command`.
    """

    kind: str
    boundary: Boundary
    on: Literal["node", "controller"]
    addresses: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    shared: bool = False
    options: dict[str, str | float | bool | Reference] = field(default_factory=dict)
    package: str = ""
    """The package of the meter, with its version, or "" for benchbrief's own meters."""
    origin: Origin

    @classmethod
    def of_before(cls, given: object) -> object:
        """Read earlier plans, which have object identifiers (`oids`) instead of `parts`."""
        if isinstance(given, dict) and "oids" in given:
            return {**{key: value for key, value in given.items() if key != "oids"}, "parts": given["oids"]}
        return given


class Hardware(Node):
    """A group of identical hosts under test. A variant is a group of its own, named `group.variant`.

    `key` is the value of the `hardware` dimension in every result. For a variant, it is the short name if that is
    unique. The watts of all meters in `power` are added up. These meters all have the same kind, boundary, place and
    sharing. In a `control` group, nothing under test changes, so changes in its results are due to the lab.
    """

    key: str
    label: str
    group: str
    group_label: str
    hosts: tuple[str, ...]
    nodes: int
    facts: dict[str, Fact]
    prepare: tuple[str, ...] = ()
    power: tuple[PowerMeter, ...] = ()
    control: bool = False
    origin: Origin

    @classmethod
    def of_before(cls, given: object) -> object:
        """Read earlier plans, in which hardware has one meter or null."""
        if not isinstance(given, dict) or isinstance(power := given.get("power", ()), list | tuple):
            return given
        return {**given, "power": () if power is None else (power,)}


Option = str | float | bool
"""A setting of a tool or an engine. Amounts are in base units."""


class Tool(Node):
    """A load generator. `driver` is its name. `path` is its place as given in the spec, or None if `tool_discovery.py`
    looks for it. `options` are kept so that earlier plans can be read, but no driver uses them."""

    driver: str
    path: str | None = None
    options: dict[str, Option] = field(default_factory=dict)
    package: str = ""
    """The driver's package with its version ("bench-sqlite 0.1.0"), or "" for benchbrief's own drivers."""


class SchedulerBlock(Node):
    """The `scheduler` block, which sets what each job asks for. `package` is the scheduler's package, or "" for
    benchbrief's own."""

    name: str
    options: dict[str, Option] = field(default_factory=dict)
    package: str = ""
    origin: Origin


class Client(Node):
    name: str
    label: str
    hosts: tuple[str, ...]
    tool: Tool
    switch: str | None = None
    origin: Origin


class Hook(Node):
    """A declared command of a database: a shell line for each host of the hardware, or only for the first one.

    `prepare` runs before the server starts or the run attaches to it, `teardown` runs after it stops, and `reset` runs
    before each cell, to restore the data. An exit code other than 0 is a failure.
    """

    when: Literal["prepare", "reset", "teardown"]
    line: str
    on: Literal["each", "first"] = "each"
    timeout_s: float
    env: dict[str, str] = field(default_factory=dict)
    """The environment variables that pass the levels of factors to the command, such as `BENCH_CODEC`."""
    origin: Origin


class Tls(Node):
    """Files on the hosts under test: the key and certificate of a server, and the authority that signed it."""

    certificate: str
    ca: str


class Auth(Node):
    """The login to a started server. The server's members use `key` to identify themselves to each other."""

    user: str | Reference
    password: Reference
    key: Reference


class ServerStart(Node):
    """How a server is started: a program for the data, one for routing, and their ports.

    `config` is the text of the configuration file `config_name`, or "" if there is none.
    """

    binary: str
    router: str
    port: int
    config_name: str = ""
    config: str = ""
    config_sha256: str = ""
    tls: Tls | None = None
    auth: Auth | None = None


class Database(Node):
    """The system under test on one hardware group (with holes such as `{path}` and `{hosts}` filled).

    `server` is "attach" to use a running server at `uri`, "start" to start one as `start` describes, "embedded" if the
    run starts the built-in stand-in and discloses it, or "none" if the engine is a library in the load generator's
    process. `path` is the data directory on the host. `settings` are attributes that only the engine reads. `members`
    of a replica set, `shards` and `version` are None if the spec does not set them.
    """

    name: str
    label: str
    engine: str
    package: str = ""
    """The engine's package with its version, or "" for benchbrief's own engines."""
    server: Literal["attach", "start", "embedded", "none"]
    start: ServerStart | None = None
    uri: Template = ()
    path: str | None = None
    topology: str | None = None
    members: int | None = None
    shards: int | None = None
    version: str | None = None
    max_lag_s: float = 10.0
    """How far secondaries may lag when a measurement starts, in seconds."""
    size_bytes: float | None = None
    settings: dict[str, Option] = field(default_factory=dict)
    options: dict[str, Option] = field(default_factory=dict)
    options_file: str | None = None
    reset: Reset
    reset_package: str = ""
    """The package, with its version, of the snapshots that `reset` names, or "" for benchbrief's own."""
    drop_caches: bool = False
    """Whether the hosts under test drop their page cache before each measurement."""
    hooks: tuple[Hook, ...] = ()
    origin: Origin


Spacing = Literal["poisson", "constant"]


class Arrivals(Node):
    """When operations are due, and the limits of the load.

    Rates are in ops/s over all load generators, and times are in seconds.

    `rates` are the rates of `steps`, which follow each other. Each lasts `each_s`. A burst at `burst_rate` begins every
    `every_s` seconds and lasts `lasting_s` seconds; between bursts, the rate is the cell's `target`. `spacing` applies
    to steps and bursts. `trace` is the text of a recorded trace, with a due time in each line, and `file` is its name
    in the spec.

    At most `queue` operations wait for a thread (None means as many as the tool allows). Operations that find the queue
    full are dropped, and `drops` is the accepted share of these. `lag` is the accepted share of a latency that is the
    generator's own lateness. `stalls` is the accepted share of the time in which a closed loop stands still. An
    operation that takes longer than `timeout_s` after it was sent has failed. A run in which nothing succeeds for
    `give_up_s` is cut short. For both, None means the tool's own limit.
    """

    kind: Arrival
    spacing: Spacing = "poisson"
    rates: tuple[float, ...] = ()
    each_s: float = 0.0
    burst_rate: float = 0.0
    every_s: float = 0.0
    lasting_s: float = 0.0
    trace: str = ""
    file: str = ""
    queue: int | None = None
    drops: float = 0.0
    lag: float = 0.1
    stalls: float | None = None
    timeout_s: float | None = None
    give_up_s: float | None = None

    @property
    def own_rates(self) -> bool:
        """Return whether the arrivals set their own rates, so that a cell has no `target`."""
        return self.kind in ("steps", "trace")


class Event(Node):
    """A command during a cell's measurement, `at_s` after the start of the measured time.

    `line` runs in a shell on all `hosts` at the same time, and may take `timeout_s`. The throughput before the event is
    the mean over the last `window_s` before it. `within` and `outage` are shares of that mean. The throughput is back
    to normal once, for `steady_s`, it is below the mean by no more than `within`. While it is below `outage`, there is
    an outage. `data` says whether the command may change the data set.
    """

    at_s: float
    label: str
    line: str
    hosts: tuple[str, ...]
    timeout_s: float
    window_s: float
    within: float
    steady_s: float
    outage: float
    data: Literal["changed", "kept"] = "changed"
    origin: Origin


MOST_COLUMNS = 14
"""How many columns of numbers fit on a page beside the row names."""


class Value(Node):
    """A computed number in a text, printed by `format` (Python's format language; `%` multiplies by 100).

    For a range, there is also `high`: `{range(x over d):.0f}` prints "28 to 37". If there is a `step`, as in a claim,
    the number is first `rounded` to a multiple of the step. `note` is the text of its footnote.
    """

    query: Query
    format: str
    high: Query | None = None
    step: float = 0.0
    rounded: Literal["nearest", "down", "up"] = "nearest"
    note: str = ""


class Said(Node):
    """A claim's sentence within a text."""

    claim: str


FOOTNOTE_MARK = re.compile(r"\\.|`[^`]*`|\[\^(?P<name>[A-Za-z0-9_-]{1,40})\]", re.DOTALL)
"""Matches an author's footnote mark in a text, `[^src]`. If a match has no `name`, it is not a mark but, for example,
code or an escape."""


class Prose(Node):
    """Markdown with computed numbers. `parts` are in order. Plain strings are Markdown; labels in them are escaped, and
    `[^src]` marks the report's footnote with that name."""

    parts: tuple[str | Value | Said, ...]

    @classmethod
    def of(cls, parts: Iterable[str | Value | Said]) -> Prose:
        """Return a text of these parts, joining neighbouring strings and leaving out empty ones."""
        joined: list[str | Value | Said] = []
        for part in parts:
            if isinstance(part, str) and joined and isinstance(joined[-1], str):
                joined[-1] += part
            elif part != "":
                joined.append(part)
        return cls(parts=tuple(joined))


_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~&])")


def escaped(label: str) -> str:
    """Escape a label for Markdown."""
    return _SPECIAL.sub(r"\\\1", label)


class Wording(Node):
    """The parts of an expression's name, which `reports/data/measure_labels.py` words in the report's language.

    `form` is the way in which the parts in `of` are combined: `plus`, `minus`, `times`, `ratio`, `divided`, `negative`,
    `at` some keys and `points` of ramps, `reduced` by the function `name` along the dimensions `over`, or `where` a
    condition holds. The condition is a `comparison` by the sign `name`, `and`, `or` or `not`. If a quantity at one
    place is compared with the same quantity at another, the form is `shared_ratio`, `change` or `reduction`.
    """

    form: str
    of: tuple[str | Wording, ...]
    name: str = ""
    over: tuple[Dimension, ...] = ()
    points: tuple[tuple[Dimension, float], ...] = ()


Label: TypeAlias = str | Wording
"""A name from the spec, or a wording such as a measure's name (`latency.p99[read], Eco`), which depends on the
language."""


class Extreme(Node):
    """A highest (`high`) or lowest value, and the points that it is chosen from."""

    bound: Literal["low", "high"]
    points: Query


class HeldOut(Node):
    """How a claim about an extreme is measured again: the points of its `extremes` get `times` further repeats, on both
    sides of each comparison. `repeats` has the claim's value in each of these repeats (with a further dimension)."""

    times: int
    extremes: tuple[Extreme, ...]
    repeats: Query


CLAIM_RULES = ("base", "bound", "direction", "alike", "typed", "ratio", "rounding", "limit", "decided")
"""The rules of claims that `allow` may lift for a claim, each with a reason."""


class Claim(Node):
    """A brief's statement about a number: a `sentence` of plain text with one value in it, which may be a range.

    `bound` is `high` for a highest value and `low` for a lowest one. In both cases, `points` has the values among which
    it was found, `opposite` has the other end of their range, and `typical` has their median. Without a bound, `points`
    has only the value itself. If the sentence has a range, its number is the better end. `repeats` has the points'
    values in each repeat (with a further dimension), or is None if each was measured once.

    `base` is the quantity that the value is compared with, and `divisor` has the values by which a ratio divides. If
    the base is a point of a ramp, `base_label` is its name in a report's language. `against` are the base's keys.
    `named` says whether the sentence names the base. `no_difference` is the value that means no difference: 1 for a
    ratio, 0 for a change. `better` says whether higher or lower is better for the metric. A `directed` sentence states
    the size of an increase or a decrease, so its number is above zero.

    A value `of_extremes` is computed from highest or lowest values, whose places differ between repeats, so only
    held-out repeats can decide whether it is true. `allowed` has the reasons for exceptions, by rule. If `held_out` is
    set, the claim uses the repeats that it asks for, and no others.
    """

    name: str
    sentence: Prose
    what: Label
    bound: Literal["", "low", "high"] = ""
    points: Query
    repeats: Query | None = None
    opposite: Query | None = None
    typical: Query | None = None
    base: str = ""
    base_label: Label = ""
    divisor: Query | None = None
    against: dict[Dimension, DimKey] = field(default_factory=dict)
    named: bool = False
    no_difference: float | None = None
    better: Literal["higher", "lower"] | None = None
    directed: bool = False
    of_extremes: bool = False
    held_out: HeldOut | None = None
    allowed: dict[str, str] = field(default_factory=dict)
    origin: Origin

    @property
    def takes_best(self) -> bool:
        """Return whether the claim states the best of several values. If neither higher nor lower is better for the
        metric, either end counts as the best."""
        return bool(self.bound) and (self.better is None or (self.bound == "high") is (self.better == "higher"))

    @property
    def number(self) -> Value | None:
        """Return the value in the sentence, or the end of a range by which the claim is judged."""
        found = next((part for part in self.sentence.parts if isinstance(part, Value)), None)
        if found is None or found.high is None:
            return found
        return found.model_copy(update={"query": found.high if self.bound == "high" else found.query, "high": None})

    @property
    def says_range(self) -> bool:
        """Return whether the sentence has both ends of the range."""
        return any(isinstance(part, Value) and part.high is not None for part in self.sentence.parts)


class TextElement(Node):
    kind: Literal["text"] = "text"
    prose: Prose


class LabelledKey(Node):
    """A value of a dimension in the form that the results use, and its label for people."""

    value: str | float
    label: str


class Tested(Node):
    """How a line is tested in a comparison, or in a table that marks the best. It has the value of each repeat, and
    says whether higher or lower is better.

    Lines with the same `of` show one quantity of several contenders. Those that also have the same `at` are compared
    with each other. If `along` is true, the values within the line are compared with each other instead. If there are
    no `repeats`, the line was measured once.
    """

    of: str
    repeats: Query | None = None
    percentile: bool = False
    better: Literal["higher", "lower"] | None = None
    at: str = ""
    along: bool = False


class Line(Node):
    """A line of a table: a column, or a row of a transposed table.

    A line has either a `query` (along the table's `dim`, or without a dimension) with a `format`, or `texts`, one for
    each key. `heads` are above the label, the outermost first, and neighbouring lines share them.
    """

    label: Label
    heads: tuple[Label, ...] = ()
    unit: str = ""
    query: Query | None = None
    format: str = ""
    texts: tuple[Prose, ...] = ()
    tested: Tested | None = None
    """How the line is tested. It is set only in a comparison, or if the best is marked."""


class TableElement(Node):
    """A table. `keys` run along `dim` (the rows, unless `transposed`), and `lines` run the other way. Lines of a
    comparison are `tested`.

    `heat` shades cells by their values, which are compared within the whole table, each row or each column. `mark` says
    which of the compared values to highlight.
    """

    kind: Literal["table"] = "table"
    title: str
    heading: Prose | None = None
    dim: str
    dim_label: str
    keys: tuple[LabelledKey, ...]
    lines: tuple[Line, ...]
    transposed: bool = False
    note: Prose | None = None
    heat: Literal["", "table", "rows", "columns"] = ""
    mark: Literal["", "best"] = ""


class PublishedElement(Node):
    """The table of published values that the source of imported results states."""

    kind: Literal["published"] = "published"
    title: str
    heading: Prose | None = None
    note: Prose | None = None


class CalloutElement(Node):
    """The lead box: a table without units in its header, or a text."""

    kind: Literal["callout"] = "callout"
    title: str
    heading: Prose | None = None
    table: TableElement | None = None
    prose: Prose | None = None
    note: Prose | None = None


class HeadlineNumber(Node):
    """A number on the first page, with its unit and the sentence beside it. With `shows_none`, the number shows no
    gain, and is grey."""

    value: Prose
    text: Prose
    shows_none: bool = False


class HeadlineElement(Node):
    """One to three numbers in large type, each with its sentence, or with a claim that provides both."""

    kind: Literal["headline"] = "headline"
    numbers: tuple[HeadlineNumber | Said, ...]


class Series(Node):
    """One series of a figure. `mark` is line, bar, curve (query against `x_query`, joined along `x_dim`), rule, range
    (from `query` to `high`), slope (a line between the keys of `x_dim`) or bracket (a comparison of the bars of a key).

    `x_dim` is the dimension on the x axis. For a curve, it is the dimension along which its points are joined and
    labelled. `color_dim` is a dimension whose keys have colours; if there is none, `label` names the series. For a
    `band`, and for bars of repeated measurements, `repeats` has the value of each repeat (with a further dimension),
    from which the 95 % confidence interval is computed.
    """

    mark: Literal["line", "bar", "curve", "rule", "range", "slope", "bracket"]
    query: Query
    label: Label
    high: Query | None = None
    format: str = ""
    """How the series' numbers are printed, or "" for the usual format of its unit."""
    x_dim: Dimension | None = None
    x_query: Query | None = None
    x_label: Label = ""
    color_dim: Dimension | None = None
    axis: Literal["left", "right"] = "left"
    dashed: bool = False
    estimated: bool | DimKey = False
    """Whether the values are estimates and not measured. If only the values at one key of `color_dim` are estimates,
    this is that key."""
    band: bool = False
    repeats: Query | None = None
    better: Literal["higher", "lower"] | None = None
    """For bars, whether higher or lower is better."""

    @property
    def drawn(self) -> tuple[Query, ...]:
        """The queries of everything that is drawn, except for single repeats."""
        return tuple(query for query in (self.query, self.x_query, self.high) if query)

    @property
    def is_ideal(self) -> bool:
        """Return whether the series is an ideal: a dashed line that is drawn for comparison, and whose query reads no
        measurements. Bars and ranges are never ideals."""
        return self.dashed and self.query.reads == () and self.mark not in ("bar", "range")


class PointNote(Node):
    """A note in a figure, with an arrow to the points at these keys."""

    text: Prose
    at: dict[str, DimKey]


class FigureElement(Node):
    """A figure. `keys` has the values of each dimension in order, with labels. `log_y` applies to the left axis.

    If there is a `panel_dim`, each of its keys has a panel (small multiples), and the panels share their axes. Figures
    of the same measure also share their axes, except those with `free_axes`.
    """

    kind: Literal["figure"] = "figure"
    title: str
    heading: Prose | None = None
    claim: Prose | None = None
    series: tuple[Series, ...]
    keys: dict[str, tuple[LabelledKey, ...]]
    x_label: str = ""
    log_x: bool = False
    log_y: bool = False
    log_y_right: bool = False
    free_axes: bool = False
    panel_dim: Dimension | None = None
    point_notes: tuple[PointNote, ...] = ()
    note: Prose | None = None


class Term(Node):
    """A named factor of a formula, with the query for its number."""

    text: Label
    query: Query


class FormulaElement(Node):
    """The formula of a metric for one key: `name = text`, then the text with the terms' numbers, then the result.

    `text` has the terms as `{0}`, `{1}`, ...
    """

    kind: Literal["formula"] = "formula"
    name: str
    for_label: str
    text: str
    terms: tuple[Term, ...]
    result: Query


class FactsElement(Node):
    """The test configuration: declared and observed facts of hardware groups."""

    kind: Literal["facts"] = "facts"
    title: str
    heading: Prose | None = None
    hardware: tuple[str, ...]


class DisclosureElement(Node):
    """The place of the full disclosure in a brief that includes it (`Report.disclosure`)."""

    kind: Literal["disclosure"] = "disclosure"


class SectionElement(Node):
    """A section. `heading` is the title if it states a claim, and `title` then has an ellipsis in place of each number.
    The two fields have the same meaning in a callout, a table and a figure."""

    kind: Literal["section"] = "section"
    title: str
    heading: Prose | None = None
    elements: tuple[Element, ...]


class _ByKind:
    """Lets pydantic choose an element's class by its required `kind`, without trying other classes."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        from pydantic import Discriminator

        return Discriminator("kind").__get_pydantic_core_schema__(source, handler)


Element = Annotated[
    TextElement
    | TableElement
    | HeadlineElement
    | PublishedElement
    | CalloutElement
    | FigureElement
    | FormulaElement
    | FactsElement
    | DisclosureElement
    | SectionElement,
    _ByKind(),
]


def figures_in(elements: Iterable[Element]) -> Iterator[FigureElement]:
    """Yield the figures among a report's elements, including those in sections, in reading order."""
    for element in elements:
        if isinstance(element, FigureElement):
            yield element
        elif isinstance(element, SectionElement):
            yield from figures_in(element.elements)


class Asset(Node):
    """A file of a report's house style."""

    file: str
    sha256: str


class Theme(Node):
    """A house style. Colours are `#rrggbb`, and an empty field means our default. `palette` has the colours of
    hardware, workloads and levels by their names. `cover` is a picture."""

    logo: Asset | None = None
    brand: str = ""
    accent: str = ""
    font: str = ""
    font_files: tuple[Asset, ...] = ()
    css: Asset | None = None
    palette: dict[str, str] = field(default_factory=dict)
    cover: Asset | None = None
    pptx: Asset | None = None
    docx: Asset | None = None
    """Templates for PowerPoint and Word."""


class Report(Node):
    """A report of the spec. `parts` are templates that replace templates of the layout. `provenance` says how detailed
    the appendix is.

    `heading` and `subheading` are the title and subtitle if these have computed numbers. `title` and `subtitle` then
    have an ellipsis in place of each number.
    """

    name: str
    title: str
    subtitle: str = ""
    heading: Prose | None = None
    subheading: Prose | None = None
    template: str
    package: str = ""
    """The package of the template, with its version, or "" for benchbrief's own templates."""
    language: str = "en"
    words: dict[str, str | dict[str, str]] = field(default_factory=dict)
    """The user's own catalogue of a language that is not shipped. English words fill its gaps."""
    measures: dict[str, str] = field(default_factory=dict)
    """The names of measures of other packages' probes in the report's language, as far as they are known, by their keys
    in a catalogue."""
    author: str = ""
    paper: Literal["a4", "letter"] = "a4"
    formats: tuple[Format, ...] = ()
    """The report's file formats. If there are none, the formats of its template are used."""
    provenance: Literal["full", "compact", "none"] = "full"
    theme: Theme = Theme()
    parts: tuple[Asset, ...] = ()
    limits: tuple[str, ...] = ()
    """Limitations of the numbers that the author states, one sentence each."""
    legal: Prose | None = None
    disclosure: Literal["separate", "in_brief"] = "separate"
    audience: Literal["customer", "internal"] = "customer"
    """The readers of the report. Whether pages show run ids and paths depends on them."""
    address: str = ""
    """The address where the disclosure is published."""
    columns: Literal[1, 2] = 1
    layout: Literal["pages", "one_page"] = "pages"
    footnotes: dict[str, Prose] = field(default_factory=dict)
    """The author's own footnotes, by the names in their marks."""
    allowed: dict[str, str] = field(default_factory=dict)
    """The reasons given for exceptions from the rules about results in titles and headlines, by rule."""
    elements: tuple[Element, ...]
    origin: Origin


PLAN_VERSION = 1


class Workload(Node):
    """A workload. `family` is the tool that provides it, and `benchmark` is its name there: `ycsb` and `a`.

    `properties` are the resolved settings, in base units, by the names of the family's attributes. `operations` are the
    kinds of operations that it does, in our words. If attributes name files beside the spec, `files` has the files'
    texts, by attribute. `writes` says whether the workload changes the data set, and `changes` says how. `phase` is
    "load" for the measured loading of a data set, which ends with the last record or with the measured time.
    """

    name: str
    label: str
    description: str
    family: str
    benchmark: str
    properties: dict[str, str | float | bool]
    operations: tuple[str, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    writes: bool
    changes: Change = "anything"
    phase: Literal["load", "run"] = "run"
    origin: Origin

    @classmethod
    def of_before(cls, given: object) -> object:
        """Read earlier plans, which do not say how a workload changes the data."""
        if isinstance(given, dict) and "changes" not in given:
            return {**given, "changes": "anything" if given.get("writes") else "nothing"}
        return given


class Probe(Node):
    """A sampler that runs beside the measurement. `options` are, for example, {"device": "/dev/nvme0n1"}.

    A probe that is read `after` fetches samples that another system recorded. `hosts` are the sampled hosts. A probe on
    the `controller` reads over the network; a probe in the `tool` reads the output of the load generator on each host.
    """

    name: str
    every_s: float
    hosts: tuple[str, ...]
    on: Literal["node", "controller", "tool"] = "node"
    options: dict[str, str] = field(default_factory=dict)
    after: bool = False
    package: str = ""
    """The probe's package with its version ("bench-entropy 0.1.0"), or "" for benchbrief's own probes."""
    origin: Origin


StepKind = Literal["prepare", "load", "warm_up", "measure", "collect", "cool_down"]
"""The kinds of a cell's steps."""


class Step(Node):
    """One step of a cell. `seconds` is its declared length, or an estimate. The step is stopped after `timeout_s`.

    A cool-down comes after the cell's verdict, and only if another cell on these hosts follows.
    """

    kind: StepKind
    seconds: float
    timeout_s: float
    reset: ResetWork = ""


class Dataset(Node):
    """The data that a load leaves behind. Two cells with the same `hash` on the same hardware can share one load."""

    hash: str
    records: int
    reuse: bool


class Cell(Node):
    """One point of the matrix: hardware x database x workload x ramp point x repeat.

    `id` is readable and unique in the plan. `hash` covers everything that can change the result (not labels or prose).
    `load_hosts` generate the load with `tool`: they are the client's hosts, or, for a library engine (RocksDB), the
    hosts under test. `threads` and `target` are totals over these hosts, and `share_of` gives each host's share. Cells
    that share a host in `locks`, or equipment in `shares`, never run at the same time (see `shared_equipment.py`).
    Among cells with the same `turn`, only one is measured at a time, while others load. If a search has to find the
    threads or the target, `threads_from` or `target_from` is set, and `threads` or `target` is None until then.
    """

    id: str
    hash: str
    experiment: str
    hardware: str
    database: DatabaseKey
    workload: str
    levels: Levels = Levels()
    """A level for each factor that the cell's experiment varies."""
    workload_key: str = ""
    """The workload's key in the plan if factors set its attributes, or "" if it is the same as `workload`."""
    client: str | None
    load_hosts: tuple[str, ...]
    tool: Tool
    threads: int | None
    target: float | None = None
    threads_from: Knee | None = None
    target_from: Knee | None = None
    repeat: int = 1
    warm_up_s: float
    measure_s: float
    phases: int = 1
    dataset: Dataset | None
    steps: tuple[Step, ...]
    probes: tuple[Probe, ...] = ()
    events: tuple[Event, ...] = ()
    locks: tuple[str, ...]
    shares: tuple[str, ...] = ()
    turn: str = ""
    origin: Origin

    @property
    def holds(self) -> tuple[str, ...]:
        """Return the host ids and the shared equipment that no other cell may use while this one runs."""
        return (*self.locks, *self.shares)

    def at_load(self, threads: int | None, target: float | None) -> Cell:
        """Return the cell with the threads and target that a search has found for it. None leaves a value unchanged."""
        known = {name: value for name, value in (("threads", threads), ("target", target)) if value is not None}
        return self.model_copy(update=known) if known else self


def share_of(total: int, part: int, parts: int) -> int:
    """Return one host's share. If the total does not divide evenly, the first hosts get one more."""
    return total // parts + (1 if part < total % parts else 0)


class Level(Node):
    """A level of a factor. `key` is its name in the spec, or its number in base units.

    `value` replaces the factor's name in the spec. It is None for a bundle, whose `attributes` replace
    `factor.attribute`.
    """

    key: DimKey
    label: str
    value: Option | None = None
    attributes: dict[str, Option] = field(default_factory=dict)


class Factor(Node):
    """A setting that experiments vary. `unit` is the unit of numeric levels, as written ("kB"), or None for words.
    `default` is the level for experiments that do not vary the factor."""

    name: str
    label: str
    unit: str | None = None
    levels: tuple[Level, ...]
    default: DimKey
    origin: Origin

    def label_of(self, key: DimKey) -> str:
        """Return a level's label, or the key itself if the factor has no level with that key."""
        return next((each.label for each in self.levels if each.key == key), key_text(key))


Overlap = Literal["measuring", "loading", "none"]


class Experiment(Node):
    """An experiment of the spec. `points` are the values of `axis`. They are in rising order if a `search`, an
    `adaptive` ramp or a `promise` chooses among them.

    `threads_from` and `target_from` name the experiment whose knee is used, in which case the axis has no points.
    `requires` are the experiments that must end first. `repeats` is the maximum if `confident` or a budget may end the
    repeats early. `budget_s` is the time that the cells may take on each group of hosts (see `budgets.py`). `arrivals`
    says how an offered load is spaced, if not in the tool's usual way. Cells that are measured `until_steady` end by
    themselves, and their `measure_s` is the longest time. `cool_down_s` passes after each cell, `retries` is how often
    a failed cell is tried again, and `slack_s` is how much longer than planned a measured job may take (if it is None,
    see `expand.py`). `overlap` says what may run on the other hardware groups while one is measured. `unattended_s` is
    how long a job continues without its controller (None means the runners' usual time).
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
    levels: tuple[Levels, ...] = ()
    """The combinations of levels to measure, in the order of the spec, or () if the experiment varies nothing."""
    origin: Origin


class SpecRef(Node):
    """The plan's spec. `files` maps each file to its SHA-256."""

    name: str
    files: dict[str, str]
    profile: str | None = None
    params: dict[str, str] = field(default_factory=dict)


class Plan(Node):
    """Everything that a run needs to know, made from a spec: experiments with their cells, hardware, databases,
    workloads."""

    format: Literal["benchbrief-plan"] = "benchbrief-plan"
    version: int = PLAN_VERSION
    spec: SpecRef
    hosts: dict[str, Host]
    hardware: dict[str, Hardware]
    clients: dict[str, Client]
    databases: dict[DatabaseKey, Database]
    """The databases by `name@hardware`, each on one hardware group (`Cell.database` is such a key)."""
    workloads: dict[str, Workload]
    """The workloads by name. If factors set a workload's attributes, its name means the default levels, and keys such
    as `rr?vsize=1000` mean other levels (`workload_of` finds a cell's workload)."""
    factors: dict[str, Factor] = field(default_factory=dict)
    """The factors that experiments vary, in the order of the spec."""
    experiments: dict[str, Experiment]
    cells: tuple[Cell, ...]
    metrics: tuple[Metric, ...] = ()
    expects: tuple[Expect, ...] = ()
    claims: tuple[Claim, ...] = ()
    reports: tuple[Report, ...] = ()
    schedulers: dict[str, SchedulerBlock] = field(default_factory=dict)
    """The spec's settings of schedulers, by name. They do not change results."""
    budget_s: float | None = None
    """The time that all cells together may take on each group of hosts (`bench run --budget`)."""
    estimate_s: float
    """The estimated wall time. Cells run one after another on each host, and independent groups run in parallel. The
    estimate counts all cells of knee searches, the points that adaptive ramps measure, and the usual number of cells
    for searches for a promise.
    """

    def workload_of(self, cell: Cell) -> Workload:
        """Return a cell's workload at the cell's levels."""
        return self.workloads[cell.workload_key or cell.workload]

    def key_of(self, database: Database, hardware: Hardware) -> DatabaseKey:
        """Return the key of a database on one hardware group."""
        named = DatabaseKey.of(database.name, hardware.key)
        theirs = (key for key, each in self.databases.items() if key.partition("?")[0] == named and each == database)
        return next(theirs, named)

    @property
    def point_dims(self) -> tuple[Dimension, ...]:
        """The dimensions of a cell's point, as in `Point`, with the factors after `workload`."""
        return ("experiment", "hardware", "workload", *self.factors, "threads", "target")

    @property
    def used_extensions(self) -> dict[str, str]:
        """The extensions in use, each with its package and version, or with "" if it is benchbrief's own."""
        probes = (probe for cell in self.cells for probe in cell.probes)
        meters = (meter for hardware in self.hardware.values() for meter in hardware.power)
        return {
            **{f"engine {database.engine}": database.package for database in self.databases.values()},
            **{f"snapshot {database.reset}": database.reset_package for database in self.databases.values()},
            **{f"tool {cell.tool.driver}": cell.tool.package for cell in self.cells},
            **{f"probe {probe.name}": probe.package for probe in probes},
            **{f"transport {host.transport}": host.package for host in self.hosts.values()},
            **{f"meter {meter.kind}": meter.package for meter in meters},
            **{f"scheduler {name}": block.package for name, block in self.schedulers.items()},
            **{f"template {report.template}": report.package for report in self.reports},
        }

    @property
    def extensions(self) -> dict[str, str]:
        """The extensions of other packages that are in use, each with its package and version."""
        return {what: package for what, package in self.used_extensions.items() if package}

    @property
    def assets(self) -> dict[str, str]:
        """The files of the reports' house styles, with their SHA-256."""
        found: dict[str, str] = {}
        for report in self.reports:
            theme = report.theme
            for asset in (theme.logo, theme.cover, theme.css, theme.pptx, theme.docx, *theme.font_files, *report.parts):
                if asset:
                    found[asset.file] = asset.sha256
        return found
