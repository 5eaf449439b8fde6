from benchbrief.extend.spec import EngineSpec, Key, Number, Text

SPEC = EngineSpec(
    api=3,
    name="raw_storage",
    label="Raw storage",
    doc="A file or a block device on the hardware's own hosts, without a database.",
    implementation="benchbrief.extensions.engines.raw_storage.raw_storage:RawStorage",
    tools=("fio",),
    in_process=True,
    attributes={
        "size": Key(
            Number("B", "1 GiB", minimum=float(1 << 20)),
            "How many bytes are laid out and used.",
            required=True,
        ),
        "destroys": Key(
            Text(absolute=True),
            "The block device whose data the run may destroy; `path` names it too. Without it, `path` is a directory.",
            example='path = "/dev/nvme1n1"  destroys = "/dev/nvme1n1"',
        ),
    },
    described={
        "en": "a file or a block device, without a database",
        "ja": "ファイルまたはブロックデバイス（データベースなし）",
    },
    default_reset="after_writes",
    resets=("snapshot", "command"),
)
