"""A run's directory: its name and its files (see `model/events.py`)."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from benchbrief.compiler.planning.plan_file import plan_sha256, read_plan, written_plan
from benchbrief.compiler.planning.plan_lanes import lanes_of, only_lane
from benchbrief.model.events import Simulated
from benchbrief.model.plan import PLAN_VERSION, Plan
from benchbrief.runners.errors import Damaged, DiskFull, RunnerError
from benchbrief.runners.journal.atomic_files import sha256_in, sha256_of, write_durably
from benchbrief.runners.journal.journal_file import JOURNAL, first_start, has_begun
from benchbrief.runners.journal.run_identity import IDENTITY, new_identity
from benchbrief.runners.plain_files import NotPlain, open_plain, own_folder, read_plain, why_not_plain

PLAN = "plan.json"
REPORTS = "reports"
HELD_OUT = "held-out"
"""The folder, inside a run's folder, for runs that measured points of its claims again. Other commands do not look for
runs there."""


def held_out_folder(run_dir: Path, name: str) -> Path:
    """Return the folder of a run that measured a claim's point again. Raises RunnerError if the folder is a link, since
    a link's target does not belong to the run."""
    try:
        return own_folder(own_folder(run_dir, HELD_OUT), name)
    except NotPlain as error:
        raise RunnerError(f"{error.filename} {error.strerror}", "put the folder back from a copy") from error


_RESULTS = ("raw", "store", REPORTS)
"""The folders of a run that stay empty until its journal begins."""
SIMULATION = "simulation.json"
"""The file that describes how a run is simulated. Only simulated runs have it."""
REVISION = "revision.json"
"""The file with the spec's git revision: which `commit` was run, and whether it was `dirty`. Only for a spec in a git
repository."""
MOST_OF_A_PLAN = 1 << 30
"""The most bytes of a plan to read. A plan of 100,000 cells has a quarter of that."""
LANE = "lane.json"
"""The file with the name of the folder's lane (see `LaneName`). Only folders of single lanes have it."""


class LaneName(NamedTuple):
    """The number of a lane, and how many lanes the whole plan has.

    If the folder has only the lane's part of the plan, `plan_sha256` is the digest of the whole plan. Otherwise it is
    "".
    """

    number: int
    of: int
    plan_sha256: str = ""

    def as_file(self) -> bytes:
        part = {"plan_sha256": self.plan_sha256} if self.plan_sha256 else {}
        return json.dumps({"lane": self.number, "of": self.of, **part}).encode()


def create_run(
    out: Path,
    plan: Plan,
    spec_files: Mapping[str, bytes],
    begin: Callable[[Path], None] = lambda _: None,
    simulated: Simulated | None = None,
    imported: bool = False,
    revision: Mapping[str, str] | None = None,
    into: Path | None = None,
) -> Path:
    """Make `out/<run_id>` with the plan, the spec's files and the house style of its reports, completely or not at all.

    If `into` is given, it becomes the run's folder, and must be empty or absent.

    The name of a simulated run ends in `-simulated`, and the name of an imported run ends in `-imported`, so that
    neither is mistaken for a measured run.

    `begin` adds further files. The plan is written last, as its presence makes the folder a run. Raises RunnerError.
    """
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(plan.spec.name).stem)[:60] or "spec"
    first = f"{time.strftime('%Y%m%d-%H%M%S')}-{stem}"
    run_dir = None
    try:
        ending = "-simulated" if simulated else "-imported" if imported else ""
        run_dir = _empty_directory(into) if into else _new_directory(out, first, ending)
        if simulated:
            write_durably(run_dir / SIMULATION, simulated.model_dump_json(indent=1).encode())
        for index, (name, content) in enumerate(spec_files.items()):
            write_durably(run_dir / "spec" / f"{index}-{Path(name).name}", content)
        if revision:
            write_durably(run_dir / REVISION, json.dumps(dict(revision), indent=1).encode())
        keep_spec(run_dir, plan.assets)
        begin(run_dir)
        write_durably(run_dir / IDENTITY, new_identity(run_dir))
        write_durably(run_dir / PLAN, b"".join(written_plan(plan)))
    except BaseException as error:
        if run_dir is not None:
            shutil.rmtree(run_dir, ignore_errors=True)
        if not isinstance(error, OSError):
            raise
        option = "--into" if into else "--out"
        raise RunnerError(
            f"{into or out} can't be written: {error.strerror}", f"choose another folder with {option}"
        ) from error
    return run_dir


def _empty_directory(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    if any(path.iterdir()):
        raise RunnerError(f"{path} is not empty", "name a folder that is not there yet")
    return path


def _new_directory(out: Path, name: str, ending: str) -> Path:
    out.mkdir(parents=True, exist_ok=True)
    for number in range(1, 1000):
        run_dir = out / ((name if number == 1 else f"{name}-{number}") + ending)
        try:
            run_dir.mkdir()
            return run_dir
        except FileExistsError:
            continue
    raise RunnerError(f"{out / name} and a thousand more exist already")


def keep_spec(run_dir: Path, files: Mapping[str, str]) -> None:
    """Copy the files of a spec, or of the house style of its reports, into the run whose reports are rendered.

    Raises OSError if there is no room, and RunnerError if a file has changed since the spec was checked.
    """
    own_folder(run_dir, "spec")
    for name, digest in files.items():
        try:
            content = Path(name).read_bytes()
        except OSError as error:
            raise RunnerError(f"{name} can't be read: {error.strerror}") from error
        if hashlib.sha256(content).hexdigest() != digest:
            raise RunnerError(f"{name} was changed while it was read", "type the same again")
        write_durably(kept_file(run_dir, name, digest), content)


def kept_content(run_dir: Path, name: str, sha256: str) -> bytes:
    """Return the content of a file that `keep_spec` kept. Raises OSError, and RunnerError if the content has changed
    since then."""
    path = kept_file(run_dir, name, sha256)
    content = read_plain(path, run_dir)
    if hashlib.sha256(content).hexdigest() != sha256:
        raise RunnerError(
            f"{path} is not what the run kept of {name}: its SHA-256 is another",
            "put the file back as it was; or, for the files as they are now: bench report --spec FILE",
        )
    return content


def keep_plan(run_dir: Path, plan: Plan) -> None:
    """Keep the plan of a report if it differs from the run's own plan, so that the report's numbers can be verified."""
    digest = plan_sha256(plan)
    if plan_of_digest(run_dir, digest) is None:
        with suppress(OSError):  # a read-only run can still be read
            own_folder(run_dir, "spec")
            write_durably(kept_file(run_dir, digest, digest), b"".join(written_plan(plan)))


def plan_of_digest(run_dir: Path, sha256: str) -> Plan | None:
    """Return the plan that has this digest: the run's own, or the plan of one of its reports. Returns None if there is
    none. Raises RunnerError."""
    plan = load_plan(run_dir)
    if sha256 in (sha256_of(run_dir / PLAN), plan_sha256(plan)):  # equal, unless a later version wrote it
        return plan
    try:
        content = read_plain(kept_file(run_dir, sha256, sha256), run_dir, MOST_OF_A_PLAN)
        return read_plan(content) if hashlib.sha256(content).hexdigest() == sha256 else None
    except (OSError, ValueError):
        return None


def kept_file(run_dir: Path, name: str, sha256: str) -> Path:
    """Return the path at which a run keeps a file with this name and content."""
    return run_dir / "spec" / f"{sha256[:12]}-{Path(name).name}"


def load_plan(run_dir: Path) -> Plan:
    """Return the run's plan. In a lane's folder, the plan has only the cells of that lane.

    Raises RunnerError if the plan is missing, of another version, or was changed. Raises Damaged if the run has
    results, but its journal is lost.
    """
    path = run_dir / PLAN
    require_journal(run_dir)
    try:
        content = read_plain(path, most=MOST_OF_A_PLAN)
    except OSError as error:
        raise RunnerError(f"{path} can't be read: {error.strerror}", "is this the folder of a run?") from error
    recorded = recorded_plan(run_dir)
    if recorded and hashlib.sha256(content).hexdigest() != recorded:
        raise Damaged(
            f"{path} is not the plan that the run began with: the journal has another SHA-256 of it",
            "put the file back from a copy, or run the spec again",
        )
    try:
        plan = read_plan(content)
    except ValueError as error:
        raise _unread(path, content) from error
    if plan.version != PLAN_VERSION:
        raise _unread(path, content)
    return _of_its_lane(run_dir, plan)


def _unread(path: Path, content: bytes) -> RunnerError:
    try:
        version = json.loads(content)["version"]
    except (ValueError, KeyError, TypeError):
        version = PLAN_VERSION
    if version == PLAN_VERSION:
        return RunnerError(f"{path} is not a plan that this benchbrief reads", "run the spec again")
    return RunnerError(
        f"{path} is a plan of version {version}, and this benchbrief reads version {PLAN_VERSION}",
        "use the benchbrief that made it (`bench --version`), or make the plan again with this one",
    )


def lane_in(run_dir: Path) -> LaneName | None:
    """Return the folder's lane, or None for a whole run. Raises RunnerError."""
    path = run_dir / LANE
    try:
        found = json.loads(read_plain(path))
        return LaneName(int(found["lane"]), int(found["of"]), str(found.get("plan_sha256", "")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Damaged(f"{path} does not say which lane this is", "put the file back from a copy") from error


def _of_its_lane(run_dir: Path, plan: Plan) -> Plan:
    named = lane_in(run_dir)
    if named is None or named.plan_sha256:
        return plan
    number, of, _ = named
    lanes = lanes_of(plan)
    if of != len(lanes) or not 0 < number <= of:
        raise RunnerError(
            f"{run_dir} is lane {number} of {of}, and this benchbrief finds {len(lanes)} in its plan",
            "use one version of benchbrief for all lanes of a run",
        )
    return only_lane(plan, lanes[number - 1])


def require_journal(run_dir: Path) -> None:
    """Raise Damaged if a run's folder has results, but no journal of them."""
    journal = run_dir / JOURNAL
    if has_begun(journal):
        return
    kept = [name for name in _RESULTS if any((run_dir / name).glob("*"))]
    if kept:
        state = "is missing" if not journal.exists() else "has no record of the run"
        raise Damaged(
            f"{journal} {state}, though the run has results ({', '.join(f'{name}/' for name in kept)})",
            "put the journal back from a copy; without it, nothing proves the results, which are left as they are",
        )


def recorded_plan(run_dir: Path) -> str:
    """Return the SHA-256 of the plan with which the run began, or "" if the journal has no readable start."""
    start = first_start(run_dir / JOURNAL)
    return start.plan_sha256 if start else ""


def files_of_beginning(run_dir: Path) -> dict[str, str]:
    """Return the SHA-256 of each file that a run starts with, except the plan. The keys are the paths in the run's
    folder."""
    paths = (run_dir / REVISION, run_dir / SIMULATION, run_dir / LANE, *sorted((run_dir / "spec").glob("*")))
    return {path.relative_to(run_dir).as_posix(): sha256_of(path) for path in paths if path.is_file()}


def revision_in(run_dir: Path) -> dict[str, str]:
    """Return the revision of the run's spec, or {} if the spec was not in a git repository, or if this is unknown."""
    try:
        found = json.loads(read_plain(run_dir / REVISION))
    except (OSError, ValueError):
        return {}
    return {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}


def simulation_of(run_dir: Path) -> Simulated | None:
    """Return how a run is simulated, or None for a real run. Raises RunnerError if this can't be read."""
    path = run_dir / SIMULATION
    try:
        return Simulated.model_validate_json(read_plain(path))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise RunnerError(f"{path} does not say how the run is simulated", "run the spec again") from error


def cell_directory(cell_id: str, attempt: int) -> Path:
    """Return the directory of a cell's raw outputs, relative to the run's. Its name is readable, and safe as a file
    name."""
    return Path("raw") / _slug(cell_id) / str(attempt)


def server_directory(database: str) -> Path:
    """Return the directory, relative to the run's, for the output of a server that we start for a database."""
    return Path("raw") / "servers" / _slug(database)


def _slug(name: str) -> str:
    slug = re.sub(r"[^A-Za-z0-9._=@-]+", "_", name)
    if len(slug) > 120 or slug != name.replace("/", "_"):
        slug = f"{slug[:100]}-{hashlib.sha256(name.encode()).hexdigest()[:10]}"
    return slug


def digests(directory: Path, *, durable: bool = True) -> dict[str, str]:
    """Return the SHA-256 of every file below a directory. With `durable`, flushes each file to the disk first. Raises
    DiskFull."""
    found, above = {}, f"{directory}{os.sep}"
    paths = sorted((f"{at}{os.sep}{name}" for at, _, names in os.walk(directory) for name in names), key=_by_parts)
    for path in paths:
        if why_not_plain(os.lstat(path)):
            continue
        try:
            with open_plain(path) as file:
                if durable:
                    os.fsync(file.fileno())
                found[path.removeprefix(above)] = sha256_in(file)
        except OSError as error:
            raise DiskFull(f"{path} can't be kept: {error.strerror}", "free some space, then `bench resume`") from error
    return found


def _by_parts(path: str) -> list[str]:
    return path.split("/")
