"""The blocks of the language, with the attributes that each may have, and the shapes of their values.

The blocks of a report are listed for the reference and for editors. Tests compare them with `lower_report.py` and the
modules of its elements, which read the blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import get_args

from benchbrief.compiler.extension_samples import sample_bmc, sample_meter, sample_tool
from benchbrief.compiler.registry import (
    ENGINE_SPECS,
    PROBE_SPECS,
    SCHEDULER_SPECS,
    TEMPLATE_SPECS,
    own_families,
    resets_of,
    usual_template,
)
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.engine_spec import EngineSpec
from benchbrief.model.extension_spec import Format, ProbeSpec, SchedulerSpec
from benchbrief.model.plan import CLAIM_RULES
from benchbrief.model.tool_spec import ToolSpec
from benchbrief.model.value_shapes import (
    HEADING,
    LINE,
    PASSAGE,
    BlockSchema,
    Fact,
    Flag,
    Key,
    Number,
    Special,
    Text,
    Word,
)

_ASKED = "".join(f", {spec.usage.strip('`')}" for spec in SCHEDULER_SPECS.own.values() if spec.usage)
HOSTS = Special(f'`local`, "user@host:port", "eco-[1-3].lab"{_ASKED}, or a list of those')
"""The schema of `hosts`. A host that another package's transport reaches has a scheme: "netns://blue"."""
TOOL = Special(
    f'a load generator such as `{sample_tool()}`, or with its path, `{sample_tool()}("/opt/{sample_tool()}")`'
)


@dataclass(frozen=True)
class _Power(Special):
    """The shape of the attribute `power` of hardware. Its description names meters, which are imported only when it is
    needed."""

    @property
    def wanted(self) -> str:
        meters = f"`{sample_bmc().strip('`').partition('(')[0]}(...)` or `{sample_meter()}`"
        return f"a power meter such as {meters}, a list of those, or a declared quantity such as `250 W`"


POWER = _Power("power")
COMMANDS = '`command("...")`, or a list of those'

_VARIANT_KEYS: dict[str, Key] = {
    "path": Key(
        Text(absolute=True),
        "A directory of this hardware that `{path}` stands for in a database's path.",
        example='path = "/data/nvme"',
    ),
    "mount": Key(
        Text(absolute=True),
        "Where its storage is mounted; `{mount}` in a database's path.",
        example='mount = "/mnt/nvme"',
    ),
    "device": Key(Text(), "The block device that `disk ... on device` samples.", example='device = "/dev/nvme0n1"'),
    "prepare": Key(
        Special(COMMANDS),
        "Commands that are run on every host before each cell; one that fails fails the cell.",
        example='prepare = command("sync; echo 3 | sudo tee /proc/sys/vm/drop_caches")',
    ),
    "control": Key(
        Flag(),
        "Whether only versions that stay run on it. A change that it shows, too, is the lab's, as `bench trend` and "
        "`bench gate` say.",
        default="false",
        example="control = true",
    ),
}


SWITCH = Key(
    Text(),
    "The network switch that its hosts are on. Groups on one switch are measured one after another.",
    example='switch = "rack 4"',
)
STORAGE = Key(
    Text(),
    "Storage that it has together with other groups, by name. Groups on it are measured one after another.",
    example='shared_storage = "san-1"',
)

HARDWARE = BlockSchema(
    "A group of identical hosts under test, with whatever facts are worth declaring about them.",
    {
        "hosts": Key(HOSTS, "The hosts under test.", required=True, example='hosts = "bench@eco-[1-3].lab"'),
        **_VARIANT_KEYS,
        "switch": SWITCH,
        "shared_storage": STORAGE,
        "power": Key(POWER, "How its power is read, or what it is declared to be.", example="power = rapl"),
    },
    blocks=("variant", "ssh"),
    open_keys=Fact(removable=True),
)

VARIANT = BlockSchema(
    "A way to set up the same hosts: facts and commands of its own beside the group's.",
    _VARIANT_KEYS,
    open_keys=Fact(removable=True),
    inherits=False,
    overridable=False,
)

SSH = BlockSchema(
    "How the hosts are reached; what is left out comes from ~/.ssh/config.",
    {
        "user": Key(Text(), "The login name.", example='user = "bench"'),
        "port": Key(Number("", "22", plain=True, integer=True, minimum=1.0, maximum=65535.0), "The port."),
        "jump": Key(Text(), "A host to go through.", example='jump = "gate.lab"'),
        "identity": Key(
            Text(),
            "The private key's file on the controller.",
            example='identity = "~/.ssh/bench_ed25519"',
            file="controller",
        ),
    },
    named=False,
    inherits=False,
    overridable=False,
)

CLIENT = BlockSchema(
    "Load-generator hosts, and the tool on them.",
    {
        "hosts": Key(HOSTS, "The hosts that generate the load.", required=True, example='hosts = "load-[1-2].lab"'),
        "tool": Key(
            TOOL,
            "The load generator, and where it is installed.",
            required=True,
            example='tool = ycsb("/opt/ycsb-0.17.0")',
        ),
        "switch": SWITCH,
    },
    blocks=("ssh",),
)


def joined_keys(tables: Mapping[str, Mapping[str, Key]], of: str = "") -> dict[str, Key]:
    """Merge tables of attributes into one. Each attribute gets the names of its owners, unless all tables have it.

    If several tables have the same attribute, the one in the table `of` counts, or else the first one. The attribute is
    required only if that table requires it or, without `of`, if every table does.
    """
    names = dict.fromkeys(name for table in tables.values() for name in table)
    return {name: _joined(name, tables, of) for name in names}


def _joined(name: str, tables: Mapping[str, Mapping[str, Key]], of: str) -> Key:
    found = {owner: table[name] for owner, table in tables.items() if name in table}
    only = () if len(found) == len(tables) > 1 else tuple(found)
    if of in found:
        return replace(found[of], only=only)
    default = _default({owner: key.default for owner, key in found.items()})
    doc = _doc({owner: key.doc for owner, key in found.items()})
    required = not of and not only and all(key.required for key in found.values())
    return replace(next(iter(found.values())), only=only, default=default, doc=doc, required=required)


def _doc(docs: Mapping[str, str]) -> str:
    """Join the descriptions of all owners, leaving out repetitions."""
    by_doc: dict[str, list[str]] = {}
    for owner, doc in docs.items():
        by_doc.setdefault(doc, []).append(owner)
    if len(by_doc) == 1:
        return next(iter(by_doc))
    return " ".join(f"For {owners(of)}: {doc}" for doc, of in by_doc.items())


def _default(defaults: Mapping[str, str]) -> str:
    if len(set(defaults.values())) == 1:
        return next(iter(defaults.values()))
    return ", ".join(f"{default} for {owner}" for owner, default in defaults.items() if default)


def _ways_to_reset(specs: Mapping[str, EngineSpec]) -> str:
    """Return the words of `reset`. A word that only some engines have is followed by these engines."""
    by = {name: resets_of(spec) for name, spec in specs.items()}
    able = {each: [name for name in by if each in by[name]] for ways in by.values() for each in ways}
    return ", ".join(f"`{each}`" + (f" ({', '.join(of)})" if len(of) < len(by) else "") for each, of in able.items())


def owners(only: Iterable[str]) -> str:
    """Return, in words, the owners of an attribute."""
    return " or ".join(only)


def _but_in_place(specs: Mapping[str, EngineSpec]) -> str:
    labels = [spec.label for spec in specs.values() if spec.updates_in_place]
    return f", but for {' and '.join(labels)}" if labels else ""


def database_schema(other: EngineSpec | None = None) -> BlockSchema:
    """Return the schema of the block `database` for benchbrief's own engines and, if given, one `other` engine."""
    specs = {**ENGINE_SPECS.own, **({other.name: other} if other else {})}
    tables = {name: {**_attributes(spec)} for name, spec in specs.items()}
    resets = " and ".join(f"{spec.default_reset} for {name}" for name, spec in specs.items())
    schema = BlockSchema(
        "An engine, how it is reached, and how it is prepared between cells.",
        {
            "engine": Key(Word(tuple(specs)), "The database engine.", required=True),
            **joined_keys(tables, other.name if other else ""),
            "path": Key(
                Text(holes=True, absolute=True),
                "The data directory, with holes such as `{path}` or `{mount}`.",
                example='path = "{path}/data"',
            ),
            "reset": Key(
                Special(f'{_ways_to_reset(specs)}, or what brings the data back, `command("...")`'),
                "How each cell comes by its data: loaded again if it would notice what the cells before it changed "
                f"(all inserts; updates too{_but_in_place(specs)}); loaded again if a cell that wrote was before it; "
                "loaded again always; without what the cells before it inserted; copied, linked or put back by a "
                "snapshot as they were after the load; as the cells before have left them; or by a command.",
                default=resets.replace(" and ", ", ", len(specs) - 2),
                example="reset = drop_and_load",
            ),
            "drop_caches": Key(
                Flag(),
                "Drops the page cache of each host before each measurement; needs root, or `sudo` without a password.",
            ),
            "prepare": Key(
                Special(COMMANDS),
                "Commands for each host (`on: first`: the first), before the server is started or attached to. "
                "`with: codec` gives them the level of a factor, as `$BENCH_CODEC`.",
                example='prepare = command("systemctl stop mongod", timeout: 2 min)',
            ),
            "teardown": Key(
                Special(COMMANDS),
                "Commands for when the server was stopped or left.",
                example='teardown = command("systemctl start mongod", on: first)',
            ),
        },
        blocks=("options",),
        exclusive=(("uri", "server"),),
        inner={"options": tuple(other.options)} if other else {},
    )
    listed = (name for name, key in schema.keys.items() if other and (not key.only or other.name in key.only))
    return replace(schema, listed=tuple(listed))


def _attributes(spec: EngineSpec) -> dict[str, Key]:
    if not spec.in_process:
        return dict(spec.attributes)
    name = spec.default_tool
    tool = Key(TOOL, "The load generator to use.", default=name, example=f'tool = {name}("/usr/bin/{name}")')
    return {**spec.attributes, "tool": tool}


def options_schema(spec: EngineSpec, *, flags: bool) -> BlockSchema:
    """Return the schema of the block `options`. With `flags`, an option outside the table is a flag of the tool."""
    keys = {name: option.key for name, option in spec.options.items()}
    return BlockSchema("", keys, open_keys=Fact() if flags else None, named=False)


DATABASE = database_schema()

DATABASE_OPTIONS = joined_keys(
    {name: {key: option.key for key, option in spec.options.items()} for name, spec in ENGINE_SPECS.own.items()}
)
"""The options of benchbrief's own engines, each with its engine."""


def workload_schema(family: ToolSpec | None = None) -> BlockSchema:
    """Return the schema of the block `workload` for benchbrief's own tools and for a `family`."""
    specs = {**own_families(), **({family.name: family} if family else {})}
    tables = {name: {key: each.key for key, each in spec.attributes.items()} for name, spec in specs.items()}
    exclusive = {
        (name, attribute.product_of[1])
        for spec in specs.values()
        for name, attribute in spec.attributes.items()
        if attribute.product_of
    }
    return BlockSchema(
        "What the load does: a workload that a load generator brings, adjusted.",
        {
            "description": Key(
                Text(),
                "A sentence for the brief, in place of the built-in one.",
                example='description = "Reads as the shop front does at noon."',
            ),
            **joined_keys(tables, family.name if family else ""),
        },
        exclusive=tuple(sorted(exclusive)),
        listed=("description", *tables[family.name]) if family else (),
    )


WORKLOAD = workload_schema()


_SHARE_OF_BEFORE = Number("", "5 %", plain=True, maximum=1.0, above=True)

EVENT = BlockSchema(
    "A command at a time of the measurement, and what is judged around it.",
    {
        "command": Key(
            Special('`command("...", on: first)`'),
            "What is run, and where: on a host, on all hosts of a group, on the cell's `first` host or on `each`.",
            required=True,
            example='command("kill -9 $(pidof mongod)", on: first, timeout: 10 s)',
        ),
        "window": Key(
            Number("s", "30 s", minimum=1.0),
            "The time before the event whose mean throughput is that of before.",
            default="30 s, or as much as there is",
        ),
        "within": Key(_SHARE_OF_BEFORE, "The throughput is back within this share of that of before.", default="10 %"),
        "steady": Key(Number("s", "5 s", minimum=1.0), "How long the throughput has to stay back.", default="5 s"),
        "outage": Key(
            _SHARE_OF_BEFORE, "Below this share of the throughput of before, the service counts as out.", default="10 %"
        ),
        "data": Key(
            Word(("changed", "kept")),
            "Whether the command may change the data set, which is then loaded again before the next cell.",
            default="changed",
            example="data = kept",
        ),
    },
    named=False,
    inherits=False,
    overridable=False,
    label=LINE,
)


_TIME = "20 min"
_SHARE = Number("", "95 %", plain=True, maximum=1.0)

PROBES = tuple(PROBE_SPECS.own)


def probe_schema(*others: ProbeSpec) -> BlockSchema:
    """Return the schema of the block `probe` for benchbrief's own probes and for `others`."""
    specs = {**PROBE_SPECS.own, **{spec.name: spec for spec in others}}
    return BlockSchema(
        "A named way to sample beside the measurement.",
        {
            "kind": Key(Word(tuple(specs)), "What is sampled.", default="the block's name"),
            "every": Key(Number("s", "1 s", minimum=0.1), "The time between samples.", required=True),
            **joined_keys({name: spec.attributes for name, spec in specs.items()}),
        },
    )


PROBE = probe_schema()

EXPERIMENT = BlockSchema(
    "Hardware by workloads by factors by a ramp: the cells that are measured.",
    {
        "hardware": Key(
            Special("`eco`, `[eco, legacy]` or `box.variants`"),
            "What is compared.",
            required=True,
            example="hardware = [eco, legacy]",
        ),
        "client": Key(
            Special("a client's name, or a list of one for each hardware group"),
            "Who generates the load.",
            default="the only one",
            example="client = load",
        ),
        "database": Key(
            Special("a database's name"), "What is loaded.", default="the only one", example="database = mongo"
        ),
        "workloads": Key(
            Special("`a`, `[a, b, f]` or `load(a)`"), "What the load does.", required=True, example="workloads = [a, c]"
        ),
        "threads": Key(
            Special(
                "`8`, `[8, 16, 32]`, `1..16`, `range(1, 64, factor: 2)`, `adaptive(1..512, points: 9)`, a search such "
                "as `knee(from: 1, factor: 2, to: 512)`, or what another experiment's found: `its_name.knee`"
            ),
            "The client threads; several make a ramp.",
            required=True,
            example="threads = [8, 16, 32]",
        ),
        "target": Key(
            Special(
                "`20k ops/s`, a list of those, `range(200 ops/s, 120k ops/s, steps: 25)`, "
                "`adaptive(1k ops/s..100k ops/s, points: 9)`, a search such as "
                "`knee(from: 1k ops/s, factor: 2, to: 100k ops/s)` or "
                "`highest(1k ops/s..200k ops/s, where: latency.p99[read] < 5 ms, within: 3 %)`, or what another "
                "experiment's found: `its_name.knee`"
            ),
            "The offered load; several make a ramp (open loop).",
            example="target = range(1k ops/s, 20k ops/s, steps: 20)",
        ),
        "vary": Key(
            Special("`codec`, `[codec, vsize]` or `codec[none, zstd]`"),
            "The factors whose levels it measures, in every combination.",
            default="none: each factor has its default",
            example="vary = [codec, vsize]",
        ),
        "when": Key(
            Special("a condition such as `codec != none or vsize > 100 B`"),
            "Which combinations of levels are measured.",
            default="all",
            example="when = codec != none or vsize > 100 B",
        ),
        "arrivals": Key(
            Special(
                "`constant`, `poisson`, `steps(1k ops/s, 2k ops/s, lasting: 30 s)`, "
                '`burst(5k ops/s, every: 30 s, lasting: 2 s)`, `trace("arrivals.txt")` or `closed`'
            ),
            "When operations are due, and what of the load is bounded. Only `constant`, `poisson` and `burst` have a "
            "`target`.",
            default="the load generator's usual one",
            example="arrivals = poisson",
        ),
        "warm_up": Key(
            Number("s", _TIME),
            "Time before the measurement that is not counted.",
            default="0 s",
            example="warm_up = 2 min",
        ),
        "measure": Key(
            Special("a time such as `20 min`, or `until_steady(within: 2 %, from: 2 min, to: 30 min)`"),
            "The measured time of each cell, or the rule that ends it; or give `phases`. A workload that ends with its "
            "last record, such as `db_bench.readseq`, runs to that: it says how long this should take.",
            example="measure = 20 min",
        ),
        "phases": Key(
            Special("`6 x 10 min`"),
            "Consecutive measured intervals of one run, in place of `measure`.",
            example="phases = 6 x 10 min",
        ),
        "repeats": Key(
            Special("`3`, `3, interleaved`, `5, random(seed: 1)` or `confident(within: 5 %, to: 10)`", series=True),
            "How often each point is measured, or until when, and in which order.",
            default="1, grouped",
            example="repeats = 3, interleaved",
        ),
        "overlap": Key(
            Word(("measuring", "loading", "none")),
            "What may run on its other hardware groups while one is measured: their measurements too, their loads, or "
            "nothing. It holds for groups that share no host, client, power meter, declared switch or storage.",
            default="measuring",
            example="overlap = loading",
        ),
        "budget": Key(
            Number("s", "12 h", above=True),
            "The time that its cells may take: each point once, then repeats go where intervals are widest.",
            default="none: all repeats are made",
            example="budget = 12 h",
        ),
        "probes": Key(
            Special("`[disk every 1 s, power every 1 s]`"),
            "What is sampled beside the measurement.",
            default="none",
            example="probes = [disk every 1 s, cpu every 1 s]",
        ),
        "max_errors": Key(
            _SHARE,
            "A cell with a larger share of failed operations is a failed cell. An operation that finds no record under "
            "a key that was loaded has failed, too.",
            default="0 %",
            example="max_errors = 0.1 %",
        ),
        "cool_down": Key(
            Number("s", "30 s"),
            "Time after each cell in which its hosts are left alone, before the next one that needs them.",
            default="0 s",
        ),
        "timeout": Key(
            Number("s", "5 min", above=True),
            "How much longer than planned a warm-up or a measurement may take; then it is stopped, and the cell fails.",
            default="1 min, or 10 % of the planned time where that is more",
        ),
        "retries": Key(
            Number("", "2", plain=True, integer=True, maximum=100.0),
            "How often a failed cell is tried again, once its host is back; not one that is wrong or lacks its tool.",
            default="0",
        ),
        "on_failure": Key(
            Word(("continue", "stop", "try_all")),
            "What is tried once a cell has failed: the others, but few if the first fail alike; none; or all the same.",
            default="continue",
            example="on_failure = stop",
        ),
        "unattended": Key(
            Number("s", "10 min", minimum=10.0),
            "How long a job goes on by itself when it hears nothing of the controller.",
            default="10 min",
        ),
    },
    blocks=("at",),
    exclusive=(("measure", "phases"),),
)

PROFILE = BlockSchema(
    "Named overrides, so that one definition runs on a laptop and in the lab.",
    {
        "hosts": Key(
            HOSTS, "Takes the place of every host of every hardware group and client.", example="hosts = local"
        ),
        "power": Key(
            Special("a power meter such as `rapl`, or `none`"),
            "Takes the place of every power meter.",
            default="none, where `hosts` takes the place of the hosts",
            example="power = none",
        ),
    },
    blocks=("override", "ssh"),
    inherits=False,
    overridable=False,
)


def scheduler_schema(*others: SchedulerSpec) -> BlockSchema:
    """Return the schema of the block `scheduler` for benchbrief's own schedulers and for `others`."""
    specs = {**SCHEDULER_SPECS.own, **{spec.name: spec for spec in others}}
    return BlockSchema(
        "What each job asks for when the lanes run on a scheduler, `bench run --on`. It changes no result.",
        joined_keys({name: spec.attributes for name, spec in specs.items()}),
        inherits=False,
    )


SCHEDULER = scheduler_schema()

FACTOR = BlockSchema(
    "A setting that experiments vary. Its name stands in place of a value in databases and workloads; levels may have "
    'names and labels, `lz4 "LZ4" = "lz4"`.',
    {
        "levels": Key(
            Special("`[100 B, 1 kB]`, `range(8 MiB, 1 GiB, factor: 2)`, or a list of words or texts"),
            "Its levels, where they need no names of their own.",
            example="levels = [100 B, 1 kB]",
        ),
        "default": Key(
            Special("one of its levels"),
            "The level in experiments that do not vary it.",
            default="the first level",
            example="default = lz4",
        ),
    },
    blocks=("level",),
    open_keys=Fact(),
    inherits=False,
    overridable=False,
)

LEVEL = BlockSchema(
    "A level of several settings, which stand for `factor.setting` in databases and workloads.",
    {},
    open_keys=Fact(),
    inherits=False,
    overridable=False,
)

BLOCKS: Mapping[str, BlockSchema] = {
    "hardware": HARDWARE,
    "variant": VARIANT,
    "ssh": SSH,
    "client": CLIENT,
    "factor": FACTOR,
    "level": LEVEL,
    "database": DATABASE,
    "workload": WORKLOAD,
    "probe": PROBE,
    "experiment": EXPERIMENT,
    "at": EVENT,
    "scheduler": SCHEDULER,
    "profile": PROFILE,
}
"""The blocks of the language except reports, whose tables are in `compiler/briefs/lower_report.py`."""

OF_WORDS = ("report", "claim")
"""The kinds of blocks with texts. An override of such a block replaces its texts."""
OVERRIDABLE = (*(kind for kind, block in BLOCKS.items() if block.overridable), *OF_WORDS)


TEMPLATE = usual_template()
"""The template that a report uses if it names none."""
_BY = "an expression `by` a dimension, or several in `[...]`"
_TEXT = Key(
    Text(holes=True, longest=PASSAGE),
    "Markdown, with `{expression:format}` for computed values.",
    example='text = "The best gain was {max(gain over threads, workload):+.0%}."',
)
_NOTE = Key(
    Text(holes=True),
    "A remark below it, in Markdown with `{expression:format}`.",
    example='note = "Over {count(gain over threads, workload):.0f} points."',
)
_ROWS = Key(
    Special("a dimension such as `workload`, expressions in `[...]`, `facts` or `published`", series=True),
    "What is down the side: a dimension, or several expressions; `facts` of the hardware; the values `published` by "
    "the source of imported results.",
    example="rows = workload",
)
_COLUMNS = Key(
    Special("`throughput by hardware`, or `by hardware, threads`; expressions in `[...]`, or a dimension", series=True),
    "What is across the top: expressions, or a dimension when `rows` are expressions.",
    example="columns = throughput[threads: 8] by hardware",
)
_COLUMN = Key(
    Special('`column "Head" = expression`, or `= "{expression:format}"`', series=True),
    "One column with a head of its own; may stand several times.",
    example='column "Gain" = "{range(gain over threads):+.0%}"',
)

REPORT_RULES = ("base", "bound", "direction", "alike", "typed", "ratio", "decided", "computed")
"""The rules that `allow` in a report can lift for the report's titles and headlines."""

HELD_OUT_TIMES = Number("", "5", plain=True, integer=True, minimum=2.0, maximum=100.0)
"""The numbers of held-out repeats that a claim may ask for. A single one is not allowed, since it gives no interval."""

_FLOW = {
    "text": _TEXT,
    "disclosure": Key(
        Word(("automatic", "in_brief")),
        "The full disclosure: all settings, observed facts and notices, from what was run. It is a document of its "
        "own, or stands here in the brief.",
        default="automatic",
    ),
}
_INNER = ("section", "each", "callout", "table", "compare", "figure", "formula")


def _series(doc: str, wanted: str, example: str) -> Key:
    return Key(Special(wanted, series=True), f"{doc}; may stand several times.", example=example)


ELEMENTS: Mapping[str, BlockSchema] = {
    "claim": BlockSchema(
        "What a brief says of one number, `{value}`, under rules (`docs/claims.md`): in a `headline`, as a figure's "
        "`claim`, and by `{name}` in a text or a title.",
        {
            "value": Key(
                Special("an expression that gives one number"),
                "The number that the sentence says.",
                required=True,
                example="value = max(gain over threads, workload)",
            ),
            "against": Key(
                Special("a name of hardware, a workload, an experiment or a level"),
                "What the value is compared with, where its expression does not say it.",
                example="against = legacy",
            ),
            "held_out": Key(
                HELD_OUT_TIMES,
                "How many more times the point of a highest or lowest value is measured, after all the rest; the claim "
                "takes these repeats alone.",
                example="held_out = 5",
            ),
            "allow": Key(
                Word(CLAIM_RULES),
                "A rule that the claim is excepted from, with the reason, which `bench claims` tells; may stand "
                "several times.",
                example='allow "as the data sheet rounds" = rounding',
            ),
        },
        inherits=False,
        overridable=False,
        label=LINE,
    ),
    "report": BlockSchema(
        "What the brief says: its elements in order.",
        {
            "template": Key(
                Word(tuple(dict.fromkeys((TEMPLATE, *TEMPLATE_SPECS.own)))),
                "The layout: one of these, or that of another package.",
                default=TEMPLATE,
            ),
            "formats": Key(
                Word(get_args(Format)),
                "What it is made as; several stand in `[...]`. `pptx`, `xlsx` and `docx` are files to edit. By "
                "default, those of the template.",
                example="formats = [pdf, html, pptx]",
            ),
            "paper": Key(Word(("a4", "letter")), "The size of a PDF's pages (slides have their own).", default="a4"),
            "columns": Key(
                Special("`1` or `2`"),
                "The columns of a PDF's text (slides have one).",
                default="1",
                example="columns = 2",
            ),
            "layout": Key(
                Word(("pages", "one_page")),
                "Whether a PDF is drawn in to one page (slides are not).",
                default="pages",
                example="layout = one_page",
            ),
            "subtitle": Key(
                Text(holes=True, longest=LINE),
                "The line below the title. Both may have computed numbers.",
                example='subtitle = "YCSB A to F on three nodes"',
            ),
            "headline": Key(
                Text(holes=True, longest=LINE),
                "A number that is set large on the first page, and what it says; up to three of them.",
                example='headline "{max(gain over threads, workload):+.0%}" = "more throughput"',
                label=LINE,
            ),
            "footnote": Key(
                Text(holes=True),
                "A footnote of your own, with its name; its mark in any text is `[^name]`. May stand several times.",
                example='footnote "src" = "Micron, 2017: Low Power and High Performance Meet."',
            ),
            "allow": Key(
                Word(REPORT_RULES),
                "A rule on results from which titles and headlines that are no claims are excepted, with the reason, "
                "which `bench claims` tells; may stand several times.",
                example='allow "as the source states it" = computed',
                label=LINE,
            ),
            "audience": Key(
                Word(("customer", "internal")),
                "Who reads the brief. With `internal`, its pages show run ids and paths, too.",
                default="customer",
            ),
            "language": Key(Word(("en", "ja")), "The language of all that the brief adds to your words.", default="en"),
            "author": Key(Text(longest=HEADING), "Who signs it.", example='author = "Storage performance team"'),
            "address": Key(
                Text(longest=LINE),
                "Where its full disclosure is published: the brief has it as a link and a QR code.",
                example='address = "https://example.com/briefs/power"',
            ),
            "parts": Key(
                Text(),
                "A folder beside the spec with templates that stand in for parts of the layout.",
                example='parts = "house"',
                file="spec",
            ),
            "provenance": Key(
                Word(("full", "compact", "none")),
                "What the appendix on provenance has: a row for each expression and its measurements, with their "
                "digests; a row for each figure, table and text; or nothing. The side file has all of it in any case.",
                default="full",
                example="provenance = compact",
            ),
            "limits": Key(
                Special("a sentence, or several in `[...]`"),
                "Limits of the numbers that you know of. They stand on the first page, before the computed ones.",
                example='limits = ["No drive was full.", "No percentile above p99 was kept."]',
            ),
            "legal": Key(
                Text(holes=True, longest=PASSAGE),
                "The small print at the end.",
                example='legal = "Product names belong to their owners."',
            ),
            **_FLOW,
        },
        blocks=("theme", *_INNER),
        inherits=False,
        overridable=False,
        label=LINE,
    ),
    "theme": BlockSchema(
        "The house style.",
        {
            "logo": Key(Text(), "An SVG or PNG file beside the spec.", example='logo = "logo.svg"', file="spec"),
            "brand": Key(Text(), "The colour of the title band and of headings.", example='brand = "#0b3a5b"'),
            "accent": Key(Text(), "The colour of links and of the lead box's edge.", example='accent = "#0072b2"'),
            "font": Key(Text(), "The typeface: an installed one, or one of `font_files`.", example='font = "Inter"'),
            "font_files": Key(
                Special("a path, or several in `[...]`"),
                "Font files beside the spec: TrueType, OpenType or WOFF.",
                example='font_files = ["brand-regular.woff2", "brand-bold.woff2"]',
                file="spec",
            ),
            "css": Key(
                Text(), "A style sheet beside the spec that comes after ours.", example='css = "house.css"', file="spec"
            ),
            "cover": Key(
                Text(),
                "A picture for the title band or cover: an SVG, PNG or JPEG file beside the spec.",
                example='cover = "cover.jpg"',
                file="spec",
            ),
            "pptx": Key(
                Text(),
                "A file beside the spec: the template of PowerPoint for `--format pptx`.",
                example='pptx = "house.potx"',
                file="spec",
            ),
            "docx": Key(
                Text(),
                "A file beside the spec: the template of Word for `--format docx`.",
                example='docx = "house.dotx"',
                file="spec",
            ),
        },
        blocks=("palette",),
        named=False,
    ),
    "palette": BlockSchema(
        "The colours of hardware, workloads, experiments and levels by their names, the same in all figures, tables "
        'and slides: `"#rgb"`, `"#rrggbb"`, `grey` or `accent`.',
        {
            "color": Key(
                Special('`color "5100 ECO" = "#0072b2"`', series=True),
                "The colour of something by its label, or by a name with a dot; may stand several times.",
                example='color "5100 ECO" = "#0072b2"',
            ),
        },
        open_keys=Special('a colour such as `"#0072b2"`, `grey` or `accent`'),
        named=False,
    ),
    "section": BlockSchema("A part of the brief with a heading.", _FLOW, blocks=_INNER, named=False, label=HEADING),
    "each": BlockSchema(
        "Its elements once for each `workload`, `hardware` or `experiment`, or for each level of a factor.",
        _FLOW,
        blocks=_INNER,
        named=False,
    ),
    "callout": BlockSchema(
        "A box with the numbers that matter.",
        {"text": _TEXT, "rows": _ROWS, "columns": _COLUMNS, "column": _COLUMN, "note": _NOTE},
        named=False,
        label=HEADING,
    ),
    "table": BlockSchema(
        "Numbers by a dimension, or the facts of the hardware.",
        {
            "rows": _ROWS,
            "columns": _COLUMNS,
            "column": _COLUMN,
            "heat": Key(
                Word(("table", "rows", "columns")),
                "A heat table: cells are shaded by their values, compared in the whole table, in each row or in each "
                "column. Darker is higher.",
                example="heat = table",
            ),
            "mark": Key(
                Word(("best",)),
                "The best of the values that are compared with each other is bold, and so is each that repeats can't "
                "tell from it. Compared are hardware and factors; without them points of a ramp, else workloads.",
                example="mark = best",
            ),
            "note": _NOTE,
        },
        named=False,
        label=HEADING,
    ),
    "compare": BlockSchema(
        "Hardware, or levels of a factor, compared: numbers with letters that say which of them no test tells apart.",
        {
            "rows": Key(
                Special("a dimension such as `workload`", series=True),
                "What is down the side; what stands behind `by` is compared in each row.",
                example="rows = workload",
            ),
            "columns": Key(
                Special("`throughput by hardware`; several in `[...]` before `by`", series=True),
                "What is compared: values by hardware or by a factor, each tested for itself.",
                example="columns = [throughput[threads: 8], latency.p99[read][threads: 8]] by hardware",
            ),
            "note": _NOTE,
        },
        named=False,
        label=HEADING,
    ),
    "figure": BlockSchema(
        "A chart: its series share one axis along the bottom.",
        {
            "line": _series(
                "A line along a ramp, the phases or time", _BY, "line = throughput by threads, color hardware"
            ),
            "bars": _series(
                "Bars for the keys of a dimension; of a `range(...)`, from the lowest to the highest value",
                _BY,
                "bars = throughput[threads: 96] by workload",
            ),
            "bracket": _series(
                "A bracket over the bars that it compares, with its number: `8.7X` for a ratio, `+117 %` for a share",
                "an expression, `by` the dimension of the bars or over all of them",
                "bracket = gain[threads: 96] by workload",
            ),
            "curve": _series(
                "One value against another, point by point along a ramp",
                "two expressions `along` a dimension",
                "curve = throughput, latency.p99[read] along threads, color hardware",
            ),
            "slope": _series(
                "A line from one key of a dimension to the next, with the values at both ends",
                _BY,
                "slope = latency.p99[read][threads: 96] by hardware, color workload",
            ),
            "mark": _series("A straight line at one value", "an expression", "mark = 10 ms"),
            "claim": Key(
                Text(holes=True, longest=LINE),
                "What the figure shows, in one sentence: the head of its slide, the lead of its caption.",
                example='claim = "The gain is {range(gain over threads):+.0%}."',
            ),
            "multiples": Key(
                Special("a dimension"),
                "Small multiples: a panel for each key of a dimension, on shared axes and under one legend.",
                example="multiples = workload",
            ),
            "axes": Key(
                Special("the word `free`"),
                "Figures that show the same measure have the same axes. `free` fits this figure's to its own values.",
                example="axes = free",
            ),
            "note": _NOTE,
        },
        named=False,
        label=HEADING,
    ),
    "formula": BlockSchema(
        "How a metric is computed, with the measured numbers put in: `formula gain for a, threads: 96`.",
        {},
        named=False,
    ),
}
"""The elements of a report by keyword. Elements have no names; only the report has one."""

POINT_NOTE = "A label with an arrow to the points at these keys, which were measured: `at threads: 96, nvme`."
OPTIONS: Mapping[str, str] = {
    "color": "One series for each key of a dimension: `color hardware`.",
    "axis": "Which side its scale stands on: `axis left` or `axis right`.",
    "label": 'What to call it: `label "ideal"`.',
    "log": "A logarithmic scale: `log x` or `log y`.",
    "dashed": "A broken line. Bars are pale with a broken outline.",
    "estimated": "Estimates, drawn as with `dashed`: a whole series, or one key of its colours: `estimated hdd`.",
    "band": "The confidence interval around a line: `band confidence`.",
    "format": 'How its numbers are printed: `format ",.0f"`.',
}
"""Options that may follow an expression of a figure or table, after a comma."""
