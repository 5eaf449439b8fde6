from benchbrief.extend.spec import MeterSpec

SPEC = MeterSpec(
    api=3,
    name="rapl",
    doc="The counters of the processors on each host: CPU packages only, without disks, fans and power supplies.",
    implementation="benchbrief.extensions.meters.rapl.rapl_meter:Rapl",
    boundary="cpu",
    address="",
    usage="`rapl`",
    networked=False,
)
