"""Makes tables, verdicts and briefs from a run's journal and raw outputs."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from benchbrief.cli.terminal import show, warn
from benchbrief.dsl.bench_error import FULL
from benchbrief.dsl.pause_collection import rare_collection
from benchbrief.model.extension_spec import Format
from benchbrief.model.plan import Plan
from benchbrief.reports.capsule.capsule_file import ENDING, Sign
from benchbrief.reports.charts.svg_converter import Converter
from benchbrief.reports.render.render_report import Rendered, ReportResult, render
from benchbrief.results.open_store import open_store
from benchbrief.results.runs.kept_files import ReportFiles, note_reports
from benchbrief.results.store.store import Store
from benchbrief.results.store_errors import NoRoom
from benchbrief.runners.hosts.orphans import run_on_this_machine
from benchbrief.runners.journal.run_folder import REPORTS, keep_plan, kept_content
from benchbrief.runners.plain_files import own_folder

if TYPE_CHECKING:
    from benchbrief.model.plan import Plan
    from benchbrief.reports.claims_sheet import SheetRow
    from benchbrief.results.analysis.cautions import Patchy
    from benchbrief.results.analysis.claim_verdicts import ClaimVerdict
    from benchbrief.results.analysis.expectation_verdicts import ExpectVerdict
    from benchbrief.results.ingest.run_evidence import Evidence


class Stored(NamedTuple):
    """What a run's tables show: verdicts on expectations and claims, probes with too few samples, and raw outputs that
    have vanished or changed."""

    verdicts: tuple[ExpectVerdict, ...]
    claims: tuple[SheetRow, ...]
    sampled: tuple[Patchy, ...]
    lost: tuple[str, ...]


def make_tables(run_dir: Path, plan: Plan, evidence: Evidence | None = None) -> Stored:
    """Build the run's tables from its journal and raw outputs, and judge the spec's expectations and claims.

    `evidence` is the journal's contents, if the caller has already read them.
    """
    from benchbrief.results.analysis.cautions import patchy
    from benchbrief.results.analysis.expectation_verdicts import evaluate
    from benchbrief.results.build_store import rebuild
    from benchbrief.results.open_store import open_store

    rebuild(run_dir, plan, evidence)
    with open_store(run_dir) as results:
        found = results.sql("SELECT DISTINCT reason FROM files WHERE reason IS NOT NULL ORDER BY reason")
        lost = tuple(str(reason) for (reason,) in found.rows)
        verdicts, claims = tuple(evaluate(plan, results)), tuple(claims_of_briefs(plan, results))
        return Stored(verdicts, claims, tuple(patchy(results)), lost)


def claims_of_briefs(
    plan: Plan, results: Store, judged: Mapping[str, Sequence[ClaimVerdict]] = MappingProxyType({})
) -> list[SheetRow]:
    """Return the claims in the plan's briefs, with their verdicts. If a brief is in `judged`, these verdicts are used.
    Otherwise, its claims are judged now. Raises RunnerError."""
    if not plan.claims:
        return []
    from benchbrief.reports.claims_sheet import claims_in_briefs

    return claims_in_briefs(plan, results, judged)


class Briefs(NamedTuple):
    """The rendered reports. By the report's name, `files` has the files, `results` the main numbers, and `judged` the
    verdicts on claims. `undrawn` has the figures that could not be drawn, with the reasons."""

    files: dict[str, list[Path]]
    undrawn: tuple[str, ...]
    results: dict[str, ReportResult]
    judged: Mapping[str, Sequence[ClaimVerdict]]


def render_stored(run_dir: Path, plan: Plan, began: float | None = None) -> Briefs:
    """Render every report of the plan from the run's tables, into the run's `reports` folder. `began` is the monotonic
    time when the building of the tables began."""
    with open_store(run_dir) as results:
        return render_briefs(run_dir, plan, results, began=began)


def render_briefs(
    run_dir: Path,
    plan: Plan,
    results: Store,
    to: Path | None = None,
    *,
    formats: Collection[Format] = (),
    paper: Literal["a4", "letter"] | None = None,
    reports_from: dict[str, str] | None = None,
    began: float | None = None,
    own_languages: Mapping[str, str] | None = None,
    sign: Sign | None = None,
) -> Briefs:
    """Render every report of the plan from the run's `results` into `to`, by default the run's own `reports` folder.

    If the plan's reports or metrics are not the run's own, `own_languages` has the languages of the run's own reports.

    Without `formats`, each report has the formats of its layout. Without `paper`, each report is on the paper that it
    names.

    If reports and metrics come from another spec, `reports_from` names its files, with their SHA-256. `sign` signs the
    lists of files in the capsules.
    """
    if own_languages is not None:
        keep_plan(run_dir, plan)
    own = own_languages or {}
    ends = [time.monotonic() if began is None else began]
    rendered: dict[str, Rendered] = {}
    with making_brief(), Converter().running() as converter, rare_collection():
        for report in plan.reports:
            rendered[report.name] = render(
                plan,
                results,
                report.name,
                to or own_folder(run_dir, REPORTS),
                formats=formats,
                paper=paper,
                kept=partial(kept_content, run_dir),
                reports_from=reports_from,
                other_language=report.language != own.get(report.name, report.language),
                converter=converter,
                sign=sign,
            )
            ends.append(time.monotonic())
    took = [end - begin for begin, end in pairwise(ends)]
    made = {
        name: ReportFiles(each.html.parent, each.files, seconds)
        for (name, each), seconds in zip(rendered.items(), took, strict=True)
    }
    noted = note_reports(run_dir, made)
    for text in dict.fromkeys((*(text for each in rendered.values() for text in each.warnings), noted)):
        if text:
            warn(text)
    files = {name: list(each.files) for name, each in rendered.items()}
    for name in _without_capsule(files) if sign else ():
        warn(f"{name} has no capsule, so nothing of it is signed")
    said = {name: each.result for name, each in rendered.items()}
    judged = {name: each.claims for name, each in rendered.items()}
    return Briefs(files, tuple(text for each in rendered.values() for text in each.undrawn), said, judged)


def warn_of_holder(plan: Plan) -> None:
    """If another run claims this machine, name that run and describe how rendering affects it."""
    holder = run_on_this_machine(plan)
    if holder is None:
        return
    if holder.is_measuring:
        warn(f"this machine is held by {holder.run}: to render here disturbs the cells that it measures now; "
             "distrust those cells")  # fmt: skip
    else:
        show(f"note: {holder.run} makes its brief on this machine now: both briefs take longer", err=True)


def note_far_hosts(plan: Plan, files: Mapping[str, Sequence[Path]]) -> None:
    """If some of the plan's hosts are not this machine, note that the capsule of a brief for customers names these
    hosts."""
    if all(host.transport == "local" for host in plan.hosts.values()):
        return
    without = _without_capsule(files)
    of = [each.name for each in plan.reports if each.audience == "customer" and each.name not in without]
    if of:
        show(f"note: the capsule of {', '.join(of)}, also inside its PDF, names the hosts of the spec, with users, "
             "key files and commands; `provenance = none` leaves it out", err=True)  # fmt: skip


def _without_capsule(files: Mapping[str, Sequence[Path]]) -> list[str]:
    """Return the reports whose files include no capsule."""
    return [name for name, made in files.items() if not any(each.name.endswith(ENDING) for each in made)]


@contextmanager
def making_brief() -> Iterator[None]:
    """If the disk becomes full inside this block, raise NoRoom with a message about the brief."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        at = f"{error.filename}: " if error.filename else ""
        raise NoRoom(f"{at}{error.strerror}", "free some space, then `bench report`") from error
