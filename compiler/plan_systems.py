"""The part of a plan that says what is under test and what loads it: hosts, hardware, clients, databases."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from benchbrief.compiler.plan_base import Fact, Node, Origin, Reference, Template


class Host(Node):
    """A machine that commands run on. `id` is unique in the plan: `local`, or the destination as written.

    For `ssh`, the user's own ~/.ssh/config still applies to `name`; what is set here goes before it.
    """

    id: str
    transport: Literal["local", "ssh"]
    name: str
    user: str | None = None
    port: int | None = None
    jump: str | None = None
    identity: str | None = None


Boundary = Literal["wall", "node", "cpu", "unknown"]
"""What the watts of a meter are the power of: an outlet of the wall, a node by its BMC, its CPU packages only."""


class PowerMeter(Node):
    """How power is read on a hardware group: `kind` is ipmi, redfish, snmp, rapl, command or csv.

    `addresses` are the hosts' meters in the order of the hosts, empty for what is on the hosts themselves; `parts`,
    what is read at each of them: object identifiers, sensors, chassis, columns. A `shared` meter is that of all hosts
    together: all its addresses are read, and added up. `on` says where it is read. `options` are the rest, with a
    command's line as `command`.
    """

    kind: str
    boundary: Boundary
    on: Literal["node", "controller"]
    addresses: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    shared: bool = False
    options: dict[str, str | float | bool | Reference] = Field(default_factory=dict)
    origin: Origin

    @model_validator(mode="before")
    @classmethod
    def _of_before(cls, told: object) -> object:
        """In earlier plans, parts were object identifiers only."""
        if isinstance(told, dict) and "oids" in told:
            return {**{key: value for key, value in told.items() if key != "oids"}, "parts": told["oids"]}
        return told


class Hardware(Node):
    """A group of identical hosts under test; a variant is a hardware group of its own, named `group.variant`.

    `key` is the value of the `hardware` dimension in every result: the variant's short name where that is unique. The
    watts of the meters in `power` are added up; they are alike in kind, boundary, place, and in being shared.
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
    origin: Origin

    @field_validator("power", mode="before")
    @classmethod
    def _one_or_none(cls, told: object) -> object:
        """In earlier plans, hardware had one meter, or null."""
        return () if told is None else (told,) if isinstance(told, dict) else told


Option = str | float | bool
"""A setting of a tool or an engine; amounts in base units."""


class Tool(Node):
    """A load generator: `driver` is the entry point's name (ycsb, go_ycsb, db_bench), `path` where the spec says it is
    (None: looked for in the usual places, see `runners/tools.py`)."""

    driver: str
    path: str | None = None
    options: dict[str, Option] = Field(default_factory=dict)


class Client(Node):
    name: str
    label: str
    hosts: tuple[str, ...]
    tool: Tool
    origin: Origin


class Hook(Node):
    """A declared command of a database: a line for a shell on each host of the hardware, or on its first one only.

    `prepare` is run before the server is started or attached to, `teardown` after it was stopped or left; `reset`
    before each cell, where it brings the data back. Any other exit code than 0 is a failure.
    """

    when: Literal["prepare", "reset", "teardown"]
    line: str
    on: Literal["each", "first"] = "each"
    timeout_s: float
    origin: Origin


class Tls(Node):
    """Files on the hosts under test: a server's key with its certificate, and the authority that signed it."""

    certificate: str
    ca: str


class Auth(Node):
    """Who logs in to a server that is started for the run. `key` is what its members know each other by."""

    user: str | Reference
    password: Reference
    key: Reference


class ServerStart(Node):
    """How a MongoDB server is started for the run: a program for the data, one for routing, and where they listen.

    `config` is the text of the configuration file that is named `config_name` in the spec, "" for none.
    """

    binary: str
    router: str
    port: int
    config_name: str = ""
    config: str = ""
    config_sha256: str = ""
    tls: Tls | None = None
    auth: Auth | None = None


Reset = Literal["drop_and_load", "after_writes", "snapshot", "reuse", "command"]
"""How each cell comes by its data set: loaded again; loaded again when a cell that wrote was before it; copied back as
it was after the load; as earlier cells left it; or brought back by the database's own `reset` commands."""


class Database(Node):
    """The system under test, as seen from one hardware group (holes such as `{path}` and `{hosts}` are filled in).

    `server`: "attach" to a running one at `uri`; "start" it as `start` says; "embedded": the default one is started for
    the run, and its stand-in nature must be disclosed; "none": the engine is a library (RocksDB). `path` is the data
    directory on the host. `members` of a replica set, `shards` and `version` are None where the spec does not say them.
    """

    name: str
    label: str
    engine: str
    server: Literal["attach", "start", "embedded", "none"]
    start: ServerStart | None = None
    uri: Template = ()
    path: str | None = None
    topology: str | None = None
    members: int | None = None
    shards: int | None = None
    version: str | None = None
    max_lag_s: float = 10.0
    """How far secondaries may lag behind when a measurement begins."""
    size_bytes: float | None = None
    options: dict[str, Option] = Field(default_factory=dict)
    options_file: str | None = None
    reset: Reset
    drop_caches: bool = False
    """Whether the page cache of the hosts under test is dropped before each measurement."""
    hooks: tuple[Hook, ...] = ()
    origin: Origin
