"""Describes the meter that reads the kernel's power sensors."""

from benchbrief.extend.spec import Key, MeterSpec, Text

SPEC = MeterSpec(
    api=3,
    name="hwmon",
    doc="A power sensor of the host, which the kernel gives in microwatts.",
    implementation="bench_hwmon.hwmon_meter:Hwmon",
    boundary="node",
    usage='`hwmon(file: "/sys/class/hwmon/hwmon0/power1_input")`',
    arguments={"file": Key(Text(absolute=True), "The file of the sensor.", required=True)},
    networked=False,
)
