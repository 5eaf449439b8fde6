"""Imports finished sysbench outputs. The measured time is the whole run, and its date is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bench_mariadb.sysbench_output import NotWhole, contradictions, measurement, read_summary
from benchbrief.extend.importers import (
    Options,
    OutputImporter,
    OutputProblem,
    Setting,
    only_file,
    read_lines,
    refuse_contradictions,
    tool_that_wrote,
    whole_run,
)
from benchbrief.extend.tools import Measurement

_SETTINGS = {"Number of threads: ": "threads", "Target transaction rate: ": "target"}


class SysbenchImporter(OutputImporter):
    def read(self, files: Mapping[str, Path], benchmark: str, options: Options) -> Measurement:
        name, path = only_file(files, "sysbench")
        text = read_lines(name, path)
        try:
            found = read_summary(text)
        except NotWhole as error:
            raise OutputProblem(
                name, error.line, f"cut, or none of sysbench: {error}", tool_that_wrote(text)
            ) from error
        refuse_contradictions(name, list(contradictions(found)))
        if not found.count or not found.took:
            raise OutputProblem(name, len(text), "no transaction was done")
        return measurement(found, 0.0, more=(whole_run(),))

    def settings(self, path: Path) -> Mapping[str, Setting]:
        return {
            name: Setting(number, float(line.removeprefix(start).removesuffix("/sec")), line)
            for number, line in enumerate(read_lines(path.name, path), start=1)
            for start, name in _SETTINGS.items()
            if line.startswith(start)
        }
