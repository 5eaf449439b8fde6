"""Changes how Python imports in two cases: pyarrow would import pandas, which is slow, and a broken package would stop
others."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


def let_arrow_find_no_pandas() -> None:
    """Keep pyarrow from importing pandas when this process first imports pyarrow.

    When pyarrow makes its first array, it looks for pandas and imports all of it, which takes 0.9 s and 40 MB. No
    command needs pandas. If someone asks for a pandas frame, pyarrow looks again. Extensions can still import pandas
    themselves.
    """
    if not {"pandas", "pyarrow"} & sys.modules.keys():
        sys.meta_path.insert(0, _Then("pyarrow", _look_without_pandas))


def pass_over_broken_packages() -> None:
    """From now on, make `importlib.metadata` skip lists of entry points that can't be read.

    Otherwise, one broken package would stop Pydantic, Altair and Narwhals, which look for plugins. This function does
    not import `importlib.metadata`.
    """
    name = "importlib.metadata"
    if name in sys.modules:
        _mend(sys.modules[name])
    elif not any(isinstance(finder, _Then) and finder.name == name for finder in sys.meta_path):
        sys.meta_path.insert(0, _Then(name, _mend))


class _Then:
    """An import hook that calls `then` with a module on the module's first import."""

    def __init__(self, name: str, then: Callable[[ModuleType], None]) -> None:
        self.name = name
        self._then = then

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_then(module: ModuleType) -> None:
                execute(module)
                self._then(module)

            spec.loader.exec_module = execute_then  # type: ignore[method-assign]  # of this one import
        return spec


class _NoPandas:
    """An import hook that hides pandas from this thread."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None) -> None:
        if name == "pandas" and self._thread == threading.get_ident():
            raise ModuleNotFoundError("No module named 'pandas'", name=name)


def _look_without_pandas(pyarrow: ModuleType) -> None:
    hidden = _NoPandas()
    sys.meta_path.insert(0, hidden)
    try:
        pyarrow.array(())
    finally:
        sys.meta_path.remove(hidden)


def _mend(metadata: ModuleType) -> None:
    read = metadata.Distribution.entry_points.fget
    if read.__module__ == __name__:
        return

    def entry_points(distribution: object) -> object:
        try:
            return read(distribution)
        except Exception:  # whatever is wrong in it
            return metadata.EntryPoints()

    metadata.Distribution.entry_points = property(entry_points)
