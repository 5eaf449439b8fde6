"""Commands, jobs with their files, and their outputs, as data. Secrets have their own type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.runners.journal.secret_masking import Secret

if TYPE_CHECKING:
    from benchbrief.model.events import JobCollected

# --- commands are data -------------------------------------------------------------------------------------------


Word = str | Secret
"""A word of a command line. A secret one is masked wherever the command is shown."""


@dataclass(frozen=True)
class Command:
    """Words to run exactly as they are. `runners/jobs/commands.py` quotes them for a shell and masks them for
    people."""

    words: tuple[Word, ...]
    env: Mapping[str, Word] = field(default_factory=dict)
    cwd: str | None = None


@dataclass(frozen=True)
class JobFile:
    """A file that is written into the job's directory before the job starts, such as a property file with a URI. Its
    mode is 0600."""

    name: str
    content: tuple[Word, ...]


@dataclass(frozen=True)
class Job:
    """A command that runs detached on a host, in its own working directory.

    `collect` names files (or globs) in that directory that are fetched in addition to stdout and stderr. `background`
    jobs (probes, servers) run until they are stopped.

    `key` identifies the job within its run. Starting a key again, even from another controller of the same run,
    attaches to the job that was started before. A job without a key is always new.

    A job whose controller shows no sign of life for `unattended_s` ends itself and its whole group.

    `figures` are POSIX extended regular expressions that match whole lines with the tool's measured numbers. No secret
    is masked in those lines.
    """

    name: str
    command: Command
    timeout_s: float
    files: tuple[JobFile, ...] = ()
    collect: tuple[str, ...] = ()
    background: bool = False
    key: str = ""
    unattended_s: float = 600.0
    figures: tuple[str, ...] = ()


@dataclass(frozen=True)
class JobOutput:
    """The outputs of a finished job, fetched to the controller. `directory` holds `stdout`, `stderr` and collected
    files.

    Times are epoch seconds by the host's clock. The end is the start plus the elapsed time since boot. `exit_code` is
    None if we stopped the job. `clock_set_s` is by how much the clock was set during the job, or 0 if it was not.
    `booted` is when the host started, in epoch seconds by its clock at the job's start. `other_cores` is how many cores
    were busy with other work, on average. The last three are None if unknown.
    """

    directory: Path
    exit_code: int | None
    started_at: float
    ended_at: float
    host: str
    clock_set_s: float | None = None
    booted: float | None = None
    other_cores: float | None = None

    @classmethod
    def of(cls, job: JobCollected, run_dir: Path) -> JobOutput:
        """Return the output of a job that a run has collected, from the job's record in the journal."""
        times = job.started_at, job.ended_at
        clock = job.clock_set_s, job.booted
        return cls(run_dir / job.directory, job.exit_code, *times, job.host, *clock, job.other_cores)

    @property
    def stdout(self) -> Path:
        return self.directory / "stdout"

    @property
    def stderr(self) -> Path:
        return self.directory / "stderr"


@dataclass(frozen=True)
class Completed:
    """The result of a short command: its exit code, its output, and how many seconds it took."""

    exit_code: int
    stdout: str
    stderr: str
    seconds: float
