"""Dropping the page cache of a host, so that a measurement does not begin with what a load has left in memory."""

from __future__ import annotations

from benchbrief.compiler.plan import Database
from benchbrief.runners.attended_jobs import run_to_end
from benchbrief.runners.commands import shell_line
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.seams import Stopping, Transport
from benchbrief.runners.tasks import Job

_TIMEOUT_S = 600.0
"""What is dirty is written out first, and a large memory holds much."""

# A page that is dirty is not dropped: `sync` before. In a container the file is often there, and refuses to be written.
_DROP = """\
sync || exit 1
knob=/proc/sys/vm/drop_caches
if [ "$(id -u)" = 0 ]; then
    echo 3 >$knob
elif command -v sudo >/dev/null; then
    sudo -n sh -c "echo 3 >$knob"
else
    echo "$(id -un) is not root, and there is no sudo"; exit 1
fi
"""


def drop_page_cache(transport: Transport, database: Database, stopping: Stopping) -> None:
    """Write out what is dirty, and drop the page cache, dentries and inodes.

    Raises RunnerError if denied, Interrupted when the run is to stop.
    """
    ran = run_to_end(transport, Job("drop_caches", shell_line(_DROP), timeout_s=_TIMEOUT_S), stopping)
    if ran.exit_code != 0:
        ended = f"ended with code {ran.exit_code}" if ran.exit_code is not None else "did not end"
        said = (ran.said or f"it {ended}").splitlines()[-1]
        raise RunnerError(
            f"the page cache of {transport.host.id} can't be dropped: {said[:200]}",
            "log in as root, allow `sudo -n sh` there, or take `drop_caches` away from database "
            f"{database.name} ({database.origin})",
        )
