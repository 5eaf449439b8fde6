"""The jobs of a plan, and what its scheduler has, as `bench plan --on` prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchbrief.runners.fleet.scheduler import LaneNeeds
    from benchbrief.runners.fleet.submitted_run import JobSurvey

_MOST = 12
"""More jobs than these are counted only, but for those with something to be said of them."""


def explain_jobs(found: JobSurvey, label: str, width: int, *, color: bool) -> str:
    """Return lines of at most `width` columns where words allow it."""
    from benchbrief.compiler.explain.plain_text import Page
    from benchbrief.dsl.diagnostics.plain_amounts import about, duration, plural
    from benchbrief.runners.fleet.submitted_run import merge_remarks

    page = Page(max(40, width), color)
    page.heading(f"Jobs on {label}")
    page.table(
        (
            (
                str(job.needs.lane.number),
                plural(len(job.needs.hosts), "node"),
                about(job.needs.seconds),
                duration(job.limit_s) if job.limit_s is not None else "none",
                " ".join(job.asks),
            )
            for job in found.jobs[:_MOST]
        ),
        ("lane", "nodes", "time", "limit", "asks for"),
    )
    if len(found.jobs) > _MOST:
        page.paragraph(f"and {len(found.jobs) - _MOST} more, which `bench plan --json` has")
    page.heading(f"{label} has")
    page.table(
        (
            (
                pool.name,
                str(pool.nodes),
                str(pool.usable),
                str(pool.idle),
                duration(pool.limit_s) if pool.limit_s is not None else "none",
                ", ".join(f"{feature} on {count}" for feature, count in pool.has.items()),
            )
            for pool in found.pools
        ),
        ("partition", "nodes", "usable", "idle", "limit", "features"),
        right=(1, 2, 3),
    )
    for text in merge_remarks(found.jobs, "problems"):
        page.change("-", text)
    for text in merge_remarks(found.jobs, "cautions"):
        page.change("~", text)
    if any(job.problems for job in found.jobs):
        page.paragraph("`bench run --on` refuses this plan")
    return page.text()


def jobs_as_dict(found: JobSurvey, scheduler: str) -> dict[str, Any]:
    return {
        "scheduler": scheduler,
        "lanes": [
            {
                "lane": job.needs.lane.number,
                "nodes": len(job.needs.hosts),
                "hosts": [_host(job.needs, at) for at in range(len(job.needs.hosts))],
                "seconds": job.needs.seconds,
                "longest_cell_s": job.needs.longest_s,
                **{name: getattr(job, name) for name in ("limit_s", "asks", "problems", "cautions")},
            }
            for job in found.jobs
        ],
        "pools": [
            {name.replace("has", "features"): value for name, value in vars(pool).items()} for pool in found.pools
        ],
    }


def _host(needs: LaneNeeds, at: int) -> dict[str, Any]:
    host = needs.hosts[at]
    asked = {"what": host.asked.what, **dict(host.asked.options)} if host.asked else None
    return {"host": host.id, "asked": asked}
