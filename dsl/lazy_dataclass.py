"""Data classes that are built at their first object, as a run of `bench` makes objects of few of them, and properties
that are computed once."""

from __future__ import annotations

import dataclasses
from copy import copy
from threading import RLock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414  # so that it can be imported from here
    from functools import cached_property as cached_property  # noqa: PLC0414
else:

    class cached_property:  # noqa: N801
        """Python's `cached_property` without the lock of Python 3.11, which takes longer than most values."""

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
        """Python's `dataclass`, lazily. `frozen` makes objects hashable and is left to the type checker: enforcing it
        at run time makes them ten times as slow to make."""
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, **options)
        if options.get("slots"):  # which make another class
            return dataclasses.dataclass(cls, frozen=frozen, **options)
        hashed = frozen and options.get("eq", True) and "__hash__" not in vars(cls)
        _Unbuilt(cls, {**options, "unsafe_hash": hashed})
        return cls


class _Unbuilt:
    """Takes the place of the `__init__` and the fields of a class until one of them is used."""

    def __init__(self, cls: type, options: dict[str, Any]) -> None:
        self._cls, self._options = cls, options

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
        """Build the class. Its `__init__` is replaced last and at once, as another thread may make an
        object meanwhile."""
        cls = self._cls
        with _BUILDING:
            if vars(cls)["__init__"] is not self._first:
                return
            cls.__doc__ = cls.__doc__ or cls.__name__  # or it would be given a signature, which takes long
            dataclasses.dataclass(**self._options, init=False)(cls)
            fields = [(each.name, each.type, copy(each)) for each in dataclasses.fields(cls)]
            space: dict[str, Any] = {"__doc__": cls.__doc__}
            if hasattr(cls, "__post_init__"):
                space["__post_init__"] = cls.__post_init__
            like = dataclasses.make_dataclass(cls.__name__, fields, repr=False, eq=False, namespace=space)
            cls.__init__ = vars(like)["__init__"]  # type: ignore[misc]


_BUILDING = RLock()
"""Held while a class is built. It is reentrant, as building a class also builds its base classes."""
