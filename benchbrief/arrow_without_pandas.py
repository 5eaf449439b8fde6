"""pyarrow looks for pandas as soon as it makes an array, and imports all of it: 0.9 s, 40 MB.

No command needs it. So pyarrow's first look finds none. It looks again when someone asks for a pandas frame, and an
extension that imports pandas itself gets it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


def let_arrow_find_no_pandas() -> None:
    """From now on, keep the first import of pyarrow in this process from importing pandas."""
    if not {"pandas", "pyarrow"} & sys.modules.keys():
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Finds pyarrow as Python does, and hides pandas from it, once."""

    def __init__(self) -> None:
        self._looking: int | None = None
        """The thread in which pyarrow looks."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == "pandas" and self._looking == threading.get_ident():
            raise ModuleNotFoundError("No module named 'pandas'", name=name)
        if name != "pyarrow" or self._looking is not None:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_look(module: ModuleType) -> None:
                execute(module)
                self._look(module)

            spec.loader.exec_module = execute_and_look  # type: ignore[method-assign]  # of this one import
        return spec

    def _look(self, pyarrow: ModuleType) -> None:
        self._looking = threading.get_ident()
        try:
            pyarrow.array(())
        finally:
            sys.meta_path.remove(self)
