"""The base class of a plan's parts, which are plain immutable objects. Pydantic is imported only to read and write
them."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Mapping
from dataclasses import MISSING, Field, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast, dataclass_transform

from benchbrief.dsl.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, TypeAdapter

T = TypeVar("T")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
@dataclass(frozen=True, kw_only=True)
class Node:
    """A part of a plan. Its methods are named like those of pydantic's models, and do the same."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    _amounts: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)
        own = (name for name, kind in cls.__annotations__.items() if _OF_AMOUNTS.search(kind))
        cls._amounts = (*cls._amounts, *own)

    def __post_init__(self) -> None:
        for name in self._amounts:
            if (made := _as_amounts(value := getattr(self, name))) is not value:
                self.__dict__[name] = made

    @classmethod
    def of_before(cls, given: object) -> object:
        """Convert this part of an earlier version's plan to its current form."""
        return given

    def model_copy(self, *, update: Mapping[str, object]) -> Self:
        if not update.keys() <= self.__dict__.keys():
            raise TypeError(f"{type(self).__name__} has no {', '.join(update.keys() - self.__dict__.keys())}")
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, **update)
        return made

    def model_dump(
        self,
        *,
        include: Collection[str] | None = None,
        exclude: Collection[str] = (),
        exclude_none: bool = False,
        exclude_defaults: bool = False,
    ) -> dict[str, object]:
        return {
            each.name: _dumped(value, exclude_none)
            for each in fields(self)
            if each.name not in exclude and (include is None or each.name in include)
            if (value := getattr(self, each.name)) is not None or not exclude_none
            if not exclude_defaults or value != _default(each)
        }

    def model_dump_json(self, *, indent: int | None = None) -> str:
        return adapter(type(self)).dump_json(self, indent=indent).decode()

    @classmethod
    def model_validate(cls, given: object) -> Self:
        return adapter(cls).validate_python(given)

    @classmethod
    def model_validate_json(cls, content: str | bytes) -> Self:
        return adapter(cls).validate_json(content)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> Any:
        from pydantic import BeforeValidator

        if "of_before" not in vars(cls):
            return handler(source)
        return BeforeValidator(cls.of_before).__get_pydantic_core_schema__(source, handler)


_OF_AMOUNTS = re.compile(r"\b(float|Option|Fact|Range)\b")
"""Finds the types of fields that may hold amounts."""


_MAY_HOLD_AMOUNTS = {int, tuple}


def _as_amounts(value: Any) -> Any:
    """Return a value with its whole numbers as floats, since plans write amounts as 5.0."""
    kind = type(value)
    if kind is int:
        return float(value)
    if kind is dict and not _MAY_HOLD_AMOUNTS.isdisjoint(map(type, value.values())):
        return {key: _as_amounts(each) for key, each in value.items()}
    if kind is tuple and not _MAY_HOLD_AMOUNTS.isdisjoint(map(type, value)):
        return tuple(map(_as_amounts, value))
    return value


def _default(of: Field[Any]) -> Any:
    return of.default if of.default_factory is MISSING else of.default_factory()


def _dumped(value: Any, exclude_none: bool) -> Any:
    if isinstance(value, Node):
        return value.model_dump(exclude_none=exclude_none)
    if isinstance(value, tuple):
        return tuple(_dumped(each, exclude_none) for each in value)
    if isinstance(value, dict):
        return {key: _dumped(each, exclude_none) for key, each in value.items()}
    return value


def adapter(kind: type[T]) -> TypeAdapter[T]:
    """Return the pydantic adapter that reads and writes objects of a type."""
    found: TypeAdapter[T] = _adapter(cast(Hashable, kind))
    return found


@cache
def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
