"""The controller itself: `hosts = local`."""

from benchbrief.extend.spec import TransportSpec

SPEC = TransportSpec(
    api=3,
    name="local",
    doc="The machine that runs `bench`, written as the word `local`.",
    implementation="benchbrief.runners.transports.local_transport:LocalTransport",
    label="this machine",
    on_controller=True,
)
