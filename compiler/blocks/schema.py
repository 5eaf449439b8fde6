"""Which blocks there are, and which attributes each may hold: the table behind the checker and the reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from benchbrief.compiler.blocks.meter_schema import POWER
from benchbrief.compiler.blocks.shapes import BlockSchema, Fact, Flag, Key, Login, Number, Special, Text, Word

_TIME = "20 min"
_POSITIVE_TIME = Number("s", _TIME, above=True)
_SHARE = Number("", "95 %", plain=True, maximum=1.0)
_COUNT = Number("records", "75M records", plain=True, integer=True, minimum=1.0, maximum=2.0**53)
_BYTES = Number("B", "400 B", integer=True, minimum=1.0)

HOSTS = Special('`local`, "user@host:port", "eco-[1-3].lab", or a list of those')
TOOL = Special('`ycsb`, `ycsb("/opt/ycsb")`, `go_ycsb` or `db_bench("/usr/bin/db_bench")`')


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
        Special('`command("...")`, or a list of those'),
        "Commands that are run on every host before each cell; one that fails fails the cell.",
        example='prepare = command("sync; echo 3 | sudo tee /proc/sys/vm/drop_caches")',
    ),
}

_COMMANDS = '`command("...")`, or a list of those'

HARDWARE = BlockSchema(
    "A group of identical hosts under test, with whatever facts are worth declaring about them.",
    {
        "hosts": Key(HOSTS, "The hosts under test.", required=True, example='hosts = "bench@eco-[1-3].lab"'),
        **_VARIANT_KEYS,
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
            Text(), "The private key's file on the controller.", example='identity = "~/.ssh/bench_ed25519"'
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
    },
    blocks=("ssh",),
)

DATABASE = BlockSchema(
    "An engine, how it is reached, and how it is prepared between cells.",
    {
        "engine": Key(Word(("mongodb", "rocksdb")), "The database engine.", required=True),
        "uri": Key(
            Text(holes=True),
            "Where a running server is; `{hosts}` are the hardware's hosts.",
            only="mongodb",
            example='uri = "mongodb://{hosts}/ycsb"',
        ),
        "server": Key(
            Word(("embedded", "start")),
            "`start` starts `mongod` on the hardware's hosts for the run; `embedded`, the built-in stand-in server.",
            only="mongodb",
        ),
        "binary": Key(
            Text(absolute=True),
            "The `mongod` that is started; `mongos` is looked for beside it.",
            default="`mongod` in the PATH of the host",
            only="mongodb",
            example='binary = "/opt/mongodb/bin/mongod"',
        ),
        "config": Key(
            Text(),
            "A configuration file for it, beside the spec; the rest of this block goes before it.",
            only="mongodb",
            example='config = "mongod.conf"',
        ),
        "port": Key(
            Number("", "27017", plain=True, integer=True, minimum=1.0, maximum=65000.0),
            "Where it listens; the other servers of a host take the ports after it.",
            default="27017",
            only="mongodb",
        ),
        "certificate": Key(
            Text(absolute=True),
            "Turns TLS on: a file on each host with the server's key and certificate.",
            only="mongodb",
            example='certificate = "/etc/ssl/mongod.pem"',
        ),
        "ca": Key(
            Text(absolute=True),
            "A file on each host, load generators too, with the certificate of who signed it.",
            only="mongodb",
            example='ca = "/etc/ssl/ca.pem"',
        ),
        "user": Key(
            Login(secret=False, example="MONGO_USER"),
            "Turns access control on: the user that is made, and logs in.",
            only="mongodb",
            example='user = "bench"',
        ),
        "password": Key(
            Login(secret=True, example="MONGO_PASSWORD"),
            "The user's password.",
            only="mongodb",
            example='password = secret("MONGO_PASSWORD")',
        ),
        "key": Key(
            Login(secret=True, example="MONGO_KEY"),
            "What the servers know each other by: 6 to 1024 letters and digits.",
            only="mongodb",
            example='key = secret("MONGO_KEY")',
        ),
        "path": Key(
            Text(holes=True, absolute=True),
            "The data directory, with holes such as `{path}` or `{mount}`.",
            example='path = "{path}/rocksdb"',
        ),
        "topology": Key(
            Special(
                '`standalone`, `replica_set("rs0")`, `replica_set("rs0", members: 3)`, `sharded` '
                "or `sharded(shards: 2)`"
            ),
            "What the server is part of, or is to be: a member on each host, split over the shards.",
            default="standalone, when it is started",
            only="mongodb",
            example='topology = replica_set("rs0")',
        ),
        "version": Key(
            Text(),
            "What the server's version must begin with.",
            only="mongodb",
            example='version = "8.0"',
        ),
        "max_lag": Key(
            Number("s", "1 s", above=True, maximum=3600.0),
            "How far the secondaries may lag behind when a measurement begins. Those of an attached sharded cluster "
            "are not looked at, which is told in the brief.",
            default="10 s",
            only="mongodb",
        ),
        "size": Key(
            Number("B", "1 TB", above=True),
            "The data set's size; a workload without `records` then has size / (key_size + value_size).",
            only="rocksdb",
        ),
        "options_file": Key(
            Text(absolute=True),
            "A RocksDB options file on the host.",
            only="rocksdb",
            example='options_file = "/etc/rocksdb/options.ini"',
        ),
        "tool": Key(
            TOOL,
            "The db_bench to use.",
            default="db_bench",
            only="rocksdb",
            example='tool = db_bench("/usr/bin/db_bench")',
        ),
        "reset": Key(
            Special(
                '`drop_and_load`, `after_writes`, `snapshot`, `reuse`, or what brings the data back, `command("...")`'
            ),
            "How each cell comes by its data: loaded again; loaded again if a cell that wrote was before it; copied "
            "back as they were after the load; as the cells before have left them; or by a command.",
            default="drop_and_load for mongodb, after_writes for rocksdb",
            example="reset = after_writes",
        ),
        "drop_caches": Key(
            Flag(),
            "Drops the page cache of each host before each measurement; needs root, or `sudo` without a password.",
        ),
        "prepare": Key(
            Special(_COMMANDS),
            "Commands for each host (`on: first`: the first), before the server is started or attached to.",
            example='prepare = command("systemctl stop mongod", timeout: 2 min)',
        ),
        "teardown": Key(
            Special(_COMMANDS),
            "Commands for when the server was stopped or left.",
            example='teardown = command("systemctl start mongod", on: first)',
        ),
    },
    blocks=("options",),
    exclusive=(("uri", "server"),),
)

ROCKSDB_OPTIONS: dict[str, Key] = {
    "compression": Key(
        Word(("none", "snappy", "zlib", "bzip2", "lz4", "lz4hc", "zstd"), quoted=True),
        "The compression of every level.",
    ),
    "cache": Key(_BYTES, "The block cache.", example="cache = 8 GiB"),
    "block_size": Key(_BYTES, "The size of a block.", example="block_size = 4 KiB"),
    "write_buffer": Key(_BYTES, "The size of a memtable.", example="write_buffer = 64 MiB"),
    "bloom_bits": Key(
        Number("", "10", plain=True, integer=True, maximum=64.0), "Bits for each key in the Bloom filter."
    ),
    "direct_io": Key(Flag(), "Reads, flushes and compactions go around the page cache."),
    "sync": Key(Flag(), "Each write waits for the log to be on the device."),
    "wal": Key(Flag(), "`false` turns the write-ahead log off.", example="wal = false"),
}


@dataclass(frozen=True)
class UriOption:
    """An option of the load generators' connections to MongoDB: `name` is the connection string's.

    `scale` turns base units into the connection string's; `words` are its words for ours.
    """

    key: Key
    name: str
    scale: float = 1.0
    words: Mapping[str, str] = field(default_factory=dict)


_READ_PREFERENCES = {
    "primary": "primary",
    "primary_preferred": "primaryPreferred",
    "secondary": "secondary",
    "secondary_preferred": "secondaryPreferred",
    "nearest": "nearest",
}
_POOL = Number("", "100", plain=True, integer=True, maximum=1e6)
_CONNECTION_TIME = Number("s", "10 s", above=True, maximum=86400.0)
COMPRESSORS = ("zstd", "snappy", "zlib")

MONGODB_OPTIONS: dict[str, UriOption] = {
    "write_concern": UriOption(
        Key(
            Special("`majority`, or how many servers, such as `1`"),
            "How many servers must have a write.",
            example="write_concern = majority",
        ),
        "w",
    ),
    "journal": UriOption(Key(Flag(), "A write must be in the journal of those servers."), "journal"),
    "write_timeout": UriOption(Key(_CONNECTION_TIME, "How long they are waited for."), "wTimeoutMS", scale=1000.0),
    "read_concern": UriOption(
        Key(Word(("local", "available", "majority", "linearizable", "snapshot")), "Which data a read may see."),
        "readConcernLevel",
    ),
    "read_preference": UriOption(
        Key(Word(tuple(_READ_PREFERENCES)), "Which members of a replica set are read."),
        "readPreference",
        words=_READ_PREFERENCES,
    ),
    "max_staleness": UriOption(
        Key(Number("s", "90 s", integer=True, minimum=90.0), "How far a secondary that is read may lag behind."),
        "maxStalenessSeconds",
    ),
    "compressors": UriOption(
        Key(
            Special("`zstd`, `snappy` or `zlib`, or a list of those"),
            "How messages are compressed, best first.",
            example="compressors = [zstd, snappy]",
        ),
        "compressors",
    ),
    "max_pool_size": UriOption(Key(_POOL, "The most connections of a client to a server; 0: no limit."), "maxPoolSize"),
    "min_pool_size": UriOption(
        Key(_POOL, "The fewest connections that are kept open.", example="min_pool_size = 10"), "minPoolSize"
    ),
    "connect_timeout": UriOption(
        Key(_CONNECTION_TIME, "How long a connection may take to be made."), "connectTimeoutMS", scale=1000.0
    ),
    "socket_timeout": UriOption(
        Key(_CONNECTION_TIME, "How long an answer may take to come."), "socketTimeoutMS", scale=1000.0
    ),
    "retry_writes": UriOption(
        Key(Flag(), "A write that fails is tried once more.", example="retry_writes = false"), "retryWrites"
    ),
    "retry_reads": UriOption(
        Key(Flag(), "A read that fails is tried once more.", example="retry_reads = false"), "retryReads"
    ),
}

DATABASE_OPTIONS: dict[str, Key] = {
    **{name: replace(key, only="rocksdb") for name, key in ROCKSDB_OPTIONS.items()},
    **{name: replace(option.key, only="mongodb") for name, option in MONGODB_OPTIONS.items()},
}
"""Those of every engine, each with the engine that it is for."""

WORKLOAD = BlockSchema(
    "What the load does: a YCSB core workload or a db_bench benchmark, adjusted.",
    {
        "records": Key(_COUNT, "How many records the data set has.", default="1000 for ycsb, 1M for db_bench"),
        "description": Key(
            Text(),
            "A sentence for the brief, in place of the built-in one.",
            example='description = "Reads as the shop front does at noon."',
        ),
        "operations": Key(
            Number("ops", "1M ops", plain=True, integer=True, minimum=1.0, maximum=2.0**31 - 1),
            "Ends the measurement when so many operations are done, if the time is not over before.",
            only="ycsb",
        ),
        "fields": Key(
            Number("", "10", plain=True, integer=True, minimum=1.0, maximum=1e6),
            "Fields of a record.",
            default="10",
            only="ycsb",
        ),
        "field_length": Key(
            _BYTES, "The size of a field.", default="100 B", only="ycsb", example="field_length = 100 B"
        ),
        "record_size": Key(
            _BYTES, "The size of a record, in place of `field_length`.", only="ycsb", example="record_size = 1 kB"
        ),
        "distribution": Key(
            Word(("uniform", "zipfian", "latest", "hotspot", "exponential", "sequential")),
            "Which records are asked for.",
            default="the core workload's",
            only="ycsb",
        ),
        "read": Key(_SHARE, "The share of reads.", default="the core workload's", example="read = 90 %  update = 10 %"),
        "update": Key(
            _SHARE,
            "The share of updates.",
            default="the core workload's",
            only="ycsb",
            example="read = 80 %  update = 20 %",
        ),
        "insert": Key(
            _SHARE,
            "The share of inserts.",
            default="the core workload's",
            only="ycsb",
            example="read = 50 %  update = 40 %  insert = 10 %",
        ),
        "scan": Key(
            _SHARE, "The share of scans.", default="the core workload's", only="ycsb", example="read = 0 %  scan = 50 %"
        ),
        "read_modify_write": Key(
            _SHARE,
            "The share of read-modify-writes.",
            default="the core workload's",
            only="ycsb",
            example="update = 0 %  read_modify_write = 50 %",
        ),
        "scan_length": Key(
            Number("records", "100", plain=True, integer=True, minimum=1.0, maximum=1e9),
            "The longest scan.",
            default="100 for ycsb",
        ),
        "key_size": Key(_BYTES, "The size of a key.", default="16 B", only="db_bench", example="key_size = 16 B"),
        "value_size": Key(_BYTES, "The size of a value.", default="100 B", only="db_bench"),
        "write_rate": Key(Number("B/s", "20 MB/s", above=True), "A limit for the writing thread.", only="db_bench"),
    },
    exclusive=(("record_size", "field_length"),),
)

PROBES = ("disk", "cpu", "memory", "network", "power", "database")

PROBE = BlockSchema(
    "A named way to sample beside the measurement.",
    {
        "kind": Key(Word(PROBES), "What is sampled.", default="the block's name"),
        "every": Key(Number("s", "1 s", minimum=0.1), "The time between samples.", required=True),
        "device": Key(
            Text(), "The block device; left out, all of them.", only="disk", example='device = "/dev/nvme0n1"'
        ),
        "interface": Key(
            Text(),
            "The network interface, or several with spaces between; left out, all that are devices, or else all but "
            "the loopback.",
            only="network",
            example='interface = "eth0"',
        ),
    },
)

EXPERIMENT = BlockSchema(
    "Hardware by workloads by a ramp: the cells that are measured.",
    {
        "hardware": Key(
            Special("`eco`, `[eco, legacy]` or `box.variants`"),
            "What is compared.",
            required=True,
            example="hardware = [eco, legacy]",
        ),
        "client": Key(
            Special("a client's name"), "Who generates the load.", default="the only one", example="client = load"
        ),
        "database": Key(
            Special("a database's name"), "What is loaded.", default="the only one", example="database = mongo"
        ),
        "workloads": Key(
            Special("`a`, `[a, b, f]` or `load(a)`"), "What the load does.", required=True, example="workloads = [a, c]"
        ),
        "threads": Key(
            Special(
                "`8`, `[8, 16, 32]`, `1..16`, `range(1, 64, factor: 2)`, a search such as "
                "`knee(from: 1, factor: 2, to: 512)`, or what another experiment's found: `its_name.knee`"
            ),
            "The client threads; several make a ramp.",
            required=True,
            example="threads = [8, 16, 32]",
        ),
        "target": Key(
            Special(
                "`20k ops/s`, a list of those, `range(200 ops/s, 120k ops/s, steps: 25)`, a search such as "
                "`knee(from: 1k ops/s, factor: 2, to: 100k ops/s)`, or what another experiment's found: `its_name.knee`"
            ),
            "The offered load; several make a ramp (open loop).",
            example="target = range(1k ops/s, 20k ops/s, steps: 20)",
        ),
        "warm_up": Key(
            Number("s", _TIME),
            "Time before the measurement that is not counted.",
            default="0 s",
            example="warm_up = 2 min",
        ),
        "measure": Key(_POSITIVE_TIME, "The measured time of each cell; or give `phases`."),
        "phases": Key(
            Special("`6 x 10 min`"),
            "Consecutive measured intervals of one run, in place of `measure`.",
            example="phases = 6 x 10 min",
        ),
        "repeats": Key(
            Special(
                "`3`, `3, interleaved`, `5, random(seed: 1)` or `confident(within: 5 %, to: 10)`",
                series=True,
            ),
            "How often each point is measured, or until when, and in which order.",
            default="1, grouped",
            example="repeats = 3, interleaved",
        ),
        "probes": Key(
            Special("`[disk every 1 s, power every 1 s]`"),
            "What is sampled beside the measurement.",
            default="none",
            example="probes = [disk every 1 s, cpu every 1 s]",
        ),
        "max_errors": Key(
            _SHARE,
            "A cell with a larger share of failed operations is a failed cell.",
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
            Word(("continue", "stop")),
            "Whether the other cells go on when a cell of this experiment has failed for good.",
            default="continue",
            example="on_failure = stop",
        ),
        "unattended": Key(
            Number("s", "10 min", minimum=10.0),
            "How long a job goes on by itself when it hears nothing of the controller.",
            default="10 min",
        ),
    },
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

BLOCKS: Mapping[str, BlockSchema] = {
    "hardware": HARDWARE,
    "variant": VARIANT,
    "ssh": SSH,
    "client": CLIENT,
    "database": DATABASE,
    "workload": WORKLOAD,
    "probe": PROBE,
    "experiment": EXPERIMENT,
    "profile": PROFILE,
}
"""Reports are not here: what they may hold is in `compiler/briefs/report.py`, with how it is lowered."""

OVERRIDABLE = tuple(kind for kind, block in BLOCKS.items() if block.overridable)
