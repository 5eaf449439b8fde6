from benchbrief.extend.spec import BOUNDARY, SCALE, SHARED, Key, MeterSpec, Number, Text

SPEC = MeterSpec(
    api=3,
    name="csv",
    doc="The log that a meter writes itself: a file on the controller, read at the end of each cell.",
    implementation="benchbrief.extensions.meters.csv.csv_log:CsvLog",
    boundary="unknown",
    address="the file of each host, where `*` may stand for any part of its name",
    usage='`csv("/var/log/meter/*.csv", time: "Time", watts: "Outlet [1-4]", zone: "Europe/Berlin", boundary: wall)`',
    arguments={
        "time": Key(
            Text(), "The column of the time: ISO 8601, or seconds or milliseconds since 1970.", default='"time"'
        ),
        "watts": Key(Text(), "The column of the watts.", default='"watts"'),
        "zone": Key(Text(), "The time zone of times that name none.", default="none: they have to name theirs"),
        "format": Key(Text(), 'How times are written, as in "%d.%m.%Y %H:%M:%S".', default="ISO 8601, or a number"),
        "scale": SCALE,
        "wait": Key(
            Number("s", "1 min", maximum=3600.0),
            "How long the end of a cell waits for the file to reach it.",
            default="1 min",
        ),
        "boundary": BOUNDARY,
        "shared": SHARED,
    },
    parts=("watts",),
    address_is="path",
    recorded=True,
)
