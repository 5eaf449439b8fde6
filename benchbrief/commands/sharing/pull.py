from __future__ import annotations

from pathlib import Path

import click

from benchbrief.cli.run_options import out_option
from benchbrief.cli.store_options import ADDRESS, STORE, byte_progress
from benchbrief.cli.terminal import fail, show, show_json


@click.command(
    epilog="""
\b
Examples:
  bench pull 20260301 --from s3://lab-results/nightly
  bench pull 20260301-101500-brief --from file:///srv/bench --out elsewhere
  bench pull 20260301 --quiet           from $BENCHBRIEF_STORE
"""
)
@click.argument("run")
@out_option
@click.option("--from", "url", metavar="URL", envvar=STORE, show_envvar=True, help=f"The shared store: {ADDRESS}.")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@click.option("--json", "as_json", is_flag=True, help="Print what was pulled as JSON.")
def command(run: str, out: Path, url: str | None, quiet: bool, as_json: bool) -> None:
    """Copy RUN (its name, or the start of it) from a shared store into the folder of runs, and print its folder.

    Each file is compared with its SHA-256, and the folder appears only when it is complete. A folder that exists
    already is not changed; if its files differ from the store's, the command fails.
    """
    from benchbrief.history.shared_store.push_and_pull import pull_run
    from benchbrief.history.shared_store.shared_store import open_store
    from benchbrief.running.stop_signals import ended_by_sigterm

    if not url:
        raise fail("the store is not named", f"say --from URL, or set {STORE}: {ADDRESS}")
    store = open_store(url)
    manifest = store.find(run)
    with ended_by_sigterm(), byte_progress(f"pulling {manifest.id}", quiet=quiet) as show_bytes:
        folder = pull_run(store, manifest, out, show_bytes)
    if as_json:
        show_json({"run": manifest.id, "directory": str(folder), "revision": manifest.revision, "bytes": manifest.size})
    else:
        show(folder)
