from benchbrief.extend.spec import ProbeMeasure, ProbeSpec

SPEC = ProbeSpec(
    api=3,
    name="power",
    doc="The power that each host draws, from its meter.",
    implementation="benchbrief.runners.meters.power_probe:Power",
    measures={
        "power": ProbeMeasure(
            "W", "The power that the hosts draw, as sampled; the sum over nodes.", {"en": "Power", "ja": "消費電力"}
        ),
        "energy": ProbeMeasure(
            "J",
            (
                "The energy that the hosts used during the measurement: their power integrated by the trapezoid "
                "rule, the ends of the window held. Missing where less than 95 % of it was sampled."
            ),
            {"en": "Energy", "ja": "消費エネルギー"},
            of_whole_measurement=True,
        ),
    },
    single_reading="watts are those of one moment then, or missing, and there is no energy",
    asks="meter",
)
