from benchbrief.extend.spec import COUNTERS_AND_GAUGES, ProbeMeasure, ProbeSpec

SPEC = ProbeSpec(
    api=3,
    name="tcp",
    doc="TCP of the host: connections, segments, retransmissions and full listen queues, from `/proc/net/snmp` and "
    "`/proc/net/netstat`. They count the whole host, but no container with a network of its own.",
    implementation="benchbrief.extensions.probes.tcp.tcp_probe:Tcp",
    measures={
        "tcp.connections": ProbeMeasure(
            "",
            "Established connections, both ends of those within the host, as sampled; the sum over nodes.",
            {"en": "TCP connections", "ja": "TCP接続数"},
            simulated=64,
        ),
        "tcp.segments": ProbeMeasure(
            "1/s",
            "Segments sent per second, without retransmitted ones, as sampled; the sum over nodes.",
            {"en": "TCP segments sent", "ja": "送信TCPセグメント"},
            simulated=20_000,
        ),
        "tcp.retransmits": ProbeMeasure(
            "1/s",
            "Segments retransmitted per second, as sampled; the sum over nodes.",
            {"en": "TCP retransmissions", "ja": "TCP再送"},
            simulated=2,
        ),
        "tcp.listen_overflows": ProbeMeasure(
            "1/s",
            "Times per second that a connection found a listen queue full, as sampled; the sum over nodes.",
            {"en": "TCP listen-queue overflows", "ja": "TCPリッスンキューあふれ"},
            simulated=0,
        ),
    },
    single_reading=COUNTERS_AND_GAUGES,
)
