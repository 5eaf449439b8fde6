"""What is kept of an import in a cell's folder, beside the files: how they are read, also when tables are rebuilt."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from benchbrief.results.errors import ResultsError

MANIFEST = "import.json"
TABLE = "table"
SOURCE = "source"
"""The job that stands for the file which a cell's numbers are from, where many cells share one."""


class CellValue(BaseModel):
    """A published number of a cell, in base units. `measure` is a name of the language (`latency.p99`); `line` is the
    line of the table. `node` is the host of a sample; `operation` "" is all of them together."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    measure: str
    operation: str = ""
    phase: int | None = None
    node: str = ""
    value: float
    line: int


class Manifest(BaseModel):
    """`kind` says how the files are read; `names` are the files' own names, `experiment` is the one that a table's rows
    are of where they do not say it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: str
    experiment: str = ""
    names: dict[str, str] = {}
    unit_s: float = 1e-6
    """The unit of the values in HDR logs."""
    remark: str = ""
    """Why something that could be known of it is not."""


def read_manifest(directory: Path, made_by: str) -> Manifest:
    """`made_by` is the version of benchbrief that kept it. Raises ResultsError when it can't be read."""
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
