"""The controller itself: `hosts = local`."""

from benchbrief.compiler.extensions import TransportSpec

SPEC = TransportSpec(
    api=1,
    name="local",
    doc="The machine that runs `bench`, written as the word `local`.",
    implementation="benchbrief.runners.transports.local.local_transport:LocalTransport",
    label="this machine",
    on_controller=True,
)
