"""The table of the block `at`: an event during the measurement of an experiment."""

from __future__ import annotations

from benchbrief.compiler.shapes.lengths import LINE
from benchbrief.compiler.shapes.value_shapes import BlockSchema, Key, Number, Special, Word

_SHARE = Number("", "5 %", plain=True, maximum=1.0, above=True)

EVENT = BlockSchema(
    "A command at a time of the measurement, and what is judged around it.",
    {
        "command": Key(
            Special('`command("...", on: first)`'),
            "What is run, and where: on a host, on all hosts of a group, on the cell's `first` host or on `each`.",
            required=True,
            example='command("kill -9 $(pidof mongod)", on: first, timeout: 10 s)',
        ),
        "window": Key(
            Number("s", "30 s", minimum=1.0),
            "The time before the event whose mean throughput is that of before.",
            default="30 s, or as much as there is",
        ),
        "within": Key(_SHARE, "The throughput is back within this share of that of before.", default="10 %"),
        "steady": Key(Number("s", "5 s", minimum=1.0), "How long the throughput has to stay back.", default="5 s"),
        "outage": Key(
            _SHARE, "Below this share of the throughput of before, the service counts as out.", default="10 %"
        ),
        "data": Key(
            Word(("changed", "kept")),
            "Whether the command may change the data set, which is then loaded again before the next cell.",
            default="changed",
            example="data = kept",
        ),
    },
    named=False,
    inherits=False,
    overridable=False,
    label=LINE,
)
