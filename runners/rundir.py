"""The directory of one run: its name, and what is kept in it (see `runners/journal.py`)."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from benchbrief.compiler.plan import Plan
from benchbrief.runners.errors import DiskFull, RunnerError
from benchbrief.runners.journal import Simulated
from benchbrief.runners.tasks import RunName

PLAN = "plan.json"
SIMULATION = "simulation.json"
"""Only a simulated run has it: how it is simulated."""
REVISION = "revision.json"
"""Of a spec in a git repository: the `commit` it was run from, and whether it was `dirty`."""


def create_run(
    out: Path,
    plan: Plan,
    spec_files: Mapping[str, bytes],
    begin: Callable[[Path], None] = lambda _: None,
    simulated: Simulated | None = None,
    imported: bool = False,
    revision: Mapping[str, str] | None = None,
) -> Path:
    """Make `out/<run_id>` with the plan, the spec's files and its reports' house style in it, or nothing.

    Raises RunnerError.

    The name of a simulated run ends in `-simulated`, that of an imported one in `-imported`, so that neither is ever
    taken for one that was measured here.

    `begin` puts in what else is to be there from the beginning. The plan comes last: it makes the folder a run.
    """
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(plan.spec.name).stem)[:60] or "spec"
    first = f"{time.strftime('%Y%m%d-%H%M%S')}-{stem}"
    run_dir = None
    try:
        out.mkdir(parents=True, exist_ok=True)
        run_dir = _new_directory(out, first, "-simulated" if simulated else "-imported" if imported else "")
        if simulated:
            write_durably(run_dir / SIMULATION, simulated.model_dump_json(indent=1).encode())
        for index, (name, content) in enumerate(spec_files.items()):
            write_durably(run_dir / "spec" / f"{index}-{Path(name).name}", content)
        if revision:
            write_durably(run_dir / REVISION, json.dumps(dict(revision), indent=1).encode())
        keep_spec(run_dir, plan.assets)
        begin(run_dir)
        write_durably(run_dir / PLAN, plan.model_dump_json(indent=1).encode())
    except BaseException as error:
        if run_dir is not None:
            shutil.rmtree(run_dir, ignore_errors=True)
        if not isinstance(error, OSError):
            raise
        raise RunnerError(f"{out} can't be written: {error.strerror}", "choose another folder with --out") from error
    return run_dir


def _new_directory(out: Path, name: str, ending: str) -> Path:
    for number in range(1, 1000):
        run_dir = out / ((name if number == 1 else f"{name}-{number}") + ending)
        try:
            run_dir.mkdir()
            return run_dir
        except FileExistsError:
            continue
    raise RunnerError(f"{out / name} and a thousand more exist already")


def keep_spec(run_dir: Path, files: Mapping[str, str]) -> None:
    """Keep the files of a spec, or of its reports' house style, in a run that reports are rendered of.

    Raises OSError when there is no room, and RunnerError for a file that is not what it was when the spec was checked.
    """
    for name, digest in files.items():
        try:
            content = Path(name).read_bytes()
        except OSError as error:
            raise RunnerError(f"{name} can't be read: {error.strerror}") from error
        if hashlib.sha256(content).hexdigest() != digest:
            raise RunnerError(f"{name} was changed while it was read", "type the same again")
        write_durably(kept_file(run_dir, name, digest), content)


def kept_content(run_dir: Path, name: str, sha256: str) -> bytes:
    """What `keep_spec` kept. Raises OSError, and RunnerError when it was changed since."""
    path = kept_file(run_dir, name, sha256)
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != sha256:
        raise RunnerError(
            f"{path} is not what the run kept of {name}: its SHA-256 is another",
            "put the file back as it was; or, for the files as they are now: bench report --spec FILE",
        )
    return content


def keep_plan(run_dir: Path, plan: Plan) -> None:
    """Keep the plan that a report is rendered of, where that is not the run's own: what its numbers are verified by."""
    content = plan.model_dump_json(indent=1).encode()
    digest = hashlib.sha256(content).hexdigest()
    if plan_of_digest(run_dir, digest) is None:
        with suppress(OSError):  # a run that can't be written is read all the same
            write_durably(kept_file(run_dir, digest, digest), content)


def plan_of_digest(run_dir: Path, sha256: str) -> Plan | None:
    """The run's plan with this digest: its own, or one that a report was rendered of. Raises RunnerError."""
    plan = load_plan(run_dir)
    own = (run_dir / PLAN).read_bytes(), plan.model_dump_json(indent=1).encode()  # the same, but for a later version's
    if sha256 in [hashlib.sha256(content).hexdigest() for content in own]:
        return plan
    try:
        content = kept_file(run_dir, sha256, sha256).read_bytes()
        return Plan.model_validate_json(content) if hashlib.sha256(content).hexdigest() == sha256 else None
    except (OSError, ValueError):
        return None


def kept_file(run_dir: Path, name: str, sha256: str) -> Path:
    """Where a run keeps a file with this name and content."""
    return run_dir / "spec" / f"{sha256[:12]}-{Path(name).name}"


def load_plan(run_dir: Path) -> Plan:
    """The plan of a run. Raises RunnerError when it is missing or of another version."""
    path = run_dir / PLAN
    try:
        return Plan.model_validate_json(path.read_bytes())
    except OSError as error:
        raise RunnerError(f"{path} can't be read: {error.strerror}", "is this the folder of a run?") from error
    except ValueError as error:
        raise RunnerError(f"{path} is not a plan that this benchbrief reads", "run the spec again") from error


def run_name(run_dir: Path) -> RunName:
    """What the run's jobs are known by on every host: the same owner when it is resumed, another for any other run."""
    controller, folder = socket.gethostname(), str(run_dir.resolve())
    owner = hashlib.sha256(f"{controller}:{folder}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return RunName(owner, run_dir.name, folder, controller, os.getpid())


def revision_in(run_dir: Path) -> dict[str, str]:
    """Of the spec that a run was made from; {} when it was in no git repository, or it is not known."""
    try:
        found = json.loads((run_dir / REVISION).read_bytes())
    except (OSError, ValueError):
        return {}
    return {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}


def simulation_of(run_dir: Path) -> Simulated | None:
    """How a run is simulated; None for a real one. Raises RunnerError when it can't be read."""
    path = run_dir / SIMULATION
    try:
        return Simulated.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise RunnerError(f"{path} does not say how the run is simulated", "run the spec again") from error


def cell_directory(cell_id: str, attempt: int) -> Path:
    """Where a cell's raw outputs lie, relative to the run's directory: readable, and safe as a file name."""
    return Path("raw") / _slug(cell_id) / str(attempt)


def server_directory(database: str) -> Path:
    """Where the output of a server that we start for a database of the plan lies, relative to the run's directory."""
    return Path("raw") / "servers" / _slug(database)


def _slug(name: str) -> str:
    slug = re.sub(r"[^A-Za-z0-9._=@-]+", "_", name)
    if len(slug) > 120 or slug != name.replace("/", "_"):
        slug = f"{slug[:100]}-{hashlib.sha256(name.encode()).hexdigest()[:10]}"
    return slug


def write_durably(path: Path, content: bytes) -> None:
    """Write a whole file or none: to a temporary name, fsynced, then renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def digests(directory: Path) -> dict[str, str]:
    """SHA-256 of every file below a directory, each flushed to the disk first. Raises DiskFull."""
    found = {}
    for path in sorted(p for p in directory.rglob("*") if p.is_file()):
        try:
            with path.open("rb") as file:
                os.fsync(file.fileno())
                found[str(path.relative_to(directory))] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise DiskFull(f"{path} can't be kept: {error.strerror}", "free some space, then `bench resume`") from error
    return found
