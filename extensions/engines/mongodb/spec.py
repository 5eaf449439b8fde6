from benchbrief.extend.spec import EngineSpec, Flag, Key, Login, Number, Option, ServerProgram, Special, Text, Word

_READ_PREFERENCES = {
    "primary": "primary",
    "primary_preferred": "primaryPreferred",
    "secondary": "secondary",
    "secondary_preferred": "secondaryPreferred",
    "nearest": "nearest",
}
_POOL = Number("", "100", plain=True, integer=True, maximum=1e6)
_CONNECTION_TIME = Number("s", "10 s", above=True, maximum=86400.0)

SPEC = EngineSpec(
    api=3,
    name="mongodb",
    label="MongoDB",
    doc="A MongoDB server, or what speaks its wire protocol; it is reached over the network.",
    implementation="benchbrief.extensions.engines.mongodb.mongodb:MongoDB",
    tools=("ycsb", "go_ycsb", "openload"),
    attributes={
        "uri": Key(
            Text(holes=True),
            "Where a running server is; `{hosts}` are the hardware's hosts.",
            example='uri = "mongodb://{hosts}/ycsb"',
        ),
        "server": Key(
            Word(("embedded", "start")),
            "`start` starts `mongod` on the hardware's hosts for the run; `embedded`, the built-in stand-in server.",
        ),
        "binary": Key(
            Text(absolute=True),
            "The `mongod` that is started; `mongos` is looked for beside it.",
            default="`mongod` in the PATH of the host",
            example='binary = "/opt/mongodb/bin/mongod"',
        ),
        "config": Key(
            Text(),
            "A configuration file for it, beside the spec; the rest of this block goes before it.",
            example='config = "mongod.conf"',
            file="spec",
        ),
        "port": Key(
            Number("", "27017", plain=True, integer=True, minimum=1.0, maximum=65000.0),
            "Where it listens; the other servers of a host take the ports after it.",
            default="27017",
        ),
        "certificate": Key(
            Text(absolute=True),
            "Turns TLS on: a file on each host with the server's key and certificate.",
            example='certificate = "/etc/ssl/mongod.pem"',
            file="hosts",
        ),
        "ca": Key(
            Text(absolute=True),
            "A file on each host, load generators too, with the certificate of who signed it.",
            example='ca = "/etc/ssl/ca.pem"',
            file="hosts",
        ),
        "user": Key(
            Login(secret=False, example="MONGO_USER"),
            "Turns access control on: the user that is made, and logs in.",
            example='user = "bench"',
        ),
        "password": Key(
            Login(secret=True, example="MONGO_PASSWORD"),
            "The user's password.",
            example='password = secret("MONGO_PASSWORD")',
        ),
        "key": Key(
            Login(secret=True, example="MONGO_KEY"),
            "What the servers know each other by: 6 to 1024 letters and digits.",
            example='key = secret("MONGO_KEY")',
        ),
        "topology": Key(
            Special(
                '`standalone`, `replica_set("rs0")`, `replica_set("rs0", members: 3)`, `sharded` '
                "or `sharded(shards: 2)`"
            ),
            "What the server is part of, or is to be: a member on each host, split over the shards.",
            default="standalone, when it is started",
            example='topology = replica_set("rs0")',
        ),
        "version": Key(
            Text(),
            "What the server's version must begin with.",
            example='version = "8.0"',
        ),
        "max_lag": Key(
            Number("s", "1 s", above=True, maximum=3600.0),
            "How far the secondaries may lag behind when a measurement begins. Those of an attached sharded cluster "
            "are not looked at, which the brief says.",
            default="10 s",
        ),
    },
    options_label="MongoDB connections",
    options={
        "write_concern": Option(
            Key(
                Special("`majority`, or how many servers, such as `1`"),
                "How many servers must have a write.",
                example="write_concern = majority",
            ),
            "w",
            word_or=("majority",),
        ),
        "journal": Option(Key(Flag(), "A write must be in the journal of those servers."), "journal"),
        "write_timeout": Option(Key(_CONNECTION_TIME, "How long they are waited for."), "wTimeoutMS", scale=1000.0),
        "read_concern": Option(
            Key(Word(("local", "available", "majority", "linearizable", "snapshot")), "Which data a read may see."),
            "readConcernLevel",
        ),
        "read_preference": Option(
            Key(Word(tuple(_READ_PREFERENCES)), "Which members of a replica set are read."),
            "readPreference",
            words=_READ_PREFERENCES,
        ),
        "max_staleness": Option(
            Key(Number("s", "90 s", integer=True, minimum=90.0), "How far a secondary that is read may lag behind."),
            "maxStalenessSeconds",
        ),
        "compressors": Option(
            Key(
                Special("`zstd`, `snappy` or `zlib`, or a list of those"),
                "How messages are compressed, best first.",
                example="compressors = [zstd, snappy]",
            ),
            "compressors",
            list_of=("zstd", "snappy", "zlib"),
        ),
        "max_pool_size": Option(
            Key(_POOL, "The most connections of a client to a server; 0: no limit."), "maxPoolSize"
        ),
        "min_pool_size": Option(
            Key(_POOL, "The fewest connections that are kept open.", example="min_pool_size = 10"), "minPoolSize"
        ),
        "connect_timeout": Option(
            Key(_CONNECTION_TIME, "How long a connection may take to be made."), "connectTimeoutMS", scale=1000.0
        ),
        "socket_timeout": Option(
            Key(_CONNECTION_TIME, "How long an answer may take to come."), "socketTimeoutMS", scale=1000.0
        ),
        "retry_writes": Option(
            Key(Flag(), "A write that fails is tried once more.", example="retry_writes = false"), "retryWrites"
        ),
        "retry_reads": Option(
            Key(Flag(), "A read that fails is tried once more.", example="retry_reads = false"), "retryReads"
        ),
    },
    schemes=("mongodb://", "mongodb+srv://"),
    program=ServerProgram(
        "mongod",
        27017,
        router="mongos",
        # Both formats of a configuration file, YAML and the old one, are known.
        refused_config={
            r"\bfork\s*:\s*[\"']?true|^\s*fork\s*=\s*true": "`fork`: it has to stay in the foreground",
            r"\bdestination\s*:\s*[\"']?(file|syslog)|^\s*(logpath|syslog)\s*=": (
                "a log file: what it prints is kept with the run"
            ),
            r"(?i:password)\s*[:=]\s*\S": "a password: the spec and the file go into version control",
        },
    ),
    # YCSB's guide ("Core Workloads") runs A, B, C, F and D on one load, and loads again before E. To delete what a
    # cell inserted gives each cell the load's records, for less; where it can't be done, the data are loaded again.
    default_reset="undo",
    resets=("snapshot", "command", "undo"),
    updates_in_place=True,
    probes=("database",),
)
