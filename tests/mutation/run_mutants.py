"""Applies each mutant to a copy of the working tree, and runs the tests that should fail."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from tempfile import TemporaryDirectory
from typing import Literal, TypeVar

from tests.mutation.mutants import Mutant, Stale, mutated_source

REQUIRED = 0.95
"""The least share of the mutants, not counting equivalent ones, that the tests must kill."""
_LINKED = (".tools", ".venv")
"""Parts of the tree that the tests need but do not change. They are linked instead of copied."""
_SLOWER = 6
_AT_LEAST_S = 40.0
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
_T = TypeVar("_T")

State = Literal["killed", "survived", "equivalent", "no longer applies", "tests fail"]
"""The state of a mutant. `tests fail` means that its tests fail even without the mutant, so that they prove nothing."""


@dataclass(frozen=True)
class Result:
    """The outcome of a mutant. `detail` is the failed test, or the problem."""

    mutant: Mutant
    state: State
    seconds: float = 0.0
    detail: str = ""


@dataclass(frozen=True)
class Ran:
    """A run of tests. `output` is the end of its output. Tests that exceed the time limit count as not passed."""

    passed: bool
    seconds: float
    output: str


def score(results: Sequence[Result]) -> float:
    """Return which share of the mutants was killed, not counting equivalent ones, or 1 if there are none."""
    counted = [each for each in results if each.state != "equivalent"]
    return sum(each.state == "killed" for each in counted) / len(counted) if counted else 1.0


def passes(results: Sequence[Result]) -> bool:
    """Return whether enough mutants were killed, and all of them could be tried."""
    tried = all(each.state not in ("no longer applies", "tests fail") for each in results)
    return tried and score(results) >= REQUIRED


def run_mutants(
    root: Path, mutants: Sequence[Mutant], jobs: int, tell: Callable[[Result], None] = lambda _: None
) -> list[Result]:
    """Try the mutants in this many copies of the tree at `root`. Returns the results in the order of the list.

    The tests of each mutant first run without it. They must pass, and the time that they take determines the limit.
    """
    found = {each.name: Result(each, "equivalent", detail=each.equivalent) for each in mutants if each.equivalent}
    wanted = [each for each in mutants if not each.equivalent]
    with copies(root, jobs) as free, ThreadPoolExecutor(jobs) as pool:
        sets = list(dict.fromkeys(each.tests for each in wanted))
        ran = list(pool.map(lambda tests: _with(free, lambda copy: copy.run(tests)), sets))
        unchanged = dict(zip(sets, ran, strict=True))
        started = [pool.submit(_judge, free, each, unchanged[each.tests]) for each in wanted]
        try:
            for done in as_completed(started):
                result = done.result()
                found[result.mutant.name] = result
                tell(result)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    return [found[each.name] for each in mutants]


@contextmanager
def copies(root: Path, number: int) -> Iterator[Queue[Copy]]:
    """Make copies of a working tree, including uncommitted changes. Remove the copies at the end."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=True,
    )
    names = [Path(os.fsdecode(name)) for name in listed.stdout.split(b"\0") if name]
    free: Queue[Copy] = Queue()
    with TemporaryDirectory(prefix="mutants-") as folder:
        for place in range(number):
            to = Path(folder) / str(place)
            for name in names:
                if os.path.lexists(root / name):
                    (to / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(root / name, to / name, follow_symlinks=False)
            for name in map(Path, _LINKED):
                if (root / name).exists():
                    (to / name).symlink_to((root / name).resolve())
            free.put(Copy(to))
        yield free


class Copy:
    """A copy of the tree for trying one mutant at a time."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._written = time.time()

    def run(self, tests: Sequence[str], limit_s: float = 900.0) -> Ran:
        """Run tests on the modules of the copy. Stop at the first failure, and end the tests at the limit."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        env = os.environ | {"PYTHONPATH": str(self.root / "src")}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        began = time.monotonic()
        with subprocess.Popen(
            command,
            cwd=self.root,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as process:
            try:
                output, _ = process.communicate(timeout=limit_s)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return Ran(False, time.monotonic() - began, f"no end within {limit_s:.0f} s")
        return Ran(process.returncode == 0, time.monotonic() - began, output[-4000:])

    def try_mutant(self, mutant: Mutant, limit_s: float) -> Ran:
        """Run a mutant's tests with its change made. Restore the module afterwards. Raises Stale."""
        changed = mutated_source(self.root, mutant)
        try:
            compile(changed, mutant.file, "exec", dont_inherit=True)
        except SyntaxError as error:  # every test would fail, and none for its mistake
            raise Stale(f"{mutant.name} is no Python any more: {error}") from error
        path = self.root / mutant.file
        original = path.read_text(encoding="utf-8")
        try:
            self._write(path, changed)
            return self.run(mutant.tests, limit_s)
        finally:
            self._write(path, original)

    def _write(self, path: Path, text: str) -> None:
        """Write a module with a time stamp in a later second. Python compares a module with its bytecode only to the
        second, so it might otherwise run the old code."""
        self._written += 2
        path.write_text(text, encoding="utf-8")
        os.utime(path, (self._written, self._written))


def _judge(free: Queue[Copy], mutant: Mutant, unchanged: Ran) -> Result:
    if not unchanged.passed:
        return Result(mutant, "tests fail", unchanged.seconds, unchanged.output.strip()[-1000:])
    try:
        limit_s = max(_AT_LEAST_S, _SLOWER * unchanged.seconds)
        ran = _with(free, lambda copy: copy.try_mutant(mutant, limit_s))
    except Stale as error:
        return Result(mutant, "no longer applies", detail=str(error))
    failed = _FAILED.search(ran.output)
    return Result(
        mutant,
        "survived" if ran.passed else "killed",
        ran.seconds,
        "" if ran.passed else failed[1] if failed else ran.output.strip()[-200:],
    )


def _with(free: Queue[Copy], use: Callable[[Copy], _T]) -> _T:
    copy = free.get()
    try:
        return use(copy)
    finally:
        free.put(copy)
