"""The spec of a scheduler."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from benchbrief.compiler.extensions.extension_spec import NAME, ExtensionSpec
from benchbrief.compiler.shapes.value_shapes import Flag, Key, Number, Text


@dataclass(frozen=True)
class SchedulerSpec(ExtensionSpec):
    """A scheduler that holds a lab's hosts, and gives them to jobs.

    `implementation` is a class of `benchbrief.runners.fleet.scheduler:Scheduler`. `label` is what people call it.
    `attributes` are those of its block, `scheduler slurm { ... }`: what each job asks for.

    With a `usage`, hosts can be asked for by a call, `hosts = slurm("nvme", 4)`: what they must have, and how many.
    `asks_for` says what the text is ("a feature of nodes"), `asks_form` is its form, and `arguments` are the named
    ones, which are texts.
    """

    kind: ClassVar[str] = "scheduler"

    label: str
    attributes: Mapping[str, Key] = field(default_factory=dict)
    usage: str = ""
    asks_for: str = ""
    asks_form: str = ".+"
    arguments: Mapping[str, Key] = field(default_factory=dict)

    def mistake(self, name: str, *, own: bool = False) -> str:
        return super().mistake(name) or self._wrong_attributes()

    def _wrong_attributes(self) -> str:
        for attribute, key in {**self.attributes, **self.arguments}.items():
            if not NAME.fullmatch(attribute) or not key.doc:
                return f"`{attribute}` can't be an attribute: it needs a name in small letters, and a `doc`"
            if not isinstance(key.shape, Text | Number | Flag):
                return f"`{attribute}` has a shape that nothing of a scheduler may have: use Text, Number or Flag"
        if any(not isinstance(key.shape, Text) for key in self.arguments.values()):
            return "the named arguments of its hosts must be texts"
        if bool(self.usage) != bool(self.asks_for):
            return "it needs both a `usage` and `asks_for`, or neither"
        try:
            re.compile(self.asks_form)
        except re.error as error:
            return f"`asks_form` is no regular expression: {error}"
        return "" if self.label else "it needs a `label`: what people call it"
