"""Python stops all who look for plugins when one installed package has metadata that can't be read.

Pydantic, Altair and Narwhals look for some. So a package whose list of entry points is broken has none.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_READER = "importlib.metadata"


def pass_over_broken_packages() -> None:
    """From now on, let `importlib.metadata` pass over broken lists of entry points. It is not imported for this."""
    if _READER in sys.modules:
        _mend(sys.modules[_READER])
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Finds `importlib.metadata` as Python does, and mends it, once."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != _READER:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_mend(module: ModuleType) -> None:
                execute(module)
                _mend(module)

            spec.loader.exec_module = execute_and_mend  # type: ignore[method-assign]  # of this one import
        return spec


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
