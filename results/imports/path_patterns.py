"""Coordinates from a file's path: `out/{hardware}/{workload}-t{threads}.txt`, with `*` for other parts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.results.imports.cell_matching import Coordinates, NoPlace, Places
from benchbrief.results.store_errors import ResultsError

CELL = ("experiment", "hardware", "workload", "threads", "target", "repeat")
NAMES = (*CELL, "host", "operation", "node", "probe")
_PART = re.compile(r"\{([^{}]*)\}|\*")


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern that matches a path's end from a full name on. Raises ResultsError for unknown or repeated
    names."""
    made, at, seen = "", 0, set()
    for match in _PART.finditer(pattern):
        made += re.escape(pattern[at : match.start()])
        at = match.end()
        name = match[1]
        if name is None:
            made += "[^/]*"
            continue
        if name not in NAMES:
            guess = did_you_mean(name, NAMES)
            raise ResultsError(
                f"`{{{name}}}` in --as is no coordinate",
                f"did you mean {{{guess}}}?" if guess else f"these are {', '.join(NAMES)}",
            )
        number = name in ("threads", "repeat")
        made += f"(?P={name})" if name in seen else f"(?P<{name}>{'[0-9]+' if number else '[^/]+?'})"
        seen.add(name)
    return re.compile(f"(?:.*/)?{made}{re.escape(pattern[at:])}")


def as_glob(pattern: str) -> str:
    """Convert a pattern to a glob that finds its files."""
    return _PART.sub("*", pattern)


def given_cell(text: str) -> dict[str, str]:
    """Parse `hardware=nvme,workload=a,threads=48`. Raises ResultsError."""
    values: dict[str, str] = {}
    # A workload may be `load(f)`, but no name has a comma.
    for part in text.split(",") if text else ():
        name, equals, value = part.partition("=")
        if not equals or name.strip() not in NAMES:
            guess = did_you_mean(name.strip(), NAMES)
            hint = f"did you mean {guess}=...?" if guess else f"these are {', '.join(NAMES)}"
            raise ResultsError(f"`{part}` in --cell is not NAME=VALUE of a coordinate", hint)
        values[name.strip()] = value.strip()
    return values


def read_coordinates(path: Path, pattern: re.Pattern[str] | None, given: Mapping[str, str]) -> dict[str, str] | None:
    """Return what a path and the command line say; None when the path does not fit the pattern."""
    match = pattern.fullmatch(path.as_posix()) if pattern else None
    if pattern and match is None:
        return None
    return {**(match.groupdict() if match else {}), **given}


def coordinates(values: Mapping[str, str], places: Places, experiment: str) -> Coordinates:
    """Convert texts to coordinates. Raises NoPlace for a name that the plan lacks, and for a bad number."""
    at = Coordinates(experiment=experiment)
    for name, text in values.items():
        match name:
            case "hardware":
                at = replace(at, hardware=places.hardware(text))
            case "workload":
                at = replace(at, workload=places.workload(text))
            case "experiment":
                at = replace(at, experiment=places.experiment(text))
            case "threads":
                at = replace(at, threads=_whole(name, text))
            case "repeat":
                at = replace(at, repeat=_whole(name, text))
            case "target":
                at = replace(at, target=_number(name, text, r"\d{1,18}(\.\d+)?([eE]\d{1,2})?"))
    return at


def _whole(name: str, text: str) -> int:
    """Parse a whole number. Raises NoPlace."""
    _number(name, text, r"\d{1,9}")
    return int(text)


def _number(name: str, text: str, form: str) -> float:
    """Parse a number. Raises NoPlace."""
    if re.fullmatch(form, text) is None:
        hint = "as in 8" if name != "target" else "operations a second, as in 20000"
        raise NoPlace(f"{name} is a number, and not `{text}`", f"write it without a unit, {hint}")
    return float(text)
