from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchbrief.cli.run_options import chosen_run, out_option, run_argument
from benchbrief.cli.store_options import ADDRESS, STORE, byte_progress, size_text
from benchbrief.cli.terminal import Stop, fail, one_line, show, show_error, show_json, warn
from benchbrief.dsl.bench_error import BenchError, ExitCode

if TYPE_CHECKING:
    from benchbrief.history.shared_store.push_and_pull import Pushed
    from benchbrief.history.shared_store.run_manifest import QueuedPush


@click.command(
    context_settings={"allow_extra_args": True},  # so that an address without --to gets its own message
    epilog="""
\b
Examples:
  bench push --to s3://lab-results/nightly     the last run
  bench push 20260301 --to file:///srv/bench --tag nightly
  bench push --sign ~/.ssh/id_ed25519          to $BENCHBRIEF_STORE
  bench push --queued                          what waits
  bench push --forget s3://lab-reslts/nightly  a mistyped address
  bench push --json | jq -r '.[].state'
""",
)
@run_argument
@out_option
@click.option("--to", "url", metavar="URL", envvar=STORE, show_envvar=True, help=f"The shared store: {ADDRESS}.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="A word for the run in the store, such as nightly.")
@click.option(
    "--sign",
    "key",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="KEY",
    help="Sign what is pushed with this SSH key.",
)
@click.option("--queued", is_flag=True, help="Push what waits in the folder of runs, because a store was away.")
@click.option(
    "--forget",
    metavar="URL",
    help="Push nothing: forget the pushes to this store that wait (of RUN, or of all runs).",
)
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@click.option("--json", "as_json", is_flag=True, help="Print what was pushed as JSON.")
def command(
    run: str | None,
    out: Path,
    url: str | None,
    tags: tuple[str, ...],
    key: Path | None,
    queued: bool,
    forget: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Push RUN to a shared store: its journal, raw outputs, briefs and tables.

    The run gets into the store completely or not at all. Nothing there is overwritten, and files that the store already
    has are not sent again. If the store can't be reached, the push waits in the run's folder, and the next push tries
    it again.

    Credentials are those of the AWS command line: in the environment, or in ~/.aws.
    """
    from benchbrief.history.shared_store.run_manifest import QueuedPush
    from benchbrief.running.push_or_queue import forget_pushes, queued_pushes

    _require_one_run(run, click.get_current_context().args)
    if forget is not None:
        if queued or tags or key:
            raise click.UsageError("--forget pushes nothing: leave out --queued, --tag and --sign")
        forgotten = forget_pushes(out, forget, chosen_run(out, run) if run else None)
        _show_forgotten(forgotten, forget, as_json)
        return
    if queued:
        if run or tags or key:
            raise click.UsageError("--queued pushes as it was asked for before: leave out RUN, --tag and --sign")
        _push_each(queued_pushes(out), quiet, as_json)
        return
    if not url:
        raise fail("the store is not named", f"say --to URL, or set {STORE}: {ADDRESS}")
    run_dir = chosen_run(out, run)
    asked = QueuedPush(url, tags, str(key.expanduser().resolve()) if key else "")
    waiting = [each for each in queued_pushes(out) if each[1].url == url and each[0].resolve() != run_dir.resolve()]
    _push_each([(run_dir, asked), *waiting], quiet, as_json)


def _require_one_run(run: str | None, more: Sequence[str]) -> None:
    """Raise UsageError if there are extra arguments, or if a store's address is given instead of a run."""
    if extra := [*([run] if run and "://" in run else []), *more]:
        raise click.UsageError(f"Got unexpected extra argument ({' '.join(extra)}): name the store with --to URL.")


def _show_forgotten(runs: list[Path], url: str, as_json: bool) -> None:
    if as_json:
        show_json([{"run": run.name, "to": url, "state": "forgotten"} for run in runs])
        return
    for run in runs:
        show(one_line(f"{run.name}: is not pushed to {url} any more"))


def _push_each(pushes: list[tuple[Path, QueuedPush]], quiet: bool, as_json: bool) -> None:
    """Push runs one after another. Once a store has failed, no further run is pushed to it. Raises Stop."""
    codes, documents = set[ExitCode](), list[dict[str, object]]()
    away: set[str] = set()
    for run_dir, asked in pushes:
        if asked.url in away:
            continue
        try:
            pushed = _push(run_dir, asked, quiet)
        except BenchError as error:
            away.add(asked.url)
            if len(pushes) == 1:
                raise
            codes.add(show_error(error).exit_code)
            continue
        manifest = replace(pushed.manifest, tables={}, briefs={})
        documents.append(
            {"run": manifest.id, "to": asked.url, "state": pushed.state, "revision": manifest.revision,
             "files": manifest.file_count, "bytes": manifest.size, "sent": pushed.sent, "tags": manifest.tags}
        )  # fmt: skip
        if not as_json:
            _show_result(pushed, asked.url)
    if as_json:
        show_json(documents)
    elif not pushes:
        show("no push waits")
    if worst := min(codes, default=None):
        raise Stop(worst)


def _push(run_dir: Path, asked: QueuedPush, quiet: bool) -> Pushed:
    from benchbrief.results.runs.find_runs import run_state
    from benchbrief.running.push_or_queue import push_now

    if run_state(run_dir) == "interrupted":  # one that still runs is refused
        what = f"{run_dir.name} is not finished (interrupted)"
        warn(f"{what}: what it has so far is pushed; push it again when it has ended")
    with byte_progress(f"pushing {run_dir.name}", quiet=quiet) as show_bytes:
        return push_now(run_dir, asked, show_bytes, warn)


def _show_result(pushed: Pushed, url: str) -> None:
    manifest = pushed.manifest
    match pushed.state:
        case "same":
            what = "was there already"
        case "grown":
            what = f"pushed as revision {manifest.revision}, {size_text(pushed.sent)} of them new"
        case "new":
            what = f"pushed, {size_text(pushed.sent)} sent"
    show(one_line(f"{manifest.id}: {manifest.file_count:,} files in {url}, {what}"))
