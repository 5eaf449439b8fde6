"""Dropping the page cache of a host, so that a measurement does not begin with what a load has left in memory."""

from __future__ import annotations

from benchbrief.compiler.plan import Database
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.patience import run_persistently
from benchbrief.runners.seams import Transport
from benchbrief.runners.tasks import Command

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


def drop_page_cache(transport: Transport, database: Database) -> None:
    """Write out what is dirty, and drop the page cache, dentries and inodes. Raises RunnerError if denied."""
    done = run_persistently(transport, Command(("sh", "-c", _DROP)), timeout_s=_TIMEOUT_S)
    if done.exit_code != 0:
        said = (done.stderr.strip() or done.stdout.strip() or f"it ended with code {done.exit_code}").splitlines()[-1]
        raise RunnerError(
            f"the page cache of {transport.host.id} can't be dropped: {said[:200]}",
            "log in as root, allow `sudo -n sh` there, or take `drop_caches` away from database "
            f"{database.name} ({database.origin})",
        )
