"""Dropping a host's page cache, so that a measurement does not begin with what a load left in memory."""

from __future__ import annotations

from benchbrief.model.plan import Database
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.jobs.commands import shell_line
from benchbrief.runners.jobs.long_commands import run_to_end
from benchbrief.runners.jobs.shell_scripts import read_script
from benchbrief.runners.jobs.tasks import Job
from benchbrief.runners.seams import Stopping, Transport

_TIMEOUT_S = 600.0
"""In seconds. Dirty pages are written first, and a large memory holds many."""

_DROP = read_script(__file__, "drop_caches.sh")


def drop_page_cache(transport: Transport, database: Database, stopping: Stopping) -> None:
    """Write dirty pages, then drop the page cache, dentries and inodes.

    Raises RunnerError when the host denies it, and Interrupted when the run must stop.
    """
    ran = run_to_end(transport, Job("drop_caches", shell_line(_DROP), timeout_s=_TIMEOUT_S), stopping)
    if ran.exit_code != 0:
        ended = f"ended with code {ran.exit_code}" if ran.exit_code is not None else "did not end"
        said = (ran.said or f"it {ended}").splitlines()[-1]
        raise RunnerError(
            say.cache_kept(host=transport.host.id, said=said[:200]),
            "log in as root, allow `sudo -n sh` there, or take `drop_caches` away from database "
            f"{database.name} ({database.origin})",
        )
