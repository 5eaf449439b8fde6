"""The recorded outputs of our load generators. They are in the folders of the load generators."""

from __future__ import annotations

from pathlib import Path

from tests.support.tools import REPOSITORY


class _Recorded:
    """Finds the outputs of a tool: `RECORDED_OUTPUTS / "ycsb" / "offered-load"`, or the same with both names in one
    string."""

    def __truediv__(self, name: str) -> Path:
        tool, _, below = name.partition("/")
        return REPOSITORY / "extensions" / "tools" / tool / "outputs" / below


RECORDED_OUTPUTS = _Recorded()
