"""The recorded outputs of our load generators, which are in their folders."""

from __future__ import annotations

from pathlib import Path

from tests.support.tools import REPOSITORY


class _Recorded:
    """Finds a tool's outputs: `RECORDED_OUTPUTS / "ycsb" / "offered-load"`, or with both names in one."""

    def __truediv__(self, name: str) -> Path:
        tool, _, below = name.partition("/")
        return REPOSITORY / "extensions" / "tools" / tool / "outputs" / below


RECORDED_OUTPUTS = _Recorded()
