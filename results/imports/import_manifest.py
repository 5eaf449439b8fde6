"""What a cell's folder keeps of an import beside the files: how to read them, also when tables are rebuilt."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from benchbrief.results.store_errors import ResultsError

MANIFEST = "import.json"
_UNITS: Mapping[object, str] = {1e-9: "ns", 1e-6: "us", 1e-3: "ms"}


class CellValue(BaseModel):
    """A published number of a cell, in base units. `measure` is a name of the language (`latency.p99`).

    `line` is the line of the table. `node` is the host of a sample. `operation` "" means all together.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    measure: str
    operation: str = ""
    phase: int | None = None
    node: str = ""
    value: float
    line: int


class Manifest(BaseModel):
    """How to read a cell's files. `kind` is the reader, and `names` are the files' own names.

    `experiment` is that of a table's rows that do not name one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: str
    experiment: str = ""
    names: dict[str, str] = {}
    options: dict[str, str | float | bool] = {}
    """Those of the importer that were given, by their names."""
    remark: str = ""
    """Why something that could be known is missing."""

    @model_validator(mode="before")
    @classmethod
    def _with_options(cls, given: dict[str, object]) -> dict[str, object]:
        """Imports of earlier versions keep the unit of HDR logs in seconds."""
        known = dict(given)
        if "unit_s" in known:
            known["options"] = {"unit": _UNITS.get(known.pop("unit_s"), "us")}
        return known


def read_manifest(directory: Path, made_by: str) -> Manifest:
    """Read a manifest. `made_by` is the version of benchbrief that wrote it. Raises ResultsError when it can't be
    read."""
    path = directory / MANIFEST
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except ValidationError as error:
        if any(found["type"] == "json_invalid" for found in error.errors()):
            raise _unreadable(path) from error
        what = f"{path} is of an import by another benchbrief, {made_by}, which this one can't read"
        raise ResultsError(what, "import the files again") from error
    except OSError as error:
        raise _unreadable(path) from error


def _unreadable(path: Path) -> ResultsError:
    return ResultsError(f"{path} does not say what was imported", "import the files again")
