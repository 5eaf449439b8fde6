"""The systems in a plan: hosts, hardware, clients and databases."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from benchbrief.compiler.extensions.engine_spec import Reset
from benchbrief.compiler.extensions.meter_spec import Boundary
from benchbrief.compiler.extensions.tool_spec import Arrival
from benchbrief.compiler.planning.plan_base import Fact, Node, Origin, Reference, Template


class Asked(Node):
    """What a scheduler is asked for in place of a named host: `slurm("nvme", 4, partition: "fast")`."""

    scheduler: str
    what: str = ""
    options: tuple[tuple[str, str], ...] = ()


class Host(Node):
    """A machine that runs commands. `id` is unique in the plan: `local`, or the destination as written.

    For `ssh`, the user's own ~/.ssh/config applies to `name`; the values here take precedence. One that is `asked` for
    has its id as its name until a lane begins, which knows the node that it is (`compiler/lanes/plan_lanes.py`).
    """

    id: str
    transport: str
    """The name of its transport: `local`, `ssh`, or that of another package."""
    name: str
    user: str | None = None
    port: int | None = None
    jump: str | None = None
    identity: str | None = None
    package: str = ""
    """The package of the transport, with its version. Empty for benchbrief's own."""
    asked: Asked | None = None

    @property
    def is_open(self) -> bool:
        """Return whether it stands for a node that no scheduler has given yet."""
        return self.asked is not None and self.name == self.id


"""What the watts of a meter are the power of: an outlet of the wall, a node by its BMC, its CPU packages only."""


class PowerMeter(Node):
    """How to read power on a hardware group. `kind` is ipmi, redfish, snmp, rapl, command or csv.

    `addresses` are the hosts' meters in the order of the hosts, empty for meters on the hosts themselves. `parts` are
    what to read at each address: object identifiers, sensors, chassis, columns. A `shared` meter covers all hosts: all
    its addresses are read, and added up. `on` is where it is read. `options` are the rest, with a command's line as
    `command`.
    """

    kind: str
    boundary: Boundary
    on: Literal["node", "controller"]
    addresses: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    shared: bool = False
    options: dict[str, str | float | bool | Reference] = Field(default_factory=dict)
    package: str = ""
    """The package that has it, with its version. Empty for benchbrief's own."""
    origin: Origin

    @model_validator(mode="before")
    @classmethod
    def _of_before(cls, given: object) -> object:
        """Read the object identifiers of earlier plans."""
        if isinstance(given, dict) and "oids" in given:
            return {**{key: value for key, value in given.items() if key != "oids"}, "parts": given["oids"]}
        return given


class Hardware(Node):
    """A group of identical hosts under test. A variant is a group of its own, named `group.variant`.

    `key` is the value of the `hardware` dimension in every result: the variant's short name where that is unique. The
    watts of the meters in `power` add up; the meters have one kind, boundary, place and sharing. A `control` group has
    nothing under test that changes: what changes in its results is due to the lab.
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

    @field_validator("power", mode="before")
    @classmethod
    def _one_or_none(cls, given: object) -> object:
        """Read earlier plans, in which hardware has one meter or null."""
        return () if given is None else (given,) if isinstance(given, dict) else given


Option = str | float | bool
"""A setting of a tool or an engine; amounts in base units."""


class Tool(Node):
    """A load generator. `driver` is its name, `path` its place from the spec (None: `tool_discovery.py` looks for it).
    `options` are empty; earlier plans may have some, which no driver ever used."""

    driver: str
    path: str | None = None
    options: dict[str, Option] = Field(default_factory=dict)
    package: str = ""
    """The package of the driver with its version ("bench-sqlite 0.1.0"); "" for benchbrief's own."""


class SchedulerBlock(Node):
    """The block `scheduler`: what each job asks for. `package` has the scheduler, "" for benchbrief's own."""

    name: str
    options: dict[str, Option] = Field(default_factory=dict)
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
    """A declared command of a database: a shell line for each host of the hardware, or only the first one.

    `prepare` runs before the server starts or the run attaches to it, `teardown` after it stops; `reset` before each
    cell, to restore the data. An exit code other than 0 is a failure.
    """

    when: Literal["prepare", "reset", "teardown"]
    line: str
    on: Literal["each", "first"] = "each"
    timeout_s: float
    origin: Origin


class Tls(Node):
    """Files on the hosts under test: the key and certificate of a server, and the authority that signed it."""

    certificate: str
    ca: str


class Auth(Node):
    """The login to a started server. `key` identifies its members to each other."""

    user: str | Reference
    password: Reference
    key: Reference


class ServerStart(Node):
    """How a server is started: a program for the data, one for routing, and their ports.

    `config` is the text of the configuration file `config_name`, "" for none.
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

    `server`: "attach" to a running one at `uri`; "start" it by `start`; "embedded": the run starts the built-in
    stand-in and discloses it; "none": the engine is a library in the load generator's process. `path` is the data
    directory on the host. `settings` are attributes that only the engine reads. `members` of a replica set, `shards`
    and `version` are None where the spec has none.
    """

    name: str
    label: str
    engine: str
    package: str = ""
    """The package of the engine with its version; "" for benchbrief's own."""
    server: Literal["attach", "start", "embedded", "none"]
    start: ServerStart | None = None
    uri: Template = ()
    path: str | None = None
    topology: str | None = None
    members: int | None = None
    shards: int | None = None
    version: str | None = None
    max_lag_s: float = 10.0
    """How far secondaries may lag when a measurement begins."""
    size_bytes: float | None = None
    settings: dict[str, Option] = Field(default_factory=dict)
    options: dict[str, Option] = Field(default_factory=dict)
    options_file: str | None = None
    reset: Reset
    drop_caches: bool = False
    """Whether the hosts under test drop their page cache before each measurement."""
    hooks: tuple[Hook, ...] = ()
    origin: Origin


class Arrivals(Node):
    """When operations are due, and what of the load is bounded.

    Rates are in ops/s over all load generators, times in seconds.

    `rates` are those of `steps`, which follow each other, each for `each_s`. A burst at `burst_rate` begins every
    `every_s` and lasts `lasting_s`; between bursts the rate is the cell's `target`. `spacing` is for steps and bursts.
    `trace` is the text of a recorded trace, with a due time in each line, and `file` its name in the spec. At most
    `queue` operations wait for a thread (None: as many as the tool lets wait); those that find it full are dropped,
    of which the share `drops` is accepted. `lag` is the accepted share of a latency that is the generator's own
    lateness, and `stalls` the share of the time in which a closed loop may stand still. An operation that takes longer
    than `timeout_s` from being sent has failed; a run in which nothing succeeds for `give_up_s` is cut. None: the
    tool's own.
    """

    kind: Arrival
    spacing: Literal["poisson", "constant"] = "poisson"
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
        """Return whether it says its rates itself, so that a cell has no `target`."""
        return self.kind in ("steps", "trace")


class Event(Node):
    """A command during the measurement of a cell, `at_s` after the start of the measured time.

    `line` runs in a shell on all `hosts` at the same time, and may take `timeout_s`. The throughput before is its mean
    over the last `window_s` before the event. It is back once it stays within the share `within` of that for
    `steady_s`. It is out while it is below the share `outage` of that. `data` says whether the command may change the
    data set.
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
