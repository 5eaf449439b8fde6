"""Describes the transport, and one whose code is broken."""

from dataclasses import replace

from benchbrief.extend.spec import TransportSpec

SPEC = TransportSpec(
    api=3,
    name="netns",
    doc="A network namespace of this machine, made by `ip netns add`.",
    implementation="bench_netns.netns_transport:NetnsTransport",
    label="a network namespace",
    address=r"[A-Za-z0-9][A-Za-z0-9_.-]{0,200}",
    address_is="the name of a network namespace",
    on_controller=True,
)
TORN = replace(SPEC, name="torn", implementation="bench_netns.netns_transport:TornTransport")
