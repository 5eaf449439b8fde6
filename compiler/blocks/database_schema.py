"""What a database and its options may hold: a table behind the checker and the reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from benchbrief.compiler.blocks.host_schema import COMMANDS, TOOL
from benchbrief.compiler.blocks.shapes import BlockSchema, Flag, Key, Login, Number, Special, Text, Word

BYTES = Number("B", "400 B", integer=True, minimum=1.0)

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
            Special(COMMANDS),
            "Commands for each host (`on: first`: the first), before the server is started or attached to.",
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
)

ROCKSDB_OPTIONS: dict[str, Key] = {
    "compression": Key(
        Word(("none", "snappy", "zlib", "bzip2", "lz4", "lz4hc", "zstd"), quoted=True),
        "The compression of every level.",
    ),
    "cache": Key(BYTES, "The block cache.", example="cache = 8 GiB"),
    "block_size": Key(BYTES, "The size of a block.", example="block_size = 4 KiB"),
    "write_buffer": Key(BYTES, "The size of a memtable.", example="write_buffer = 64 MiB"),
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
