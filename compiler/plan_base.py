"""What all parts of a plan are made of: frozen nodes, places in the spec, references and declared quantities."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict

_T = TypeVar("_T")


@lru_cache(maxsize=4096)
def _first_equal(value: _T) -> _T:
    """The first of those that are equal: a plan has cells by the thousand, and these have most in common."""
    return value


SHARED = AfterValidator(_first_equal)
"""Only for what has a hash, and of what type each of its values is does not vary, as 1 equals true."""


class Node(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Origin(Node):
    """Where in the spec something was said, so that a failure at run time still names its line."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Reference(Node):
    """A value that is read on the controller at run time: an environment variable, or a secret (masked everywhere)."""

    kind: Literal["env", "secret"]
    name: str


Template = tuple[str | Reference, ...]
"""Text with references in it, in order; plain text is a tuple of one string."""


class Quantity(Node):
    """A declared value with its unit. `value` is in the base unit, `text` is as the user wrote it."""

    value: float
    unit: str
    text: str


Fact = str | Quantity | bool
"""A declared fact of a hardware group: `cpu = "64 vCPU"`, `memory = 512 GiB`."""
