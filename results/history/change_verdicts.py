"""Verdicts of people on changes, in a file that is kept in git: `bench-verdicts.toml`.

[[change]]
run = "20260301-020000-nightly"    # the first run after the change
quantity = "throughput"
at = { hardware = "nvme" }         # all points that have these keys
verdict = "accept"                 # or "bug", or "noise"
note = "the new compaction trades throughput for tail latency"
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from benchbrief.results.history.read_series import Measured, Series
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.journal.atomic_files import write_durably

VERDICTS = "bench-verdicts.toml"
Verdict = Literal["accept", "bug", "noise"]
_NEAR = 2
"""Runs: later ones may move a change that far from where it was when the verdict was written."""
_HEAD = "# What people say of changes in the results: accept, bug or noise. `bench gate --accept` adds to it.\n"


class ChangeVerdict(BaseModel):
    """A verdict on a change whose first run is `run`, at all points that have the keys of `at`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    run: str
    quantity: str
    at: dict[str, str | int | float] = Field(default_factory=dict)
    verdict: Verdict
    note: str = ""

    def is_on(self, series: Series) -> bool:
        """Return whether it is on a change of this series, whichever."""
        return self.quantity == series.quantity and all(series.point.get(dim) == key for dim, key in self.at.items())

    def is_near(self, values: Sequence[Measured], index: int) -> bool:
        """Return whether it is on the change before the value at `index`."""
        return any(each.run_id == self.run for each in values[max(0, index - _NEAR) : index + _NEAR + 1])


def read_verdicts(path: Path) -> tuple[ChangeVerdict, ...]:
    """Return the verdicts of a file; none when it is not there. Raises ResultsError for a wrong one."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise ResultsError(f"{path} can't be read: {error.strerror}", "check its permissions") from error
    except ValueError as error:
        raise ResultsError(f"{path} is no TOML: {error}", "mend it, or take it back from git") from error
    strange = ", ".join(name for name in content if name != "change")
    changes = content.get("change", [])
    if strange or not isinstance(changes, list):
        raise ResultsError(f"{path} has {strange or 'a wrong `change`'}", "each verdict is a table [[change]]")
    found = []
    for place, change in enumerate(changes, 1):
        try:
            found.append(ChangeVerdict.model_validate(change))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise ResultsError(
                f"{path}: [[change]] number {place}: {where or 'it'}: {first['msg']}",
                'it has run, quantity, verdict ("accept", "bug" or "noise"), and may have at and note',
            ) from error
    return tuple(found)


def add_verdicts(path: Path, verdicts: Sequence[ChangeVerdict]) -> None:
    """Add verdicts at the end of the file. What is there stays as it is. Raises ResultsError."""
    read_verdicts(path)
    try:
        there = path.read_text(encoding="utf-8") if path.exists() else _HEAD
        text = there + "".join(_text(each) for each in verdicts)
        write_durably(path, text.encode("utf-8"))
    except OSError as error:
        raise ResultsError(f"{path} can't be written: {error.strerror}", "name another file: --verdicts") from error


def _text(verdict: ChangeVerdict) -> str:
    at = ", ".join(f"{_toml(dim)} = {_toml(key)}" for dim, key in sorted(verdict.at.items()))
    note = f"note = {_toml(verdict.note)}\n" if verdict.note else ""
    return (
        f"\n[[change]]\nrun = {_toml(verdict.run)}\nquantity = {_toml(verdict.quantity)}\nat = {{ {at} }}\n"
        f"verdict = {_toml(verdict.verdict)}\n{note}"
    )


def _toml(value: str | float) -> str:
    """Return a value as TOML. Its basic strings have the escapes of JSON, and must escape DEL, too."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def verdict_on(
    verdicts: Sequence[ChangeVerdict], series: Series, values: Sequence[Measured], index: int
) -> ChangeVerdict | None:
    """Return the last verdict on a change; None when there is none."""
    return next((each for each in reversed(verdicts) if each.is_on(series) and each.is_near(values, index)), None)
