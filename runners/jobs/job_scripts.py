"""The shell scripts of detached jobs and claims. `runners/jobs/detached_jobs.py` describes the files that they keep on
a host.

`with_values` sets the variables that each script names. The scripts need `sh`, `setsid` and `flock`. A script holds a
lock on the root directory while it changes the names in it. This makes it safe to remove the directory when it is
empty.
"""

from __future__ import annotations

import hashlib
import json
import math
import uuid
from dataclasses import asdict
from pathlib import PurePosixPath

from benchbrief.model.run_messages import say
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.jobs.commands import (
    exec_line,
    exports,
    mask_command,
    plain,
    quote,
    read_script,
    secrets_of,
    with_values,
)
from benchbrief.runners.jobs.script_host import JobHost
from benchbrief.runners.jobs.tasks import Job, JobFile
from benchbrief.runners.journal.run_identity import RunName
from benchbrief.runners.journal.secret_masking import MASK, Secret, host_patterns


def _script(name: str) -> str:
    return read_script(__file__, f"scripts/{name}.sh")


RUN = _script("run")
START = _script("start")
ALIVE = _script("alive")
FORGET_OUTPUTS = _script("forget_outputs")

FIND = _script("find")
STOP = _script("stop")
DISCARD = _script("discard")
END_LEFTOVERS = _script("end_leftovers")
WAIT = _script("wait")
TAIL = _script("tail")
STATE = _script("state")

CLAIM = _script("claim")
CLAIMED = _script("claimed")
LIST = _script("list")


STOP_GRACE_S = 5.0
_WATCH_EVERY_S = 5.0
"""The most seconds between a job's checks for its controller's sign of life."""


def start_script(host: JobHost, job: Job) -> str:
    command = job.command
    watched = math.isfinite(job.unattended_s)
    tick_s = min(_WATCH_EVERY_S, job.unattended_s / 4)
    run = with_values(
        f"job() {{\n{exec_line(command)}\n}}\n{RUN}",
        alive=f"../{host.run_name.owner}.alive",
        tick=f"{tick_s:.3f}" if watched else "0",
        ticks=str(math.ceil(job.unattended_s / tick_s)) if watched else "0",
        unattended=f"{job.unattended_s:g}",
        grace=f"{STOP_GRACE_S:.0f}",
    )
    files = "\n".join(map(_write_line, job.files))
    return with_values(
        f"write_files() {{\n:\n{files}\n}}\n{START}",
        owner=host.run_name.owner,
        id=directory_name(host, job.key),
        token=new_word(),
        claimed=host.claimed.text if host.claimed else "",
        cwd=command.cwd or "",
        about=_about(host.run_name, job),
        env=exports(command),
        run=run,
        forget="".join(map(_forget_line, job.files)) + _forget_outputs(job),
    )


def directory_name(host: JobHost, key: str) -> str:
    digest = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:16] if key else uuid.uuid4().hex
    return f"{host.run_name.owner}-{digest}"


def _about(run: RunName, job: Job) -> str:
    """Return a job's description as one line of JSON in ASCII."""
    shown = mask_command(job.command)
    facts = {
        **asdict(run),
        "job": job.key or job.name,
        "command": shown if len(shown) <= 2000 else shown[:2000] + "...",
    }
    return json.dumps(facts)


def new_word() -> str:
    """Return a unique word of 32 hexadecimal digits."""
    return uuid.uuid4().hex


def _write_line(file: JobFile) -> str:
    name, parent = inside_job(file.name), str(PurePosixPath(file.name).parent)
    folder = f"mkdir -p -- {inside_job(parent)} && " if parent != "." else ""
    content = quote("".join(map(plain, file.content)))
    return f"{folder}printf %s {content} >{name} || failed"


def _forget_line(file: JobFile) -> str:
    """Return a shell line that removes the secrets from a file that may stay on its host for long."""
    if not any(isinstance(word, Secret) for word in file.content):
        return ""
    name = inside_job(f"work/{file.name}")
    kept = "".join(MASK if isinstance(word, Secret) else word for word in file.content)
    return f"[ ! -e {name} ] || printf %s {quote(kept)} >{name}\n"


def _forget_outputs(job: Job) -> str:
    """Return shell lines that mask the job's output with a sed script. The script is in a file, since all users can
    read arguments."""
    patterns = host_patterns(secrets_of(job))
    if not patterns:
        return ""
    by = next(mark for mark in b"\x01\x02\x03\x04\x05\x06\x07".decode() if mark.encode() not in b"".join(patterns))
    figures = [f"\\{by}^({'|'.join(job.figures)})\r?${by}b\n"] if job.figures else []
    said = (pattern.decode("utf-8", "surrogateescape") for pattern in patterns)
    program = "".join([*figures, *(f"s{by}{pattern}{by}{MASK}{by}g\n" for pattern in said)])
    return with_values(FORGET_OUTPUTS, program=program)


def inside_job(name: str) -> str:
    """Return the quoted form of a path below the job's directory."""
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts:
        raise RunnerError(say.outside_job(name=repr(name)), say.hint_plain_name())
    return quote(f"./{name}")
