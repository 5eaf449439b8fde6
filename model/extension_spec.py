"""The specs of all kinds of extensions except engines and tools, and the code that all kinds share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar, Literal, NamedTuple, get_args

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.units import UnknownUnitError, parse_unit
from benchbrief.model.value_shapes import Flag, Key, Login, Number, Special, Text, Word

API = 3
"""The version of everything that extensions may use, `benchbrief.extend`. It is raised if a change may break an
existing extension; `tests/extensions/surface.txt` lists what each version promises."""

LANGUAGES = ("en", "ja")
"""The languages of benchbrief's own texts. The first is the fallback."""

NAME = re.compile(r"[a-z][a-z0-9_]*")
"""The form of a name of an extension, an attribute or a workload."""


OF_FACTS, OF_PROPERTIES = "fact_", "r_"
"""In a catalogue of words, the key for the name of a fact or a property begins with one of these prefixes."""


def word_of_fact(name: str) -> str:
    """Return the key of a fact's name in a catalogue of words."""
    return OF_FACTS + name.replace(" ", "_")


def word_of_property(name: str) -> str:
    """Return the key of a property's name in a catalogue of words."""
    return OF_PROPERTIES + re.sub(r"\W", "_", name)


def raised(error: BaseException) -> str:
    """Describe an exception of any type that another package's code raised. A KeyboardInterrupt is raised again."""
    if isinstance(error, KeyboardInterrupt):
        raise error
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # its text is that package's code, too
        return type(error).__name__


class PlanFinding(NamedTuple):
    """A problem that an extension finds in a plan, with the next step. It is an error or a warning."""

    said: str
    next_step: str
    is_error: bool = True


@dataclass(frozen=True)
class ExtensionSpec:
    """The spec of an extension. `doc` describes the extension in one sentence.

    `implementation` is its code, "package.module:Class", which is imported when it runs.
    """

    kind: ClassVar[str]
    """The word for this kind of extension, such as "probe"."""
    has_code: ClassVar[bool] = True
    """Whether this kind of extension needs an implementation."""
    name_form: ClassVar[re.Pattern[str]] = NAME

    api: int
    name: str
    doc: str
    implementation: str

    def mistake(self, name: str, *, own: bool = False) -> str:
        """Return the mistake in the spec registered under `name`, or "" if there is none. `own` means that the
        extension is part of benchbrief. Values in another package's spec may have any type, and reading them may raise
        any error.
        """
        if self.name != name:
            return f"it is registered as `{name}`, and its name is `{self.name}`"
        if not self.name_form.fullmatch(name):
            return f"`{name}` can't be the name of {self.kind}: it is no word in small letters"
        if not self.doc or (self.has_code and ":" not in self.implementation):
            code = ", and an `implementation` such as `package.module:Class`" if self.has_code else ""
            return f"it needs a `doc`{code}"
        return ""


Reads = Literal["outputs", "samples", "tables"]


@dataclass(frozen=True)
class ImporterSpec(ExtensionSpec):
    """An importer: the files that it reads for `bench import`, and how to recognise them.

    `implementation` is a subclass of a class in `benchbrief.results.imports.importer_seams`, depending on `reads`:
    OutputImporter, SampleImporter or TableImporter. `doc` describes the files, and `tells` describes the values in
    these files.

    `line` is a regular expression for the start of a line that occurs only in such files. `families` are the families
    of workloads of its tool, or empty for all families. `probe` is the probe that its samples belong to. `options` are
    command-line options, which are passed to `read` by name.
    """

    kind: ClassVar[str] = "importer"
    name_form: ClassVar[re.Pattern[str]] = re.compile(r"[a-z][a-z0-9_-]*")

    reads: Reads = "outputs"
    tells: str = ""
    line: str = ""
    families: tuple[str, ...] = ()
    probe: str = ""
    options: Mapping[str, Key] = field(default_factory=dict)

    def mistake(self, name: str, *, own: bool = False) -> str:
        return super().mistake(name) or self._wrong_files() or self._wrong_options()

    def _wrong_files(self) -> str:
        if self.reads not in get_args(Reads):
            return f"`reads` is none of {', '.join(get_args(Reads))}"
        if (self.reads == "samples") != bool(self.probe):
            return "`probe` names the probe that samples are of, and nothing for other files"
        if not self.tells:
            return "it needs a sentence in `tells`: what is known of its files"
        try:
            re.compile(self.line)
        except re.error as error:
            return f"`line` is no regular expression: {error}"
        return ""

    def _wrong_options(self) -> str:
        for option, key in self.options.items():
            if not NAME.fullmatch(option) or not key.doc:
                return f"`{option}` can't be an option: it needs a name in small letters, and a `doc`"
            if not isinstance(key.shape, Text | Word | Number | Flag):
                return f"the option `{option}` has a shape that no option may have"
        return ""


Boundary = Literal["wall", "node", "cpu", "formula", "unknown"]
Address = Literal["host", "url", "path"]

SHARED = Key(
    Flag(),
    "The hosts have the meter together, as the nodes of an enclosure have: its watts are counted once, "
    "and those of several are added up.",
    default="a meter for each host",
)
"""A meter's argument `shared`, for one meter that covers all hosts."""
SCALE = Key(Number("W", "0.1 W", above=True), "What one of the number is in watts.", default="1 W")
"""A meter's argument `scale`: how many watts a reading of 1 means."""
BOUNDARY = Key(Word(("wall", "node", "cpu", "formula")), "What its watts are the power of.", default="unknown")
"""A meter's argument `boundary`: the equipment whose power the meter measures."""


@dataclass(frozen=True)
class MeterSpec(ExtensionSpec):
    """A way to read power, written as a call: `ipmi("bmc-[1-4].lab", user: env("BMC_USER"), password: secret("P"))`.

    `implementation` is a class of `benchbrief.runners.meters.meter_base`. `usage` is a sample call, in backquotes.

    `address` describes the call's unnamed argument ("" if it has none), and `address_is` is that argument's form.
    `boundary` names the equipment whose power is measured. A `networked` meter is read on the controller, and there is
    one for each host. Other meters are on the hosts. `parts` are the arguments that select what to read at the address.
    A call has at most one of them, which may have ranges, like the address. `needs` are groups of arguments, and a call
    must have an argument of each group. `needs_another` maps an argument to another one that it needs, and `exclude`
    has pairs that contradict each other. If the meter is `local`, a call without an address reads the host itself. A
    `recorded` meter writes a log that is read after each measurement. Such a meter is networked.
    """

    kind: ClassVar[str] = "meter"

    boundary: Boundary = "unknown"
    address: str = ""
    usage: str = ""
    arguments: Mapping[str, Key] = field(default_factory=dict)
    address_is: Address = "host"
    networked: bool = True
    parts: tuple[str, ...] = ()
    needs: tuple[tuple[str, ...], ...] = ()
    needs_another: Mapping[str, str] = field(default_factory=dict)
    exclude: tuple[tuple[str, str], ...] = ()
    local: bool = False
    recorded: bool = False

    def mistake(self, name: str, *, own: bool = False) -> str:
        return super().mistake(name) or self._wrong_call() or self._wrong_arguments()

    def _wrong_call(self) -> str:
        if self.boundary not in get_args(Boundary) or self.address_is not in get_args(Address):
            return "`boundary` or `address_is` is none of its words"
        return "" if self.usage else "it needs a `usage`: how it is written, in backquotes"

    def _wrong_arguments(self) -> str:
        named = (*self.parts, *self.needs_another, *(each for some in (*self.needs, *self.exclude) for each in some))
        for name in named:
            if name not in self.arguments:
                return f"it names the argument `{name}`, which it does not have"
        for name, key in self.arguments.items():
            if not NAME.fullmatch(name) or not key.doc:
                return f"`{name}` can't be an argument: it needs a name in small letters, and a `doc`"
            if not isinstance(key.shape, Text | Word | Number | Flag | Login | Special):
                return f"the argument `{name}` has a shape that no argument of a meter may have"
        return ""


COUNTERS = "a counter then gives one mean, which includes time before or after the measured time"
"""The `single_reading` text of a probe that reads counters."""
GAUGES = "a gauge then gives one moment, or nothing"
COUNTERS_AND_GAUGES = f"{COUNTERS}; {GAUGES}"
"""The `single_reading` text of a probe that reads both counters and gauges."""

_TAKEN = frozenset({"throughput", "latency", "errors", "energy", "nodes", "steady"})
_TAKEN_DIMENSIONS = frozenset(
    {"hardware", "workload", "threads", "target", "experiment", "operation", "phase", "repeat", "node", "time"}
)
RESERVED = _TAKEN | _TAKEN_DIMENSIONS
"""Words of the language that may be followed by a dot, and so can't name an extension."""


@dataclass(frozen=True)
class ProbeSpec(ExtensionSpec):
    """A probe: its measures, and how a spec requests it.

    `implementation` is the class that samples, with the methods of `seams.ProbeKind`. `measures` maps names to
    measures. Each name is the probe's name, a dot and a word. `attributes` are the attributes that a `probe` block has
    besides `kind` and `every`. `on` names the attribute that `probes = [disk every 1 s on "/dev/sda"]` sets.

    `asks` names the thing that the probe samples: each node, with a job there; the meter of the hardware's `power`; or
    the database, either over the engine's own connection or inside a load generator that contains the database. A probe
    of databases can query the engines in `engines`, and those whose own specs name the probe (`EngineSpec.probes`).
    `single_reading` says what the probe still measures in a period with only one reading. `word_is_free` means that the
    probe's name may also be a metric or a fact of hardware, as in `memory = 512 GiB`.
    """

    kind: ClassVar[str] = "probe"

    measures: Mapping[str, ProbeMeasure]
    attributes: Mapping[str, Key] = field(default_factory=dict)
    on: str = ""
    asks: Literal["node", "meter", "database"] = "node"
    engines: tuple[str, ...] = ()
    single_reading: str = GAUGES
    word_is_free: bool = False

    def mistake(self, name: str, *, own: bool = False) -> str:
        """Return the mistake in the spec, or "" if there is none. The measures of benchbrief's `own` probes may have
        any name. The names of all others must start with the probe's name."""
        return super().mistake(name) or self._wrong_name() or self._wrong_measure(own) or self._wrong_attribute()

    def _wrong_name(self) -> str:
        taken = self.name in RESERVED
        return f"`{self.name}` can't be the name of a probe: it is a word of the language" if taken else ""

    def _wrong_measure(self, own: bool) -> str:
        return wrong_measure("" if own else self.name, self.measures) if self.measures else "it has no measures"

    def _wrong_attribute(self) -> str:
        if self.on and self.on not in self.attributes:
            return f"`on` names the attribute `{self.on}`, which it does not have"
        for attribute, key in self.attributes.items():
            if attribute in ("kind", "every") or not NAME.fullmatch(attribute):
                return f"`{attribute}` can't be the name of an attribute"
            if not isinstance(key.shape, Text | Word | Number | Flag):
                return f"the attribute `{attribute}` has a shape that no attribute of a probe may have"
        if self.on and not isinstance(self.attributes[self.on].shape, Text):
            return f"the attribute `{self.on}`, which `on` stands for, is no text"
        return ""


Across = Literal["sum", "average", "largest"]


@dataclass(frozen=True)
class ProbeMeasure:
    """A number that a probe samples, or that a load generator reports about itself.

    `unit` is the base unit of its samples ("B/s", "cores", "" for a share or a count). `doc` is a sentence. `labels`
    are the measure's names in briefs, by language ("en" at least). `across_nodes` is the way in which the nodes' values
    are combined: "sum" or "average". A measure `of_whole_measurement` is one number for the measured time, such as a
    ratio of totals, and has no dimension `time`. `simulated` is the value that a simulated host shows, or None if it
    shows none. A measure that is `offered_only` is missing in a closed loop, which has no `target`. A disclosure states
    the highest value that a `disclosed` measure had in a run, either as a share of 1 or with its unit.
    """

    unit: str
    doc: str
    labels: Mapping[str, str]
    across_nodes: Across = "sum"
    of_whole_measurement: bool = False
    simulated: float | None = None
    offered_only: bool = False
    disclosed: Literal["", "share", "value"] = ""

    def label(self, language: str) -> str:
        return self.labels.get(language) or self.labels["en"]


def wrong_measure(owner: str, measures: Mapping[str, ProbeMeasure]) -> str:
    """Return the mistake in one of the measures, or "" if there is none. If there is an owner, a measure's name must be
    the owner's name, a dot and a word."""
    for measure, said in measures.items():
        family, _, word = measure.partition(".")
        if owner and (family != owner or not NAME.fullmatch(word)):
            return f"the measure `{measure}` has to be called `{owner}.` and a word in small letters"
        if not said.doc or not said.labels.get("en"):
            return f"the measure `{measure}` needs a `doc` and a label in English, `en`"
        if said.across_nodes not in get_args(Across):
            return f"`across_nodes` of `{measure}` is neither `sum` nor `average`"
        try:
            parse_unit(said.unit)
        except UnknownUnitError:
            return f"the measure `{measure}` has an unknown unit, `{said.unit}`"
    return ""


@dataclass(frozen=True)
class SchedulerSpec(ExtensionSpec):
    """A scheduler that manages a lab's hosts and gives them to jobs.

    `implementation` is a class of `benchbrief.runners.fleet.scheduler:Scheduler`. `label` is its name for people.
    `attributes` are the attributes of its block, `scheduler slurm { ... }`, which set what each job asks for.

    If it has a `usage`, a call can request hosts: `hosts = slurm("nvme", 4)` names a required property and the number
    of hosts. `asks_for` describes the property ("a feature of nodes"), `asks_form` is its form, and `arguments` are the
    named arguments, which are texts.
    """

    kind: ClassVar[str] = "scheduler"

    label: str
    attributes: Mapping[str, Key] = field(default_factory=dict)
    usage: str = ""
    asks_for: str = ""
    asks_form: str = ".+"
    arguments: Mapping[str, Key] = field(default_factory=dict)

    def mistake(self, name: str, *, own: bool = False) -> str:
        return super().mistake(name) or self._wrong_attributes()

    def _wrong_attributes(self) -> str:
        for attribute, key in {**self.attributes, **self.arguments}.items():
            if not NAME.fullmatch(attribute) or not key.doc:
                return f"`{attribute}` can't be an attribute: it needs a name in small letters, and a `doc`"
            if not isinstance(key.shape, Text | Number | Flag):
                return f"`{attribute}` has a shape that nothing of a scheduler may have: use Text, Number or Flag"
        if any(not isinstance(key.shape, Text) for key in self.arguments.values()):
            return "the named arguments of its hosts must be texts"
        if bool(self.usage) != bool(self.asks_for):
            return "it needs both a `usage` and `asks_for`, or neither"
        try:
            re.compile(self.asks_form)
        except re.error as error:
            return f"`asks_form` is no regular expression: {error}"
        return "" if self.label else "it needs a `label`: what people call it"


@dataclass(frozen=True)
class SnapshotSpec(ExtensionSpec):
    """A file system or volume manager whose snapshots can restore data. Its name is a value of `reset`.

    `implementation` is the package whose folder has `snapshots.sh`, with the functions of
    `benchbrief.runners.engines.file_system_snapshots` as shell code. `label` is its name for people. `described` is a
    brief's text about the reset, by language, which states the remaining effects in brackets. `restore_s` is roughly
    how long a restore takes.
    """

    kind: ClassVar[str] = "snapshot"
    has_code: ClassVar[bool] = False

    label: str
    described: Mapping[str, str]
    restore_s: float = 2.0

    @property
    def texts(self) -> Mapping[str, Mapping[str, str]]:
        """A brief's text about the reset, by its key in a catalogue of words."""
        return {f"d_reset_{self.name}": self.described}

    def mistake(self, name: str, *, own: bool = False) -> str:
        return super().mistake(name) or self._wrong_words()

    def _wrong_words(self) -> str:
        if not self.implementation or ":" in self.implementation:
            return "`implementation` names the package whose folder has `snapshots.sh`: `bench_zfs`"
        if not self.label or not self.described.get("en"):
            return "it needs a `label`, and `described`, what a brief says of it, in English at least: `en`"
        return "" if self.restore_s >= 0 else "`restore_s` is below 0"


Format = Literal["pdf", "html", "markdown", "pptx", "xlsx", "docx"]
"""The file formats of a report, some for reading and some for editing."""


@dataclass(frozen=True)
class TemplateSpec(ExtensionSpec):
    """A template: the layout and style of a brief.

    `implementation` is the package whose folder has the layout, `brief.html.j2`, and the files that the layout includes
    under the template's name: for "bench_memo.memo", it is `{% include "memo/theme.css" %}`. The layout extends
    `base/page.html.j2`.

    `labels` are the words above the title, by language ("en" at least). `key` is their key in catalogues, if this is
    not `kicker_` followed by the name. `slides` puts each figure or table on a 16:9 slide, `leads` puts the first box
    beside the first text, and `covers` puts the first figure on the cover. `formats` are the files that are made by
    default. `title_line` is how many characters of a title fit on a line, where Japanese characters count twice. Among
    benchbrief's own templates, the `usual` one is for briefs that name none.
    """

    kind: ClassVar[str] = "template"
    has_code: ClassVar[bool] = False

    labels: Mapping[str, str] = field(default_factory=dict)
    key: str = ""
    slides: bool = False
    leads: bool = False
    covers: bool = False
    formats: tuple[Format, ...] = ("html", "pdf")
    title_line: int = 42
    usual: bool = False

    @property
    def word(self) -> str:
        """The key of the template's label in a catalogue of words."""
        return self.key or f"kicker_{self.name}"

    def label(self, language: str) -> str:
        return self.labels.get(language) or self.labels["en"]

    def mistake(self, name: str, *, own: bool = False) -> str:
        return super().mistake(name) or self._wrong_layout()

    def _wrong_layout(self) -> str:
        if not self.implementation or ":" in self.implementation:
            return "`implementation` names the package whose folder has `brief.html.j2`: `bench_memo.memo`"
        if not self.labels.get("en"):
            return "it needs `labels`, the words above the title, in English at least: `en`"
        if not self.formats or set(self.formats) - set(get_args(Format)):
            return f"`formats` are some of {', '.join(get_args(Format))}"
        return ""


@dataclass(frozen=True)
class TransportSpec(ExtensionSpec):
    """A transport: how commands and files reach a host.

    `implementation` is a subclass of `JobTransport` (`benchbrief.runners.transports.transport_base`). `label` is its
    name for people. A spec chooses a transport by the scheme of a host, which is the transport's name: "netns://blue".
    `address` is the form of the address after the scheme, which may have ranges, or "" for a transport without a
    scheme. `address_is` describes the address: "the name of a network namespace".

    `on_controller` means that hosts of this transport share the controller's processes, with the same process ids, and
    its clock. This is so for a network namespace, but not for a container with processes of its own.
    """

    kind: ClassVar[str] = "transport"

    label: str = ""
    address: str = ""
    address_is: str = ""
    on_controller: bool = False

    def mistake(self, name: str, *, own: bool = False) -> str:
        return super().mistake(name) or self._wrong_address(own)

    def _wrong_address(self, own: bool) -> str:
        if not self.label or (not own and not (self.address and self.address_is)):
            return "it needs a `label`, and an `address` with `address_is`: what follows its scheme"
        try:
            re.compile(self.address)
        except re.error as error:
            return f"`address` is no regular expression: {error}"
        return ""
