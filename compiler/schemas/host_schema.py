"""The tables of attributes that hardware, variants, SSH access and clients may have."""

from __future__ import annotations

from benchbrief.compiler.extensions.registry import SCHEDULER_SPECS
from benchbrief.model.value_shapes import BlockSchema, Fact, Flag, Key, Number, Special, Text

_ASKED = "".join(f", {spec.usage.strip('`')}" for spec in SCHEDULER_SPECS.own.values() if spec.usage)
HOSTS = Special(f'`local`, "user@host:port", "eco-[1-3].lab"{_ASKED}, or a list of those')
"""A host that the transport of another package reaches is written with its scheme: "netns://blue"."""
TOOL = Special('a load generator such as `ycsb`, or with its path, `ycsb("/opt/ycsb")`')

POWER = Special("a power meter such as `ipmi(...)` or `rapl`, a list of those, or a declared quantity such as `250 W`")
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
