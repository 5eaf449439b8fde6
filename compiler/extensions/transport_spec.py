"""The spec of a transport."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from benchbrief.compiler.extensions.extension_spec import ExtensionSpec


@dataclass(frozen=True)
class TransportSpec(ExtensionSpec):
    """A transport: how commands and files reach a host.

    `implementation` is a class below `JobTransport` (`benchbrief.runners.transports.transport_base`). `label` is what
    people call it. A spec chooses one by the scheme of a host, which is the transport's name: "netns://blue". The
    `address` behind it may have ranges, and has this form; "" for a transport that no scheme names.
    `address_is` says what it is: "the name of a network namespace".

    `on_controller` says that its hosts have the processes of the controller, under the same numbers, and its clock. It
    is true for a network namespace, and not for a container with processes of its own.
    """

    kind: ClassVar[str] = "transport"

    label: str = ""
    address: str = ""
    address_is: str = ""
    on_controller: bool = False

    def mistake(self, name: str, *, own: bool = False) -> str:
        return super().mistake(name) or self._wrong_address(own)

    def _wrong_address(self, own: bool) -> str:
        if not self.label or (not own and not (self.address and self.address_is)):
            return "it needs a `label`, and an `address` with `address_is`: what follows its scheme"
        try:
            re.compile(self.address)
        except re.error as error:
            return f"`address` is no regular expression: {error}"
        return ""
