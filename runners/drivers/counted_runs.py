"""Runs tools that take a number of operations but not a time, such as `redis-benchmark -n`.

The job finds the right number by itself. It begins with shorter runs, which measure the rate and serve as the warm-up.
The last run is the one that counts, and takes about as long as the plan says. All these runs share one output, which
states when the last run began and ended.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.message import Message
from benchbrief.model.run_messages import say
from benchbrief.runners.driver_contexts import CellContext
from benchbrief.runners.drivers.output_evidence import bad_output, best_line, timeout_s
from benchbrief.runners.jobs.commands import read_script, with_values
from benchbrief.runners.jobs.tasks import Command, Job, JobFile, JobOutput, Word

COUNT = "@count@"
"""The placeholder for the number of operations in a word of the command."""
_FILE = "counted"
_FEWEST = 100
_FROM = re.compile(r"^measured from (\d{1,12}\.\d{1,3})$", re.MULTILINE)
_RUN = read_script(__file__, "run_counted.sh")


@dataclass(frozen=True)
class CountedRun:
    """The run that counts: how many operations were requested, and its window in epoch seconds by its host's clock.

    `window` is accurate to 10 ms and includes the tool's start. `described` is the sentence about the window that a
    brief prints.
    """

    count: int
    window: tuple[float, float]
    described: Message

    @property
    def seconds(self) -> float:
        return self.window[1] - self.window[0]


def counted_job(
    context: CellContext,
    words: tuple[Word, ...],
    env: Mapping[str, Word] | None = None,
    files: tuple[JobFile, ...] = (),
    collect: tuple[str, ...] = (),
    figures: tuple[str, ...] = (),
) -> Job:
    """Return the measured job, including its warm-up, of a tool whose command `words` contain the placeholder
    `COUNT`."""
    cell = context.cell
    run = with_values(
        _RUN,
        first=str(max(_FEWEST, context.threads)),
        warm_up=f"{max(cell.warm_up_s, min(1.0, cell.measure_s / 4)):.15g}",
        seconds=f"{cell.measure_s:.15g}",
    )
    command = Command(("sh", "-c", run, "sh", *words), env or {})
    return Job("measure", command, timeout_s(cell, "measure"), files, (*collect, _FILE), figures=figures)


def counted_from(text: str) -> float | None:
    """Read from the end of the job's output when the run that counts began, in seconds since boot. Returns None if that
    run has not begun.

    Implements `seams.TellsBeginning`.
    """
    found = _FROM.findall(text)
    return float(found[-1]) if found else None


def counted_run(context: CellContext, output: JobOutput, tool: str) -> CountedRun:
    """Find in the job's output the run that counts. Raises BadOutput if there is no such run."""
    text = ""
    if (path := output.directory / _FILE).exists():
        text = path.read_text(encoding="utf-8", errors="replace")
    match = re.fullmatch(r"(\d{1,15}) (\d{1,12}\.\d{1,3}) (\d{1,12}\.\d{1,3})\n", text)
    if match is None or not 0 < float(match[3]) - float(match[2]) <= output.ended_at - output.started_at + 1:
        raise bad_output(output, say.no_operations(tool=tool, said=best_line(output)))
    lasted = float(match[3]) - float(match[2])
    start = output.ended_at - lasted if output.booted is None else output.booted + float(match[2])
    said = say.window_counted(seconds=f"{context.cell.measure_s:g}")
    return CountedRun(int(match[1]), (start, start + lasted), said)
