"""The examples that need no other package."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(path for path in FOLDER.rglob("*.bench") if "extensions" not in path.relative_to(FOLDER).parts)
