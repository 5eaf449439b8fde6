"""Tries snapshots for real, on a small file system that the extension's `trial.sh` makes in a file.

`trial.sh` is in the same folder as `snapshots.sh`, and can call its functions. Its `$1` is the directory that snapshots
are taken of. This directory is below a folder of the trial, `${real%/*/*}`, where `trial.sh` may keep its files.

| function | what it does |
| --- | --- |
| `place` | makes the file system, so that the directory can be opened; or exits with 1 and prints what is missing |
| `theirs` | makes something that is not ours, in the place of the open directory's snapshot |
| `theirs_stay` | succeeds if that thing is still there |
| `away` | removes the file system |
"""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from select import select
from threading import Timer
from time import sleep

from benchbrief.runners.engines.data_directories import LIST, MARKER
from benchbrief.runners.engines.file_system_snapshots import FileSystemSnapshots
from benchbrief.runners.jobs.commands import read_script

FILE = "trial.sh"
_STEP_S = 120.0
_MOST_KILLS = 20
_TRIES_AWAY = 5


class Unmade(Exception):  # no `Error` suffix, as it is not an error
    """Raised with the reason why such a file system can't be made here."""


class TrialPlace:
    """A directory, and the scripts for the file system that contains it."""

    def __init__(self, name: str, path: Path) -> None:
        """Raises Unmade if the extension has no `trial.sh`."""
        self.snapshots, self.path = FileSystemSnapshots(name), path
        with as_file(files(self.snapshots.spec.implementation) / FILE) as script:
            if not script.is_file():
                raise Unmade(f"its folder has no {FILE}, which makes a place to try it on")
            self._trial = read_script(str(script), FILE)

    def step(self, name: str) -> str:
        """Run a step of the snapshots' script. Returns why it was refused, or ""."""
        return self._run(self.snapshots.step(name))

    def call(self, function: str) -> str:
        """Call a function of `trial.sh`. If the function fails, return its output, or else ""."""
        return self._run(self.snapshots.calling(f"{self._trial}{function}\n"))

    def _run(self, script: str) -> str:
        with subprocess.Popen(
            _command(script, self.path),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as running:
            try:
                said, _ = running.communicate(timeout=_STEP_S)
            except subprocess.TimeoutExpired:
                os.killpg(running.pid, signal.SIGKILL)
                return f"it did not end within {_STEP_S:.0f} s"
        said = said.strip() or f"it said nothing, and ended with {running.returncode}"
        return " ".join(said.split()) if running.returncode else ""

    def load(self) -> str:
        """Put a small data set into the open directory. Always returns "", like a step that succeeds."""
        (self.path / "part").mkdir(exist_ok=True)
        for name in (MARKER, "CURRENT", "1.data", "part/2.data"):
            (self.path / name).write_bytes(b"" if name == MARKER else os.urandom(100_000))
        return ""

    def change(self) -> str:
        """Remove, overwrite and add files. Always returns "", like a step that succeeds."""
        (self.path / "CURRENT").unlink(missing_ok=True)
        (self.path / "1.data").write_bytes(os.urandom(50_000))
        (self.path / "added").write_bytes(os.urandom(50_000))
        return ""

    def digests(self) -> Mapping[str, str]:
        """Return the digest of each file, by its path."""
        found = (path for path in self.path.rglob("*") if path.is_file() and path.name != LIST)
        return {str(path.relative_to(self.path)): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}

    def commands(self, name: str) -> int:
        """Run a step. Returns how many commands its shell began."""
        command = _command(self.snapshots.step(name), self.path, "-x")
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=_STEP_S, check=False)
        return len(done.stderr.splitlines())

    def kill_at(self, name: str, number: int) -> None:
        """Start a step. Kill it, with everything that it started, when its shell begins the command with this
        number."""
        ended, inherited = os.pipe()
        running = subprocess.Popen(
            _command(self.snapshots.step(name), self.path, "-x"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=(inherited,),
        )
        os.close(inherited)
        late = Timer(_STEP_S, os.killpg, (running.pid, signal.SIGKILL))
        late.start()
        with running, os.fdopen(ended, "rb") as all_have_ended:
            for count, _ in enumerate(running.stderr or (), 1):
                if count == number:
                    os.killpg(running.pid, signal.SIGKILL)
            select([all_have_ended], [], [], _STEP_S)
        late.cancel()


def _command(script: str, path: Path, *options: str) -> tuple[str, ...]:
    return ("sh", *options, "-c", script, "sh", str(path))


@contextmanager
def trial_place(name: str, folder: Path) -> Iterator[TrialPlace]:
    """Make a small file system with an open directory, and remove it at the end. Raises Unmade."""
    made = TrialPlace(name, folder / "at" / "db")
    try:
        if why := made.call("place"):
            raise Unmade(why)
        if why := made.step("open"):
            raise Unmade(f"its own place can't be opened: {why}")
        yield made
    finally:
        for _ in range(_TRIES_AWAY):
            if not (why := made.call("away")):
                break
            sleep(1)  # what was killed a moment ago may still have it open
        else:
            raise RuntimeError(f"its trial can't take its file system away from {folder}: {why}")


def try_promises(name: str, folder: Path) -> str:
    """Test each promise on a new file system in `folder`. Returns the first promise that is broken, or "". Raises
    Unmade."""
    for number, promise in enumerate(PROMISES):
        room = folder / str(number)
        room.mkdir()
        with trial_place(name, room) as place:
            if wrong := promise(place):
                return wrong
    return ""


def data_come_back(place: TrialPlace) -> str:
    """Take a snapshot, change everything, and restore the data twice. Then do the same with a snapshot of other
    data."""
    for _ in range(2):
        wrong = place.load() or place.step("take")
        before = place.digests()
        for _ in range(2):
            wrong = wrong or place.change() or place.step("restore") or _differs(place, before)
        if wrong:
            return wrong
    return ""


def removed_is_gone(place: TrialPlace) -> str:
    """Remove a snapshot. The data must stay, and there must be nothing left to restore."""
    wrong = place.load() or place.step("take")
    before = place.digests()
    if wrong := wrong or place.step("forget") or _differs(place, before):
        return wrong
    return "" if place.step("restore") else "it restores from a snapshot that was removed"


def cut_short_restore_is_made_good(place: TrialPlace) -> str:
    """Kill restores at each of several commands. The next restore must bring the same files back."""
    if wrong := place.load() or place.step("take"):
        return wrong
    before = place.digests()
    place.change()
    for number, of_all in _kills(place.commands("restore")):
        place.change()
        place.kill_at("restore", number)
        if wrong := place.step("open") or place.step("restore") or _differs(place, before):
            return f"after a restore that was killed at its command {number} of {of_all}: {wrong}"
    return ""


def cut_short_snapshot_is_made_good(place: TrialPlace) -> str:
    """Kill snapshots at each of several commands. The next snapshot must be complete, and of the current data."""
    place.load()
    for number, of_all in _kills(place.commands("take")):
        place.load()
        before = place.digests()
        place.kill_at("take", number)
        wrong = place.step("open") or place.step("take") or place.change() or place.step("restore")
        if wrong := wrong or _differs(place, before):
            return f"after a snapshot that was killed at its command {number} of {of_all}: {wrong}"
    return ""


def _kills(of_all: int) -> Iterator[tuple[int, int]]:
    yield from ((number, of_all) for number in range(1, of_all + 1, max(1, -(-of_all // _MOST_KILLS))))


def others_stay(place: TrialPlace) -> str:
    """Check that two things are left alone: another's snapshot of the same name, and a directory that lost its
    marker."""
    if why := place.call("theirs"):
        return f"`theirs` of {FILE} fails: {why}"
    place.load()
    before = place.digests()
    for step in ("take", "restore", "forget"):
        if not place.step(step):
            return f"`{step}` takes another's snapshot for its own"
        if wrong := _differs(place, before):
            return f"`{step}` at another's snapshot leaves {wrong}"
    return f"another's snapshot is gone: {why}" if (why := place.call("theirs_stay")) else ""


def unmarked_stays(place: TrialPlace) -> str:
    """Check that nothing is restored into a directory without the marker."""
    if wrong := place.load() or place.step("take"):
        return wrong
    (place.path / MARKER).unlink()
    before = place.digests()
    return _differs(place, before) if place.step("restore") else "it restores into a directory without the marker"


def _differs(place: TrialPlace, before: Mapping[str, str]) -> str:
    found = place.digests()
    wrong = sorted(name for name in before.keys() | found.keys() if before.get(name) != found.get(name))
    return f"other files than before: {', '.join(wrong[:5])}" if wrong else ""


PROMISES = (
    *(data_come_back, removed_is_gone, others_stay, unmarked_stays),
    *(cut_short_restore_is_made_good, cut_short_snapshot_is_made_good),
)
