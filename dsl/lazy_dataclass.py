"""Data classes that are built only when their first object is made, since a run of `bench` uses only a few of them.
Also properties that are computed only once."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from threading import RLock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414  # so that it can be imported from here
    from functools import cached_property as cached_property  # noqa: PLC0414
else:

    class cached_property:  # noqa: N801
        """Python's `cached_property` without the lock of Python 3.11, which would take longer than computing most
        values."""

        def __init__(self, function):
            self.function, self.__doc__ = function, function.__doc__

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            found = instance.__dict__[self.name] = self.function(instance)
            return found

    def dataclass(cls=None, /, *, frozen=False, **options):
        """Make a data class as Python's `dataclass` does, but lazily. `frozen` makes objects hashable. Only the type
        checker forbids assignments, since a check at run time would make creating objects ten times slower."""
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, **options)
        if options.keys() - {"eq", "kw_only"}:  # slots make another class, and the others are rare
            return dataclasses.dataclass(cls, frozen=frozen, **options)
        _Unbuilt(cls, frozen=frozen, **options)
        return cls


class _Unbuilt:
    """Replaces the `__init__` and the fields of a class until one of them is used."""

    def __init__(self, cls: type, *, frozen: bool, eq: bool = True, kw_only: bool = False) -> None:
        self._cls, self._frozen, self._eq, self._kw_only = cls, frozen, eq, kw_only

        def first(self_: object, *args: object, **values: object) -> None:
            self._build()
            vars(cls)["__init__"](self_, *args, **values)

        def restored(self_: object, state: dict[str, object]) -> None:
            self._build()
            vars(self_).update(state)

        cls.__init__ = first  # type: ignore[misc]
        cls.__setstate__ = restored  # type: ignore[attr-defined]
        cls.__dataclass_fields__ = self  # type: ignore[attr-defined]
        self._first = first

    def __get__(self, _: object, __: type) -> object:
        self._build()
        return self._cls.__dataclass_fields__  # type: ignore[attr-defined]

    def _build(self) -> None:
        """Build the class. Its `__init__` is replaced last and in one step, in case another thread is making
        an object."""
        cls = self._cls
        with _BUILDING:
            if vars(cls)["__init__"] is not self._first:
                return
            cls.__doc__ = cls.__doc__ or cls.__name__  # otherwise it would get a signature, which takes long
            dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=self._kw_only)(cls)
            fields = dataclasses.fields(cls)
            own = vars(cls)
            if "__repr__" not in own:
                cls.__repr__ = _representation(fields)  # type: ignore[method-assign, assignment]
            if self._eq:
                key = _values_of([each.name for each in fields if each.compare])
                if "__hash__" not in own:
                    cls.__hash__ = _hash(key) if self._frozen else None  # type: ignore[method-assign, assignment]
                if "__eq__" not in own:
                    cls.__eq__ = _equality(key)  # type: ignore[method-assign, assignment]
            cls.__init__ = _init(cls, fields)  # type: ignore[misc]


# These functions do the same as the methods that `dataclasses` writes, which take four times as long to compile.

_Fields = tuple[dataclasses.Field[Any], ...]


def _init(cls: type, fields: _Fields) -> Callable[..., None]:
    taken, named, lines, known = ["self"], ["*"], list[str](), dict[str, Any]({"_ABSENT": _ABSENT})
    for each in fields:
        name, default = each.name, ""
        if each.default_factory is not dataclasses.MISSING:
            known[f"_new_{name}"], default = each.default_factory, "_ABSENT"
            value = f"_new_{name}() if {name} is _ABSENT else {name}" if each.init else f"_new_{name}()"
            lines.append(f"self.{name} = {value}")
        elif each.init:
            if each.default is not dataclasses.MISSING:
                known[f"_default_{name}"], default = each.default, f"_default_{name}"
            lines.append(f"self.{name} = {name}")
        if each.init:
            (named if each.kw_only else taken).append(f"{name}={default}" if default else name)
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    head = ", ".join([*taken, *(named if len(named) > 1 else ())])
    exec(f"def __init__({head}):\n " + "\n ".join(lines or ["pass"]), known)  # noqa: S102  # of names alone
    made: Callable[..., None] = known["__init__"]
    return made


_ABSENT = object()


def _values_of(names: list[str]) -> Callable[[object], object]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _equality(key: Callable[[object], object]) -> Callable[[object, object], bool]:
    def __eq__(self: object, other: object) -> bool:  # noqa: N807
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(key: Callable[[object], object]) -> Callable[[object], int]:
    def __hash__(self: object) -> int:  # noqa: N807
        return hash(key(self))

    return __hash__


def _representation(fields: _Fields) -> Callable[[object], str]:
    shown = [each.name for each in fields if each.repr]

    @recursive_repr()
    def __repr__(self: object) -> str:  # noqa: N807
        return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    return __repr__


_BUILDING = RLock()
"""A lock that is held while a class is built. It is reentrant, because building a class also builds its
base classes."""
