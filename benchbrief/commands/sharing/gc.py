from __future__ import annotations

import click

from benchbrief.cli.spec_options import seconds_given
from benchbrief.cli.store_options import ADDRESS, byte_progress, size_text
from benchbrief.cli.terminal import one_line, show, show_json, warn
from benchbrief.dsl.diagnostics.plain_amounts import plural


@click.command(
    epilog="""
\b
Examples:
  bench gc --from s3://lab-results/nightly      what belongs to no run
  bench gc --from file:///srv/bench --older-than 90d --keep-tag release
  bench gc --from file:///srv/bench --older-than 90d --remove
"""
)
@click.option("--from", "url", metavar="URL", required=True, help=f"The shared store: {ADDRESS}.")
@click.option(
    "--older-than",
    "older_than",
    metavar="TIME",
    callback=seconds_given,
    help="Remove runs that were pushed longer ago than this; without it, none.  [90d]",
)
@click.option("--keep-tag", "keep", multiple=True, metavar="TAG", help="Keep runs with this tag, however old.")
@click.option(
    "--grace",
    metavar="TIME",
    default="7d",
    show_default=True,
    callback=seconds_given,
    help="Leave alone what is younger: a push may be under way.",
)
@click.option("--remove", is_flag=True, help="Remove it; without this, nothing is changed.")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@click.option("--json", "as_json", is_flag=True, help="Print what goes as JSON.")
def command(
    url: str, older_than: float | None, keep: tuple[str, ...], grace: float, remove: bool, quiet: bool, as_json: bool
) -> None:
    """Show what can be removed from a shared store, and with --remove remove it.

    This is everything that belongs to no run: leftovers of interrupted pushes, and of earlier revisions of runs. With
    --older-than, it includes old runs. Files that are not benchbrief's are left alone.

    Ages are by the store's clock. Pushes and another `bench gc` may run at the same time. A pull fails if its run is
    removed meanwhile.
    """
    from benchbrief.history.shared_store.collect_garbage import Retention, collect_garbage
    from benchbrief.history.shared_store.shared_store import open_store

    with byte_progress("removing", quiet=quiet) as show_bytes:
        found = collect_garbage(open_store(url), Retention(older_than, keep, grace), remove=remove, progress=show_bytes)
    if as_json:
        show_json(
            {"removed": remove, "runs": [each.id for each in found.runs], "revisions": found.revisions,
             "objects": len(found.objects), "bytes": found.size, "kept": found.kept, "foreign": found.foreign}
        )  # fmt: skip
        return
    would = "removed" if remove else "would be removed"
    for each in found.runs:
        show(one_line(f"{each.id}: measured {each.measured:%Y-%m-%d}, tags: {', '.join(each.tags) or 'none'}"))
    runs, revisions = plural(len(found.runs), "run"), plural(len(found.revisions), "earlier revision")
    show(f"{would}: {runs}, {revisions}, {plural(len(found.objects), 'object')} ({size_text(found.size)})")
    show(f"kept: {plural(found.kept, 'run')}")
    if found.foreign:
        warn(one_line(f"left alone, as benchbrief has not written it: {', '.join(found.foreign[:5])}"))
    if not remove and (found.runs or found.revisions or found.objects):
        show("nothing was changed; to remove it, add --remove")
