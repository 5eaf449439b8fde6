"""The transport: each shell is started inside the namespace. See `NestedTransport`."""

from benchbrief.extend.transports import NestedTransport


class NetnsTransport(NestedTransport):
    @property
    def shell(self) -> tuple[str, ...]:
        return ("ip", "netns", "exec", self.host.name, "sh")


class TornTransport:
    """It is below no base of benchbrief."""
