"""Descriptions of a load generator and of its workloads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar, Literal, get_args

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.extension_spec import (
    NAME,
    RESERVED,
    ExtensionSpec,
    ProbeMeasure,
    raised,
    word_of_property,
    wrong_measure,
)
from benchbrief.model.value_shapes import Flag, Key, Number, Text, Word

Texts = Mapping[str, str]
"""One sentence in each language. There is always one in "en"."""

Setting = str | float | bool
Settings = Mapping[str, Setting]
"""Values of attributes by name. Amounts are in base units, and shares are from 0 to 1."""

Change = Literal["nothing", "updates", "inserts", "anything"]
"""How a workload changes its data set, from the least to the most.

- nothing: it only reads.
- updates: it replaces records by others of the same size.
- inserts: it adds records with new keys, and may update others.
- anything: it deletes records, or has unknown effects.
"""

CHANGES: tuple[Change, ...] = get_args(Change)

Arrival = Literal["constant", "poisson", "steps", "burst", "trace", "closed"]
"""How operations are timed.

- constant: they are evenly spaced.
- poisson: they are independent of each other, with exponential gaps.
- steps: they come at a series of rates.
- burst: they come at a rate with bursts.
- trace: they come at recorded times.
- closed: each begins as soon as the thread's last operation has ended.
"""

ARRIVALS: tuple[Arrival, ...] = get_args(Arrival)

Bound = Literal["queue", "drops", "lag", "timeout", "give_up", "stalls"]
"""The limits that a spec may set on a load: how many operations may wait in the queue, which share of operations may be
dropped, how late the generator itself may be, how long an operation may take, how long all operations may fail, and how
long a closed loop may stand still.
"""

Capability = Literal["open_loop", "phases", "mergeable", "time_series", "ends_when_steady"]
"""Something that a spec may require of a tool and that not all tools can do (see `ToolSpec`)."""

_ROUNDING = 1e-6
_COMMON = frozenset({"description"})
"""Attributes that every workload has."""


def in_language(texts: Texts, language: str) -> str:
    return texts.get(language) or texts["en"]


@dataclass(frozen=True)
class Attribute:
    """An attribute of a tool's workloads. Its value becomes a property of the workload in the plan.

    `default` is the value if neither the spec nor the workload's `settings` set one, or None if there is no such value.
    An attribute that `needs` operations applies only to workloads with one of them. A `chosen` attribute applies only
    to workloads that have it in their `settings`, and a `required` one must be set there. A spec may give a
    `product_of` two attributes instead of the second one. If the attribute's key has the `file` "spec", the attribute
    names a file beside the spec, whose text is in the plan's `Workload.files`. `shapes_data` means that another value
    makes other data. `briefly` is the text that `bench plan` prints, with `{value}` for the value: "keys of {value}".
    If it is "", nothing is printed.
    """

    key: Key
    default: Setting | None = None
    needs: tuple[str, ...] = ()
    chosen: bool = False
    required: bool = False
    product_of: tuple[str, str] | None = None
    shapes_data: bool = False
    briefly: str = ""


MOST_LOAD_SPEED_UP = 4.0
"""The upper bound on a load's estimated speed-up relative to its usual number of threads."""


@dataclass(frozen=True)
class Limit:
    """A bound that a number's `Key` can't express, for example because it depends on another attribute.

    It applies if the attribute in `where` has the given value, or always if `where` is None. `wanted` expresses it in
    words: "a multiple of 512 B with direct I/O".
    """

    attribute: str
    wanted: str
    where: tuple[str, Setting] | None = None
    maximum: float | None = None
    multiple_of: float | None = None

    def allows(self, settings: Settings) -> bool:
        value = settings.get(self.attribute)
        if value is None or (self.where and settings.get(self.where[0]) != self.where[1]):
            return True
        number = float(value)
        if self.maximum is not None and number > self.maximum:
            return False
        parts = number / self.multiple_of if self.multiple_of else 0.0
        return abs(parts - round(parts)) < _ROUNDING


@dataclass(frozen=True)
class WorkloadSpec:
    """A workload that a tool provides.

    `operations` are its kinds of operations. A workload that `writes` changes the data, an `existing` one needs a
    loaded data set, a `timed` one can run for a given time, and in a `parted` one each thread has its own part of the
    data. `changes` is the effect of a workload that writes: "updates", "inserts", or "anything" unless the spec states
    less. If the tool has `shares`, `operations`, `writes` and `changes` are derived from the shares.
    """

    description: Texts
    settings: Settings = field(default_factory=dict)
    operations: tuple[str, ...] = ()
    writes: bool = False
    changes: Change = "anything"
    existing: bool = True
    timed: bool = True
    parted: bool = False
    label: str = ""
    """The workload's name for people, or "" if that is its name in a spec."""


@dataclass(frozen=True)
class FlagType:
    """The type of a flag's value. `minimum` and `maximum` bound an integer. If there are `words`, a text must be one of
    them.

    `unit` is the unit of an integer ("us", "ms", "s" or "MiB"), or "" if it has none.
    """

    kind: Literal["bool", "integer", "number", "text"]
    minimum: int | None = None
    maximum: int | None = None
    unit: str = ""
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class MeasuredAnew:
    """A version of the tool that measures the cells of an unchanged plan differently from earlier versions, with other
    commands or times.

    It affects only cells of the given `benchmarks`, with the given `arrivals`, and with `several_hosts`. A field that
    is not set does not limit the cells. Earlier results can't be reused for those cells. Numbers up to 6 are from a
    time when all tools shared one number, and new ones are above 6.
    """

    version: int
    benchmarks: tuple[str, ...] = ()
    arrivals: tuple[Arrival, ...] = ()
    several_hosts: bool = False

    def concerns(self, benchmark: str, arrivals: str, hosts: int) -> bool:
        return (
            (not self.benchmarks or benchmark in self.benchmarks)
            and (not self.arrivals or arrivals in self.arrivals)
            and (hosts > 1 or not self.several_hosts)
        )


@dataclass(frozen=True)
class Flags:
    """Options of a database that the tool passes on unchanged: `options { block_size = 4 KiB }`.

    `of` is the program, and `versions` are the versions whose flags are `known`. The `reserved` flags are set by the
    tool itself, each mapped to its place in a spec or to "". The `renamed` flags have another name in the language. The
    values of flags in `types` are checked.
    """

    of: str
    versions: str
    known: frozenset[str]
    reserved: Mapping[str, str] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, FlagType] = field(default_factory=dict)
    complete: bool = False
    """Whether the program has no flags other than the `known` ones."""


@dataclass(frozen=True)
class ToolSpec(ExtensionSpec):
    """A load generator: its workloads and capabilities.

    `implementation` has the methods of `seams.Driver`. `label` is the tool's name for people. A tool without
    `workloads` runs the workloads of the tool that `runs` names. Its `attributes`, and everything about loading data,
    are then that tool's.

    `shares` are attributes that add up to 1. Each is the share of the operation with that name. The `writing`
    operations change the data. Among them, those `in_place` keep the records' keys and sizes, and the `inserting` ones
    add records. `counted_twice` maps an operation to others that count it, too. `record` are the attributes whose
    values add up to the bytes of a record. `records_per` names the attribute that gives a data set's size in a unit
    other than records, and says how many records such a unit has. The operations in `from_one_host` would be repeated
    if several hosts ran them at once.

    `limits` are further bounds beyond those of single attributes. `block` is the attribute whose bytes must fit into
    the database's size, once for each thread if each thread has its own part.

    Capabilities:

    - `open_loop`: it can offer a load (`target`).
    - `intended_latency`: it counts the latency of an offered load from when an operation was due.
    - `phases`: it has latencies for parts of a run.
    - `mergeable`: it has latencies as histograms, which can be merged over load generators and repeats.
    - `time_series`: it reports the throughput of each second (`Measurement.intervals`).
    - `loads`: the loading of a data set can be measured (`load(a)`).
    - `loads_in_parts`: several hosts can load a data set together, each a range of its keys
      (`CellContext.loaded_range`).
    - `whole_seconds`: it runs only for whole seconds.
    - `ends_when_steady`: it can end a run by itself at the first look that finds a steady state, by the rule of
      `model/steadiness.py`. Its driver then measures from the end of the transient (`Measurement.steady`).
    - `counted`: it does a number of operations and can't run for a time, so that its measured job is a `counted_job`,
      which includes warm-up and measurement.

    If `threads_only_wait`, the threads of its workloads' closed loops do little but wait for operations. An import is
    then refused if latencies fill far less time than the spec's threads have (Little's law).

    `stray_errors` is the share of failed operations that is accepted if the spec allows none. `arrivals` are the ways
    in which it can space an offered load, its usual way first. They are empty if this is not known. Every tool has the
    `closed` loop. `bounds` are the limits that a spec may set on a load.

    `measures` are numbers of its own, in addition to throughput and latencies. Each name is the tool's name, a dot and
    a word. The driver reports them in `Measurement.samples`.

    `load_threads` has the name of the attribute that sets how many threads load the data, over all load generators, and
    the default number of threads on each load generator.

    Estimates: `start_s` passes until the first operation. A load of nothing takes `load_start_s`; `load_start_is`
    says what for. Data are loaded at `load_records_per_s` or `load_bytes_per_s` if there is the usual number of
    threads.
    """

    kind: ClassVar[str] = "tool"

    label: str
    stands_for: str = ""
    """The tool that a spec names to use this one. It is set if the named tool has a separate program for each engine,
    and this is one of these programs."""
    runs: str = ""
    install: str = ""
    """The command that installs the tool, if there is one. `tools/setup.sh ycsb` needs a checkout of benchbrief."""
    workloads: Mapping[str, WorkloadSpec] = field(default_factory=dict)
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    drives: tuple[str, ...] = ()
    """Further engines that the tool can load, although their specs do not name it."""
    flags: Flags | None = None
    shares: tuple[str, ...] = ()
    writing: tuple[str, ...] = ()
    in_place: tuple[str, ...] = ()
    inserting: tuple[str, ...] = ()
    counted_twice: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    record: tuple[str, ...] = ()
    records_per: tuple[str, float] | None = None
    limits: tuple[Limit, ...] = ()
    block: str = ""
    from_one_host: tuple[str, ...] = ()
    measures: Mapping[str, ProbeMeasure] = field(default_factory=dict)
    lacks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The values that this tool does not support. The keys are attributes of the tool whose workloads it `runs`."""

    open_loop: bool = False
    arrivals: tuple[Arrival, ...] = ()
    bounds: tuple[Bound, ...] = ()
    intended_latency: bool = False
    phases: bool = False
    mergeable: bool = False
    time_series: bool = False
    loads: bool = False
    loads_in_parts: bool = False
    whole_seconds: bool = False
    ends_when_steady: bool = False
    counted: bool = False
    threads_only_wait: bool = False
    stray_errors: float = 0.0
    fewest_threads: int = 0
    """The fewest threads that the tool needs on each host, or 0 if it has no such limit."""
    threads_are: Texts = field(default_factory=dict)
    """The term for the tool's threads in figures and tables, by language, such as "Connections". It is empty if they
    are called `Threads`."""
    most_threads: int = 0
    """The most threads that the tool can have on one host, or 0 if it has no such limit."""
    most_rate: float = 0.0
    """The most operations per second that the tool can offer from one host, or 0 if it has no such limit."""
    measured_anew: tuple[MeasuredAnew, ...] = ()

    names: Mapping[str, Texts] = field(default_factory=dict)
    """The names in a brief for properties that the tool's driver reports and the catalogue does not name, by language.
    """

    advice: Mapping[Capability, str] = field(default_factory=dict)
    """Advice for users who want something that the tool can't do, such as "write `histogram = true`". If there is none,
    `bench check` suggests another of the engine's tools."""

    check: str = ""
    """A function that finds further problems in a plan, as in `EngineSpec.check`."""

    start_s: float = 0.0
    load_threads: tuple[str, int] | None = None
    load_start_s: float = 1.0
    load_start_is: str = "to start"
    load_records_per_s: float = 0.0
    load_bytes_per_s: float = 100e6

    where_settings_go: str = "what it is to do as attributes of the `workload`"
    """The place in a spec for configuring the tool, as a hint for users who write `tool = name("/path", ...)` with
    arguments."""
    data: Texts = field(default_factory=lambda: {"en": "{records} records, loaded by the tool"})
    """The description of a data set's origin, with a hole for its `records`."""
    always: Texts = field(default_factory=dict)
    """A sentence for every disclosure, such as how compressible the data are, or "" if there is none."""
    always_unless: str = ""
    """A database option that makes the sentence in `always` untrue."""

    @property
    def family(self) -> str:
        """The tool that provides this tool's workloads."""
        return self.runs or self.name

    @property
    def word(self) -> str:
        """The tool's name in specs."""
        return self.stands_for or self.name

    @property
    def texts(self) -> Mapping[str, Texts]:
        """The tool's sentences and names in disclosures, by their keys in a catalogue of words."""
        found = {f"d_data_{self.name}": self.data if self.workloads else {}, f"d_always_{self.name}": self.always}
        return {key: texts for key, texts in found.items() if texts} | self.named

    @property
    def named(self) -> dict[str, Texts]:
        """The names of the tool's properties, by their keys in a catalogue of words."""
        return {word_of_property(name): texts for name, texts in self.names.items()}

    def operations(self, workload: str, settings: Settings) -> tuple[str, ...]:
        """Return the kinds of operations of a workload with these settings, in the order of `shares`."""
        if not self.shares:
            found = self.workloads.get(workload)  # a stored plan may name a workload that has been removed
            return found.operations if found else ()
        done = {name for name in self.shares if settings.get(name)}
        done |= {part for name in done for part in self.counted_twice.get(name, ())}
        return tuple(name for name in self.shares if name in done)

    def operation_shares(self, settings: Settings) -> dict[str, float]:
        """Return the share of each operation in a workload with these settings, or {} if unknown. Operations that count
        as part of another one are included."""
        found = {name: float(settings.get(name) or 0.0) for name in self.shares}
        twice = [(part, found[name]) for name in found for part in self.counted_twice.get(name, ())]
        for part, share in twice:
            found[part] = found.get(part, 0.0) + share
        return found

    def writes(self, workload: str, settings: Settings) -> bool:
        return any(settings.get(name) for name in self.writing) if self.shares else self.workloads[workload].writes

    def changes(self, workload: str, settings: Settings) -> Change:
        """Return how a workload with these settings changes its data set."""
        if not self.writes(workload, settings):
            return "nothing"
        if not self.shares:
            return self.workloads[workload].changes
        done = {name for name in self.writing if settings.get(name)}
        if done <= {*self.in_place}:
            return "updates"
        return "inserts" if done <= {*self.in_place, *self.inserting} else "anything"

    def record_bytes(self, settings: Settings) -> float:
        """Return the bytes of a record, or 0 if unknown."""
        return sum(float(settings.get(name, 0.0)) for name in self.record)

    def load_seconds(
        self, settings: Settings, size_bytes: float | None = None, hosts: int = 1, by: ToolSpec | None = None
    ) -> float:
        """Estimate the seconds for loading the data set (its `records`, or else a database of that size) from a number
        of hosts. `by` is another tool, if one loads the data for this tool's workloads."""
        if "records" not in settings:
            return self.load_start_s + (size_bytes or 0.0) / self.load_bytes_per_s
        records, times = float(settings["records"]), self._load_speed_up(settings, hosts)
        if self.load_records_per_s:
            records_per_s = (by and by.load_records_per_s) or self.load_records_per_s
            return self.load_start_s + records / (records_per_s * times)
        return self.load_start_s + records * self.record_bytes(settings) / (self.load_bytes_per_s * times)

    def _load_speed_up(self, settings: Settings, hosts: int) -> float:
        """Estimate how much faster a load is than with the usual number of threads."""
        if self.load_threads is None or self.load_threads[0] not in settings:
            return 1.0
        attribute, on_each = self.load_threads
        # A host has at least one thread. From a certain multiple of the usual threads on, the server is the limit.
        return min(max(float(settings[attribute]), hosts) / (on_each * hosts), MOST_LOAD_SPEED_UP)

    def mistake(self, name: str, *, own: bool = False) -> str:
        if self.threads_are and not self.threads_are.get("en"):
            return "`threads_are` needs words in English, `en`"
        if not all(texts.get("en") for texts in self.names.values()):
            return "each of its `names` needs words in English, `en`"
        for text in self.data.values():
            if wrong := _wrong_hole(text, "records"):
                return f"`data` has {wrong}"
        if unknown := sorted({*self.advice} - {*get_args(Capability)}):
            return f"`{unknown[0]}` of `advice` is none of {', '.join(get_args(Capability))}"
        return super().mistake(name) or self._wrong_measure() or self._wrong_workload() or self._wrong_attribute()

    def _wrong_measure(self) -> str:
        if self.measures and self.name in RESERVED:
            return f"it can't have measures of its own: `{self.name}` is a word of the language"
        return wrong_measure(self.word, self.measures)

    def _wrong_workload(self) -> str:
        if bool(self.workloads) == bool(self.runs):
            return "it has either `workloads`, or the name of a tool whose workloads it `runs`"
        for workload, said in self.workloads.items():
            if not NAME.fullmatch(workload):
                return f"`{workload}` can't be the name of a workload"
            if not said.description.get("en"):
                return f"the workload `{workload}` needs a description in English, `en`"
            if said.changes not in CHANGES:
                return f"`changes` of the workload `{workload}` is none of {', '.join(CHANGES)}"
            if not self.operations(workload, said.settings):
                return f"the workload `{workload}` does no operations"
            if unknown := sorted(set(said.settings) - set(self.attributes)):
                return f"the workload `{workload}` sets `{unknown[0]}`, which is no attribute"
        return ""

    def _wrong_attribute(self) -> str:
        for attribute, said in self.attributes.items():
            if attribute in _COMMON or not NAME.fullmatch(attribute):
                return f"`{attribute}` can't be the name of an attribute"
            if not isinstance(said.key.shape, Text | Word | Number | Flag):
                return f"the attribute `{attribute}` has a shape that no attribute of a workload may have"
            if wrong := _wrong_hole(said.briefly, "value"):
                return f"`briefly` of the attribute `{attribute}` has {wrong}"
        pairs = (self.load_threads, self.records_per, *(limit.where for limit in self.limits))
        named = [*self.shares, *self.in_place, *self.inserting, *self.record, *(pair[0] for pair in pairs if pair)]
        named += [*([self.block] if self.block else ()), *(limit.attribute for limit in self.limits)]
        named += [part for each in self.attributes.values() for part in each.product_of or ()]
        unknown = next((each for each in named if each not in self.attributes), "")
        if self.records_per and "records" in self.attributes:
            return "its `records` follow from `records_per`: they can't be an attribute as well"
        return f"it names the attribute `{unknown}`, which it does not have" if unknown else ""


def _wrong_hole(text: str, hole: str) -> str:
    """Return the problem with a text's holes, which may only have this name, or "" if there is none."""
    try:
        text.format(**{hole: "1"})
    except Exception as error:  # a format may raise anything
        return f"`{text}`, where `{{{hole}}}` alone may stand: {raised(error)}"
    return ""
