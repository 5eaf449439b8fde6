"""Runs the installed `bench` as a user would, with its own folder and home."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbrief.model.message import from_data
from tests.support.waiting import until
from tests.support.warm import Forked, starts_alike, warm
from tests.support.wrapped import PROGRAMS

PROGRAM = Path(sys.executable).with_name("bench")
_MARK = "BENCHBRIEF_TEST"
_ANSI = re.compile(r"\x1b\[")


@dataclass(frozen=True)
class Ended:
    """The result of a command: its exit code and its output."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def text(self) -> str:
        return self.out + self.err

    def plainly(self) -> Ended:
        """Return the result. Checks that it shows no traceback, no colours, and no bug of ours."""
        assert "Traceback" not in self.text, self.text
        assert "internal error: " not in self.err, self.text
        assert not _ANSI.search(self.text), self.text
        return self


def records_of(run_dir: Path) -> list[dict[str, Any]]:
    """Return the complete records of a run's journal. The sentences in them are written out in English."""
    lines = (run_dir / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    return [in_words(json.loads(line)) for line in lines if line.endswith("}")]


def pages_of(run_dir: Path) -> str:
    """Return the pages of a run's only brief and of its disclosure, in that order."""
    pages = sorted(run_dir.glob("reports/*.html"), key=lambda page: len(page.name))
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


def in_words(kept: Any) -> Any:
    """Return a record with sentences written out in English. In a journal, a sentence is a code with arguments."""
    if isinstance(kept, dict):
        return (
            from_data(kept) if {"code", "args"} <= kept.keys() else {key: in_words(each) for key, each in kept.items()}
        )
    return [in_words(each) for each in kept] if isinstance(kept, list) else kept


class Bench:
    """`bench` with its working directory. Everything that it starts carries a mark of ours, however detached it is."""

    def __init__(self, folder: Path, **env: str) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.tmp = folder / "tmp"
        self.data = folder / "data"
        self.tool = "db_bench"
        self.paper = True
        """Whether PDFs are drawn. Otherwise, they have only a line of text, which is enough for tests that do not look
        at them."""
        for each in (self.home, self.tmp):
            each.mkdir(parents=True, exist_ok=True)
        self.mark = uuid.uuid4().hex
        self.env = {
            "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
            "BENCHBRIEF_TOOLS": str(PROGRAMS),
            "JAVA_OPTS": os.environ.get("JAVA_OPTS", ""),
            "BENCH_STRICT": os.environ.get("BENCH_STRICT", ""),
            "LANG": "C.UTF-8",
            "HOME": str(self.home),
            "TMPDIR": str(self.tmp),
            _MARK: self.mark,
            **env,
        }

    def __call__(
        self, *words: str | Path, timeout: float = 120, env: Mapping[str, str] | None = None, before: str = ""
    ) -> Ended:
        """Run a command to its end. `before` is Python code that the command's process runs first."""
        typed, its = [str(word) for word in words], {**self.env, **(env or {})}
        if starts_alike(env or {}):
            done = warm().run(typed, self.folder, its, timeout, paper=self.paper, before=before)
        else:
            assert not before
            done = subprocess.run(
                [PROGRAM, *typed],
                cwd=self.folder,
                env=its,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=timeout,
                check=False,
            )
        return Ended(done.returncode, done.stdout.decode(), done.stderr.decode()).plainly()

    @contextmanager
    def started(
        self,
        *words: str | Path,
        env: Mapping[str, str] | None = None,
        stays: bool = False,
        anew: bool = False,
        before: str = "",
    ) -> Iterator[Started]:
        """Yield a command that runs during the block. At the end, it is killed and, unless `stays` is set, everything
        that it has started.

        With `anew`, the command is the installed program, with its own Python and memory. `before` is Python code that
        the process runs first.
        """
        name = uuid.uuid4().hex
        typed, its = [str(word) for word in words], {**self.env, **(env or {})}
        with (self.folder / f"{name}.out").open("wb") as out, (self.folder / f"{name}.err").open("wb") as err:
            process: subprocess.Popen[bytes] | Forked
            if anew or not starts_alike(env or {}):
                process = subprocess.Popen(
                    [PROGRAM, *typed], cwd=self.folder, env=its, stdin=subprocess.DEVNULL, stdout=out, stderr=err
                )
            else:
                process = warm().start(
                    typed, self.folder, its, out.fileno(), err.fileno(), paper=self.paper, before=before
                )
            try:
                yield Started(process, Path(out.name), Path(err.name))
            finally:
                if process.poll() is None:
                    process.kill()
                    process.wait()
                if not stays:
                    self.end_strays()

    def at_full_speed(self) -> None:
        """From now on, let the tools run at full speed, which a search for a knee needs."""
        self.env["FULL_SPEED"] = "1"

    def spec(self, text: str, name: str = "brief.bench", **values: object) -> Path:
        """Write a spec with each `@NAME@` replaced by a value. @DATA@ is a folder for the databases, and @TOOL@ is
        `self.tool`."""
        for key, value in {"DATA": self.data, "TOOL": self.tool, **values}.items():
            text = text.replace(f"@{key}@", str(value))
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def run_dirs(self) -> list[Path]:
        return sorted(path.parent for path in (self.folder / "bench-out").glob("*/plan.json"))

    @property
    def run_dir(self) -> Path:
        """Return the folder of the only run."""
        (found,) = self.run_dirs()
        return found

    def page(self) -> str:
        """Render the last run's only brief and its disclosure as HTML, and return their pages. If the run had
        `--no-report`, no PDFs are drawn at all."""
        made = self("report", "--html-only")
        assert made.code == 0, made.text
        return pages_of(max(self.run_dirs(), key=lambda run: run.name))

    def journal(self, kind: str | None = None) -> list[dict[str, Any]]:
        """Return the complete records of the only run's journal. The sentences in them are written out in English."""
        return [record for record in records_of(self.run_dir) if kind in (None, record["type"])]

    def verdicts(self) -> dict[str, tuple[str, int]]:
        """Return the last verdict on each cell, with its attempt."""
        return {record["cell"]: (record["status"], record["attempt"]) for record in self.journal("cell_ended")}

    def strays(self) -> dict[int, str]:
        """Return processes that `bench` started and that are still running, by pid."""
        mark = f"{_MARK}={self.mark}".encode()
        found = {}
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (path / "environ").read_bytes().split(b"\0"):
                    found[int(path.name)] = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
            except OSError:  # it has ended, or is not ours to look at
                continue
        return found

    def processes(self, name: str) -> list[int]:
        """Return the pids of those processes whose program has this name."""
        return [pid for pid, line in self.strays().items() if line.split(" ")[0].rpartition("/")[2] == name]

    def end_strays(self) -> None:
        while strays := self.strays():  # one may start another meanwhile
            for pid in strays:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


@contextmanager
def fresh_bench(folder: Path, *, paper: bool = False) -> Iterator[Bench]:
    """Yield a new `bench` for a test. It draws PDFs only with `paper`.

    The test fails if anything that it started is still running at the end.
    """
    bench = Bench(folder)
    bench.paper = paper
    yield bench
    left = bench.strays()
    bench.end_strays()
    assert not left, f"left behind: {left}"


@dataclass(frozen=True)
class Started:
    """A running command. `out` and `err` are files with its output so far."""

    process: subprocess.Popen[bytes] | Forked
    out: Path
    err: Path

    def until_it_says(self, text: str, within_s: float = 120) -> None:
        """Wait for a text on standard error, which shows the progress."""
        until(lambda: text in self._so_far().err or self.process.poll() is not None, within_s)
        assert text in self._so_far().err, self._so_far()

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def wait(self, timeout: float = 120) -> Ended:
        self.process.wait(timeout)
        return self._so_far().plainly()

    def _so_far(self) -> Ended:
        code = self.process.returncode if self.process.returncode is not None else -1
        return Ended(code, self.out.read_text(encoding="utf-8"), self.err.read_text(encoding="utf-8"))
