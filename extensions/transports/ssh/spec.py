"""SSH, the usual transport to hosts other than the controller."""

from benchbrief.extend.spec import TransportSpec

SPEC = TransportSpec(
    api=3,
    name="ssh",
    doc="A host over SSH, written as its destination without a scheme.",
    implementation="benchbrief.extensions.transports.ssh.ssh_transport:SshTransport",
    label="ssh",
)
