"""Describes the probe of the kernel's pool of random numbers."""

from benchbrief.extend.spec import ProbeMeasure, ProbeSpec

SPEC = ProbeSpec(
    api=3,
    name="entropy",
    doc="How much entropy the kernel has for random numbers, from `/proc/sys/kernel/random/entropy_avail`.",
    implementation="bench_entropy.entropy_probe:Entropy",
    measures={
        "entropy.available": ProbeMeasure(
            "",
            "Bits of entropy in the kernel's pool, as sampled.",
            {"en": "Available entropy", "ja": "利用可能なエントロピー"},
            across_nodes="average",
            simulated=256,
        ),
        "entropy.pool": ProbeMeasure(
            "", "How many bits the pool can hold.", {"en": "Size of the entropy pool"}, across_nodes="average"
        ),
    },
)
