"""The parts of all plan nodes: frozen models, places in the spec, references and declared quantities."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, GetCoreSchemaHandler

_T = TypeVar("_T")


@lru_cache(maxsize=4096)
def _first_equal(value: _T) -> _T:
    """Return the first of equal objects: a plan has cells by the thousand, which share most parts."""
    return value


SHARED = AfterValidator(_first_equal)
"""Only for hashable objects whose values have fixed types, since 1 equals true."""


class DatabaseKey(str):
    """A database on a hardware group or variant, as a plan names it: `rocks@box.disk`."""

    __slots__ = ()

    @classmethod
    def of(cls, database: str, hardware: str) -> DatabaseKey:
        return cls(f"{database}@{hardware}")

    @property
    def database(self) -> str:
        """Return the database's name in the spec."""
        return self.partition("@")[0]

    @property
    def hardware(self) -> str:
        """Return the key of the hardware group or variant."""
        return self.partition("@")[2]

    @classmethod
    def __get_pydantic_core_schema__(cls, _: object, handler: GetCoreSchemaHandler) -> Any:
        return handler.generate_schema(Annotated[str, AfterValidator(cls)])


class Node(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Origin(Node):
    """A place in the spec, so that a failure at run time can name its line."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Reference(Node):
    """A value that the controller reads at run time: an environment variable, or a secret (masked everywhere)."""

    kind: Literal["env", "secret"]
    name: str


Template = tuple[str | Reference, ...]
"""A text with references, in order; a plain text is a tuple of one string."""


class Quantity(Node):
    """A declared value with its unit. `value` is in the base unit, `text` as the user wrote it."""

    value: float
    unit: str
    text: str


Fact = str | Quantity | bool
"""A declared fact of a hardware group: `cpu = "64 vCPU"`, `memory = 512 GiB`."""
