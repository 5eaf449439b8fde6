"""Regular expressions that are compiled at their first use, since a run of `bench` uses only a few of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    compile_late = re.compile
else:

    class compile_late:  # noqa: N801
        """A pattern that behaves like Python's own. It is compiled when one of its methods is first used."""

        def __init__(self, pattern, flags=0):
            self._said = pattern, flags

        def __getattr__(self, name):
            found = self.__dict__[name] = getattr(re.compile(*self._said), name)
            return found
