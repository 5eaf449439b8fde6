from benchbrief.extend.spec import COUNTERS, ProbeMeasure, ProbeSpec

SPEC = ProbeSpec(
    api=3,
    name="cpu",
    doc="The busy time of all processors of the host, from the kernel's counters in `/proc/stat`.",
    implementation="benchbrief.extensions.probes.cpu.cpu_probe:Cpu",
    measures={
        "cpu": ProbeMeasure(
            "cores",
            "Busy cores of the whole host, as sampled; the sum over nodes.",
            {"en": "Busy cores", "ja": "稼働コア数"},
        ),
        "cpu.utilisation": ProbeMeasure(
            "",
            "The busy share of all cores, as sampled.",
            {"en": "CPU utilisation", "ja": "CPU 使用率"},
            across_nodes="average",
        ),
        "cpu.iowait": ProbeMeasure(
            "",
            "The share of time in which cores were idle while a request to a device was under way, as sampled.",
            {"en": "CPU I/O wait", "ja": "CPU I/O 待ち"},
            across_nodes="average",
        ),
        "cpu.steal": ProbeMeasure(
            "",
            "The share of time that the hypervisor gave to others, as sampled.",
            {"en": "Stolen CPU time", "ja": "CPU スチール時間"},
            across_nodes="average",
        ),
        "cpu.pressure": ProbeMeasure(
            "",
            "The share of time in which some task waited for a core, as sampled.",
            {"en": "CPU pressure", "ja": "CPU プレッシャー"},
            across_nodes="average",
        ),
    },
    single_reading=COUNTERS,
)
