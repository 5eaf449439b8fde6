"""Replaces texts in a stored run with texts that an earlier version, without checksums in its journal, could have
written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

NAMES = ("label", "title", "subtitle", "author", "reason", "text", "message", "detail", "stand_in", "note", "value")
"""The keys of names, reasons and prose."""


def change_texts(run_dir: Path, change: Callable[[str], str]) -> None:
    """Change each name, reason and prose in the run's plan and journal. Both remain valid."""
    plan, journal = run_dir / "plan.json", run_dir / "journal.jsonl"
    before = plan.read_bytes()
    after = json.dumps(_changed(json.loads(before), "", change)).encode()
    digests = hashlib.sha256(before).hexdigest(), hashlib.sha256(after).hexdigest()
    plan.write_bytes(after)
    records = []
    for line in journal.read_bytes().splitlines():
        record = _changed(json.loads(line), "", change)
        record.pop("sum", None)
        records.append(json.dumps(record).replace(*digests))
    journal.write_text("".join(f"{record}\n" for record in records), "utf-8")


def _changed(value: Any, key: str, change: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {name: _changed(inner, name, change) for name, inner in value.items()}
    if isinstance(value, list):
        return [_changed(inner, key, change) for inner in value]
    return change(value) if isinstance(value, str) and value and key in NAMES else value
