from benchbrief.extend.spec import BOUNDARY, SHARED, Key, MeterSpec, Word

SPEC = MeterSpec(
    api=3,
    name="command",
    doc="A command that prints one number, in watts; `$BENCH_HOST` is the host that it is about.",
    implementation="benchbrief.extensions.meters.command.command_meter:CommandMeter",
    boundary="unknown",
    address="a shell command",
    usage='`command("/usr/local/bin/watts")`',
    arguments={
        "on": Key(Word(("node", "controller")), "Where it is run.", default="node"),
        "boundary": BOUNDARY,
        "shared": SHARED,
    },
    networked=False,
)
