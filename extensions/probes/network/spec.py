from benchbrief.extend.spec import COUNTERS, Key, ProbeMeasure, ProbeSpec, Text

SPEC = ProbeSpec(
    api=3,
    name="network",
    doc="The bytes and packets of network interfaces, from the kernel's counters in `/proc/net/dev`.",
    implementation="benchbrief.extensions.probes.network.network_probe:Network",
    measures={
        "network.received": ProbeMeasure(
            "B/s",
            "Bytes received by the interfaces per second, as sampled; the sum over nodes.",
            {"en": "Network received", "ja": "ネットワーク受信"},
        ),
        "network.sent": ProbeMeasure(
            "B/s",
            "Bytes sent by the interfaces per second, as sampled; the sum over nodes.",
            {"en": "Network sent", "ja": "ネットワーク送信"},
        ),
        "network.packets_received": ProbeMeasure(
            "1/s",
            "Packets received per second, as sampled; the sum over nodes.",
            {"en": "Packets received", "ja": "受信パケット"},
        ),
        "network.packets_sent": ProbeMeasure(
            "1/s",
            "Packets sent per second, as sampled; the sum over nodes.",
            {"en": "Packets sent", "ja": "送信パケット"},
        ),
        "network.errors": ProbeMeasure(
            "1/s",
            "Packets per second that could not be received or sent for an error; the sum over nodes.",
            {"en": "Network errors", "ja": "ネットワークエラー"},
        ),
        "network.drops": ProbeMeasure(
            "1/s",
            "Packets per second that were dropped, as buffers were full or nothing took them; the sum over nodes.",
            {"en": "Dropped packets", "ja": "破棄パケット"},
        ),
    },
    single_reading=COUNTERS,
    word_is_free=True,
    attributes={
        "interface": Key(
            Text(),
            (
                "The network interface, or several with spaces between; left out, all that are devices, or else all "
                "but the loopback."
            ),
            example='interface = "eth0"',
        )
    },
    on="interface",
)
