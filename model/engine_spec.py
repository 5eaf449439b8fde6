"""Descriptions of database engines as data: attributes, options, resets and load generators."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar, Literal, get_args

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.extension_spec import NAME, ExtensionSpec, word_of_fact
from benchbrief.model.value_shapes import Flag, Key, Login, Number, Special, Text, Word

Reset = str
"""How a cell gets its data set: one of the words in `WAYS`, or the name of a `SnapshotSpec` that restores it."""

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
"""How a cell gets its data set.

- drop_and_load: the data are loaded again.
- after_writes: they are loaded again, but only after a cell that writes.
- as_needed: they are loaded again, but only if the next cell would notice an earlier cell's changes.
- undo: the records that cells inserted are deleted.
- snapshot: the data are copied back from a snapshot made after the load.
- links: the data are linked back to a snapshot made after the load.
- reuse: the data are left as they are.
- command: the database's own commands reset the data.
"""

WAYS: tuple[Way, ...] = get_args(Way)


def by_file_system(reset: Reset) -> bool:
    """Return whether the data are restored from a snapshot by the file system or volume manager of this name."""
    return reset not in WAYS


def is_restored(reset: Reset) -> bool:
    """Return whether the data are restored no matter what earlier cells did."""
    return reset in ("snapshot", "links", "command") or by_file_system(reset)


AFTER_WRITES: tuple[Reset, ...] = ("snapshot", "links")
"""Resets that restore the data only after a cell that writes. All other resets also empty caches, or have effects that
only the user knows."""

EVERYWHERE: tuple[Reset, ...] = ("drop_and_load", "after_writes", "as_needed", "reuse")
"""The resets that every engine supports, since they only need a load."""

COMMON = frozenset({"engine", "path", "reset", "drop_caches", "prepare", "teardown", "tool"})
"""Attributes of every engine."""

STARTED = ("binary", "config", "port", "certificate", "ca", "user", "password", "key")
"""Attributes of a server that the run starts."""

READ = frozenset({*COMMON, *STARTED, "uri", "server", "topology", "version", "max_lag", "size", "options_file"})
"""Attributes that have fields of their own in the plan. All others become `settings` of a database."""


@dataclass(frozen=True)
class Option:
    """An option of a database. `name` is the engine's name for it, which the plan uses, or "" if the spec uses the same
    name.

    `scale` converts base units to the engine's units, and `words` maps our words to the engine's. An option may be a
    list of words (`list_of`), or a number or a word (`word_or`). In these cases, its shape is used only in messages.
    """

    key: Key
    name: str = ""
    scale: float = 1.0
    words: Mapping[str, str] = field(default_factory=dict)
    list_of: tuple[str, ...] = ()
    word_or: tuple[str, ...] = ()
    shapes_data: bool = True
    """Whether the option's value affects the data on the device, and not only how the engine runs."""


@dataclass(frozen=True)
class ServerProgram:
    """The program that `server = start` starts, its router, and its port.

    `refused_config` maps each pattern that its configuration file must not contain to the reason.
    """

    binary: str
    port: int
    router: str = ""
    refused_config: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class EngineSpec(ExtensionSpec):
    """A database engine: its attributes in a spec, and its load generators.

    `implementation` has the methods of `seams.Engine`. `label` is the engine's name for people. `tools` are the load
    generators that can load it, the usual one first. An engine that is `in_process` is a library inside the load
    generator's process on the hosts under test. Any other engine is a server, reached over the network.

    `attributes` are the attributes that its `database` block has besides `engine`, `path`, `reset`, `drop_caches`,
    `prepare`, `teardown` and, for a library, `tool`. A server may have `uri` and `server`. The `uri` begins with one of
    the `schemes`. `server = start` starts the `program`, and `server = embedded` starts a built-in stand-in. `options`
    are the options in `options { }`, where the tool's flags are allowed, too (`ToolSpec.flags`).
    """

    kind: ClassVar[str] = "engine"

    label: str
    tools: tuple[str, ...]
    in_process: bool = False
    attributes: Mapping[str, Key] = field(default_factory=dict)
    options: Mapping[str, Option] = field(default_factory=dict)
    options_label: str = ""
    """The title of the engine's options in the reference, such as "Options of MongoDB connections"."""
    described: Mapping[str, str] = field(default_factory=dict)
    """The disclosure's term for a database that is neither a server nor a library, by language."""
    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The names in a brief, by language, for facts that the engine's class reports and the catalogue does not name."""
    default_reset: Reset = "drop_and_load"
    resets: tuple[Reset, ...] = ()
    """Further ways to reset the engine's data, such as `snapshot`, `command` and `undo`. The engine's class has the
    methods for each of them."""
    snapshots: bool = False
    """Whether the snapshots of any file system can restore the engine's data, which must then all be in one directory.
    """
    updates_in_place: bool = False
    """Whether a data set counts as newly loaded after its records were replaced by others of the same size."""
    schemes: tuple[str, ...] = ()
    program: ServerProgram | None = None
    simulated_s: float = 0.0
    """How long an operation keeps a processor of a simulated host busy. If it is 0, the usual time for operations of
    that name is used."""
    in_memory: bool = False
    """Whether the engine's operations need no disk on a simulated host."""
    check: str = ""
    """A function, "package.module:name", for problems that tables can't express. It takes the plan and yields
    `PlanFinding`s."""
    probes: tuple[str, ...] = ()
    """Probes that can query this database, in addition to those whose own specs name this engine
    (`ProbeSpec.engines`)."""

    @property
    def texts(self) -> Mapping[str, Mapping[str, str]]:
        """A disclosure's words for the engine and its facts, by their keys in a catalogue of words."""
        own = {f"d_engine_{self.name}": self.described} if self.described else {}
        return own | self.named

    @property
    def named(self) -> dict[str, Mapping[str, str]]:
        """The names of the engine's facts, by their keys in a catalogue of words."""
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
        """The possible values of `server`."""
        key = self.attributes.get("server")
        return key.shape.choices if key and isinstance(key.shape, Word) else ()

    @property
    def own_attributes(self) -> tuple[str, ...]:
        """Attributes that only this engine has."""
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
