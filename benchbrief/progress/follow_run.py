"""Following a run of another process, by its journal and by what its controller says of itself in `live.json`."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from benchbrief.dsl.bench_error import ExitCode
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.execution.live_numbers import Live, Reading, read_live
from benchbrief.runners.journal import events as j
from benchbrief.runners.journal.controller_clock import now_in_run
from benchbrief.runners.journal.events import RECORD, ReportMade
from benchbrief.runners.journal.journal_file import JOURNAL, is_being_written, read_whole
from benchbrief.runners.journal.line_sums import START
from benchbrief.runners.plain_files import open_plain

LOOK_S = 0.5
"""How often the journal is looked at."""
_BEGIN_S = 15.0
"""A run whose journal has not begun after this long is one whose controller died before."""
_SURE_S = 1.5
"""A journal that no process has held for this long has no controller: at its start, one may be between two files."""

CODES = {"done": ExitCode.DONE, "failed": ExitCode.CELL_FAILED, "interrupted": ExitCode.INTERRUPTED}
"""What a run ends with, as far as its journal alone can tell: an `expect` is judged after it."""

Phase = Literal["running", "tables", "reports", "ended", "gone"]


class JournalTail:
    """The records of a journal as they are added. A line that is not whole yet is left for the next look."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._chain = START
        self._read = 0
        self._lines = 0

    def new(self) -> list[j.AnyRecord]:
        """Raises RunnerError for a line that is no record."""
        try:
            with open_plain(self._path) as file:
                file.seek(self._read)
                text = file.readall()
        except FileNotFoundError:
            return []
        whole = text[: text.rfind(b"\n") + 1]
        records: list[j.AnyRecord] = []
        for line in whole.splitlines(keepends=True):
            self._lines += 1
            content, self._chain = read_whole(line, self._chain, self._path, self._lines)
            try:
                record = RECORD.validate_json(content)
            except ValueError:
                raise RunnerError(
                    f"{self._path}:{self._lines} is not a journal record",
                    "the file was changed, or is written by a newer benchbrief",
                ) from None
            if not isinstance(record, ReportMade):
                records.append(record)
        self._read += len(whole)
        return records


@dataclass(frozen=True)
class Followed:
    """What one look at a run found: new records, the numbers of the present, and what its controller does.

    `code` is the exit code of the run, once it has ended or its controller has gone.
    """

    records: Sequence[j.AnyRecord]
    readings: Sequence[Reading] = ()
    phase: Phase = "running"
    code: ExitCode | None = None


class Looks(ABC):
    """Looks at a run again and again until it has ended."""

    @abstractmethod
    def look(self) -> Followed:
        """Return what is new since the last look."""

    def looks(self) -> Iterator[Followed]:
        """Yield looks until the run has ended. The first has all earlier records, the last has the exit code."""
        while True:
            found = self.look()
            yield found
            if found.code is not None:
                return
            time.sleep(LOOK_S)


@dataclass
class Follower(Looks):
    run_dir: Path
    _start: j.RunStarted | None = None
    _end: j.RunEnded | None = None
    _driven: bool = False
    _unheld_since: float | None = None
    _tail: JournalTail = field(init=False)

    def __post_init__(self) -> None:
        self._tail = JournalTail(self.run_dir / JOURNAL)

    def look(self) -> Followed:
        # In this order: a controller that lets go of the journal has written all of it before.
        held = is_being_written(self.run_dir)
        live = read_live(self.run_dir)
        records = self._tail.new()
        for record in records:
            if isinstance(record, j.RunStarted):
                self._start, self._end, self._driven = record, None, True
            elif isinstance(record, j.RunEnded):
                self._end = record
        if held:
            self._unheld_since = None
            return Followed(records, live.readings if live is not None else ())
        phase, code = self._unheld(live)
        return Followed(records, (), phase, code)

    def _unheld(self, live: Live | None) -> tuple[Phase, ExitCode | None]:
        """No process holds the journal: the run has ended, its brief is being made, or its controller has gone."""
        if self._end is not None:
            if live is not None and live.at >= self._end.at - 1:
                if live.phase == "ended" and live.exit_code is not None:
                    return "ended", _code(live.exit_code)
                if live.controller_lives(now_in_run(self._start)):
                    return ("tables" if live.phase == "running" else live.phase), None
            return "ended", CODES[self._end.status]
        now = time.monotonic()
        if self._unheld_since is None:
            self._unheld_since = now
        if now - self._unheld_since < (_SURE_S if self._driven else _BEGIN_S):
            return "running", None
        return "gone", ExitCode.INTERRUPTED


def _code(number: int) -> ExitCode:
    try:
        return ExitCode(number)
    except ValueError:
        return ExitCode.CELL_FAILED
