"""What is run on a host, as data: commands, jobs with their files, and what they leave. A secret has its own type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

# --- commands are data -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Secret:
    """A word that must never be shown, stored or passed as a process argument where that can be avoided."""

    value: str = field(repr=False)
    name: str = "secret"


Word = str | Secret


@dataclass(frozen=True)
class Command:
    """Words to run as they are: quoting for a shell and masking for people are done by `runners/commands.py`."""

    words: tuple[Word, ...]
    env: Mapping[str, Word] = field(default_factory=dict)
    cwd: str | None = None


@dataclass(frozen=True)
class File:
    """A file to be written into the job's directory before it starts (mode 0600), e.g. a property file with a URI."""

    name: str
    content: tuple[Word, ...]


@dataclass(frozen=True)
class Job:
    """A command run detached on a host, in a directory of its own (its working directory).

    `collect` names files (or globs) in that directory which are fetched beside stdout and stderr.
    `background` jobs (probes, servers) run until they are stopped.

    `key` names the job within its run, for good: who starts it again, be that another controller of the same run, is
    given the one that was started before. A job without one is always a new one.

    A job whose controller has given no sign of life for `unattended_s` ends itself, with its whole group.
    """

    name: str
    command: Command
    timeout_s: float
    files: tuple[File, ...] = ()
    collect: tuple[str, ...] = ()
    background: bool = False
    key: str = ""
    unattended_s: float = 600.0


@dataclass(frozen=True)
class JobOutput:
    """What a finished job left, fetched to the controller: `directory` holds `stdout`, `stderr` and collected files.

    Times are seconds since the epoch by the host's clock. `exit_code` is None when we stopped the job.
    """

    directory: Path
    exit_code: int | None
    started_at: float
    ended_at: float
    host: str

    @property
    def stdout(self) -> Path:
        return self.directory / "stdout"

    @property
    def stderr(self) -> Path:
        return self.directory / "stderr"


@dataclass(frozen=True)
class RunName:
    """Whose jobs these are on a host: `owner` is in the names of what lies there, the same when a run is resumed.

    The rest is for people who find it: the run and its folder, and the machine and process that drove it.
    """

    owner: str = "anyone"
    run: str = ""
    folder: str = ""
    controller: str = ""
    pid: int = 0


@dataclass(frozen=True)
class Completed:
    """The result of a short command."""

    exit_code: int
    stdout: str
    stderr: str
    seconds: float
