"""What benchbrief needs to know of a database engine, as data: attributes, options, resets and load generators."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar, Literal, get_args

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.extension_spec import NAME, ExtensionSpec, word_of_fact
from benchbrief.model.value_shapes import Flag, Key, Login, Number, Special, Text, Word

Reset = str
"""How a cell gets its data set: a word of `WAYS`, or the name of a `SnapshotSpec`, by which it is put back."""

Way = Literal[
    "drop_and_load",
    "after_writes",
    "as_needed",
    "undo",
    "snapshot",
    "links",
    "reuse",
    "command",
]
"""How a cell gets its data set: loaded again; loaded again after a cell that writes, or after one whose changes the
next cell would notice; with what cells inserted deleted; copied or linked back from a snapshot made after the load;
left as it is; or reset by the database's own commands."""

WAYS: tuple[Way, ...] = get_args(Way)


def by_file_system(reset: Reset) -> bool:
    """Return whether a snapshot by the file system or the volume, which has this name, brings the data back."""
    return reset not in WAYS


def is_restored(reset: Reset) -> bool:
    """Return whether the data are brought back, whatever the cells before did."""
    return reset in ("snapshot", "links", "command") or by_file_system(reset)


AFTER_WRITES: tuple[Reset, ...] = ("snapshot", "links")
"""The resets that bring the data back only after a cell that writes. The others also empty caches, or do what only
the user knows."""

EVERYWHERE: tuple[Reset, ...] = ("drop_and_load", "after_writes", "as_needed", "reuse")
"""The resets that every engine understands: they need nothing but a load."""

COMMON = frozenset({"engine", "path", "reset", "drop_caches", "prepare", "teardown", "tool"})
"""Attributes of every engine."""

STARTED = ("binary", "config", "port", "certificate", "ca", "user", "password", "key")
"""Attributes of a server that the run starts."""

READ = frozenset({*COMMON, *STARTED, "uri", "server", "topology", "version", "max_lag", "size", "options_file"})
"""Attributes with their own places in the plan. All others are the settings of a database."""


@dataclass(frozen=True)
class Option:
    """An option of a database. `name` is the engine's name for it, which the plan has; "" where it is the same.

    `scale` turns base units into the engine's; `words` maps our words to the engine's. An option may be a `list_of`
    words, or a number or one of the words of `word_or`; its shape is then only for messages.
    """

    key: Key
    name: str = ""
    scale: float = 1.0
    words: Mapping[str, str] = field(default_factory=dict)
    list_of: tuple[str, ...] = ()
    word_or: tuple[str, ...] = ()
    shapes_data: bool = True
    """Whether another value changes the data on the device, and not only how the engine runs."""


@dataclass(frozen=True)
class ServerProgram:
    """The program that `server = start` starts, its router, and its port.

    `refused_config` maps patterns that its configuration file may not have to the reason.
    """

    binary: str
    port: int
    router: str = ""
    refused_config: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class EngineSpec(ExtensionSpec):
    """A database engine: its attributes in a spec, and its load generators.

    `implementation` has the methods of `seams.Engine`. `label` is the engine's name for people. `tools` are the load
    generators that can load it, the usual one first. An engine that is `in_process` is a library in the load
    generator's process on the hosts under test; any other is a server, reached over the network.

    `attributes` are those of the `database` block beside `engine`, `path`, `reset`, `drop_caches`, `prepare`,
    `teardown`, and `tool` of a library. A server may have `uri`, whose texts begin with one of the `schemes`, and
    `server`, which may be `start`, by its `program`, or `embedded`, a built-in stand-in. `options` are those of
    `options { }`. Flags of the tool may stand beside them (`ToolSpec.flags`).
    """

    kind: ClassVar[str] = "engine"

    label: str
    tools: tuple[str, ...]
    in_process: bool = False
    attributes: Mapping[str, Key] = field(default_factory=dict)
    options: Mapping[str, Option] = field(default_factory=dict)
    options_label: str = ""
    """The title of its options in the reference: "Options of MongoDB connections"."""
    described: Mapping[str, str] = field(default_factory=dict)
    """What a disclosure calls a database of this engine, by language, if it is neither a server nor a library."""
    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """What a brief calls the facts that its class describes, by language, where they have no word yet."""
    default_reset: Reset = "drop_and_load"
    resets: tuple[Reset, ...] = ()
    """Further ways to reset its data, such as `snapshot`, `command` and `undo`. Its class has the methods of each."""
    snapshots: bool = False
    """Whether snapshots by any file system can bring its data back, which are then all in one directory."""
    updates_in_place: bool = False
    """Whether a data set is as good as a new load after its records were replaced by others of the same size."""
    schemes: tuple[str, ...] = ()
    program: ServerProgram | None = None
    simulated_s: float = 0.0
    """How long an operation keeps a processor of a simulated host; 0 for what operations of that name usually take."""
    in_memory: bool = False
    """Whether its operations need no disk, on a simulated host."""
    check: str = ""
    """A function that finds what tables can't say, "package.module:name": from the plan, it yields `PlanFinding`s."""
    probes: tuple[str, ...] = ()
    """Probes that can ask this database, beside those whose own specs name it (`ProbeSpec.engines`)."""

    @property
    def texts(self) -> Mapping[str, Mapping[str, str]]:
        """What a disclosure calls the engine and its facts, by the keys of a catalogue of words."""
        own = {f"d_engine_{self.name}": self.described} if self.described else {}
        return own | self.named

    @property
    def named(self) -> dict[str, Mapping[str, str]]:
        """The names of its facts, by their keys in a catalogue of words."""
        return {word_of_fact(name): texts for name, texts in self.names.items()}

    @property
    def default_tool(self) -> str:
        return self.tools[0]

    @property
    def has_stand_in(self) -> bool:
        """Whether `server = embedded` starts a built-in stand-in."""
        return "embedded" in self.servers

    @property
    def servers(self) -> tuple[str, ...]:
        """The values that `server` may have."""
        key = self.attributes.get("server")
        return key.shape.choices if key and isinstance(key.shape, Word) else ()

    @property
    def own_attributes(self) -> tuple[str, ...]:
        """Attributes that only this engine reads."""
        return tuple(name for name in self.attributes if name not in READ)

    def mistake(self, name: str, *, own: bool = False) -> str:
        return super().mistake(name) or self._wrong_attribute() or self._wrong_server()

    def _wrong_attribute(self) -> str:
        tables = (self.attributes, {option: said.key for option, said in self.options.items()})
        for attribute, key in (pair for table in tables for pair in table.items()):
            if not NAME.fullmatch(attribute):
                return f"`{attribute}` can't be the name of an attribute"
            if not isinstance(key.shape, Text | Word | Number | Flag | Login | Special):
                return f"the attribute `{attribute}` has a shape that no attribute of a database may have"
        for attribute in self.attributes:
            if attribute in COMMON:
                return f"the attribute `{attribute}` is one that every database has"
            if attribute not in READ and isinstance(self.attributes[attribute].shape, Special | Login):
                return f"the attribute `{attribute}` has a shape that only the language itself can read"
        return ""

    def _wrong_server(self) -> str:
        if not self.tools:
            return "it has no `tools`"
        if self.described and not self.described.get("en"):
            return "`described` needs words in English, `en`"
        if not all(texts.get("en") for texts in self.names.values()):
            return "each of its `names` needs words in English, `en`"
        for reset in (self.default_reset, *self.resets):
            if reset not in WAYS:
                return f"`{reset}` is no way to reset a database"
        if self.default_reset not in (*EVERYWHERE, *self.resets):
            return f"its `default_reset` is `{self.default_reset}`, which is not among its `resets`"
        if not self.in_process and "uri" not in self.attributes and "server" not in self.attributes:
            return "a server needs the attribute `uri` or `server`"
        for pattern in self.program.refused_config if self.program else ():
            try:
                re.compile(pattern)
            except re.error as error:
                return f"`{pattern}` of `refused_config` is no regular expression: {error}"
        return ""
