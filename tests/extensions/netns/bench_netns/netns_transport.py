"""The transport. It starts each shell inside the namespace. See `NestedTransport`."""

from benchbrief.extend.transports import NestedTransport


class NetnsTransport(NestedTransport):
    @property
    def shell(self) -> tuple[str, ...]:
        return ("ip", "netns", "exec", self.host.name, "sh")


class TornTransport:
    """A transport without any of benchbrief's base classes."""
