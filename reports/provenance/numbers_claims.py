"""Checks the claims in the file of a brief's numbers against the plan, the store and the journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from benchbrief.compiler.planning import plan as p
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.reports.data.numbers_file import CellEntry, NumbersFile
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.provenance.numbers_completeness import Identity, identity, objects_within
from benchbrief.reports.provenance.raw_outputs import each_entry
from benchbrief.results.store.digests import changed_text, sha256_of

Known = Mapping[Identity, p.Query]
"""The queries of a plan."""


def known_queries(plan: p.Plan) -> Known:
    return {identity(query): query for query in objects_within((plan.metrics, plan.expects, plan.reports), p.Query)}


def find_unfounded(numbers: NumbersFile, report: p.Report | None, results: Results) -> Iterator[str]:
    """Return the claims that differ from the plan's report and the store: the title, the cells behind its numbers,
    and their details."""
    if report and numbers.title != report.title:
        yield f"the brief is called “{numbers.title}”, and its report in the plan “{report.title}”"
    known = known_queries(results.plan)
    queries = {query.id: known.get(identity(query.query)) for query in numbers.queries}
    wrong = [query.expression for query in numbers.queries if set(query.cells) != _ids(queries[query.id], results)]
    for number in numbers.numbers:
        low = queries[number.query]
        high = queries[number.high_query] if number.high_query else None
        if set(number.cells) != _ids(low, results, **number.at) | _ids(high, results, **number.at):
            wrong.append(low.text if low else number.query)
    if wrong:
        yield (
            f"the file of its numbers names other cells behind {len(wrong):,} of its numbers and expressions than the "
            f"plan, first behind {wrong[0]}"
        )
    entries = dict(each_entry(results.store))
    used = set().union(*(_ids(query, results) for query in queries.values())) & set(entries)
    damaged = [(cell, why) for cell in sorted(used | set(numbers.cells))
            if (why := describe_change(numbers.cells.get(cell), entries.get(cell)))]  # fmt: skip
    if damaged:
        (cell, why), cells = damaged[0], plural(len(damaged), "cell")
        yield f"the file of its numbers says another thing of {cells} than the run, first {cell}, which {why}"


def describe_change(then: CellEntry | None, now: CellEntry | None) -> str:
    """Return how a cell has changed since the file was written; "" for an unchanged one."""
    if now is None:
        return "is not in the store"
    if then is None:
        return "it does not have"
    if now.hash != then.hash:
        return "is another measurement: the spec was changed"
    if now.status != then.status:
        return f"is {now.status} now, and was {then.status}"
    if (now.run, now.attempt) != (then.run, then.attempt):
        return f"was measured again (attempt {now.attempt} of run {now.run})"
    other = [path for path in sorted({*then.files, *now.files}) if then.files.get(path) != now.files.get(path)]
    return f"has other raw outputs, first {other[0]}" if other else ""


def raw_problems(numbers: NumbersFile, results: Results, run_dir: Path) -> dict[str, str | None]:
    """Return the raw outputs behind the numbers whose digests differ from the journal's.

    These are the outputs of the cells that the plan's report and the file's numbers need, the table that numbers
    were imported from, and, where the journal has no digest, the outputs that the file names.
    """
    from benchbrief.results.imports.keep_import import SHARED, shared_name
    from benchbrief.results.ingest.run_evidence import read_evidence

    known = known_queries(results.plan)
    report = next((each for each in results.plan.reports if each.name == numbers.report), None)
    of_file = (found for query in numbers.queries if (found := known.get(identity(query.query))))
    cells = set().union(*(_ids(query, results) for query in (*objects_within(report, p.Query), *of_file)))
    evidence = read_evidence(run_dir)
    recorded = {
        f"{job.directory}/{name}": (digest, verdict.cell.id)
        for verdict in evidence.verdicts
        for job in verdict.jobs
        for name, digest in job.files.items()
    }
    named = _files(numbers.cells.values())
    stored = _files(dict(each_entry(results.store)).values())
    shared = any(job.directory == SHARED for verdict in evidence.verdicts for job in verdict.jobs)
    tables = evidence.imported.files if evidence.imported and shared else ()
    problems = {(path := f"{SHARED}/{shared_name(file)}"): _problem(run_dir, path, file.sha256) for file in tables}
    for path in sorted({*named, *(path for path, (_, cell) in recorded.items() if cell in cells)}):
        digest = recorded[path][0] if path in recorded else named[path]
        problems[path] = _problem(run_dir, path, digest)
        if problems[path] is None and path in recorded and stored.get(path) != digest:
            change = changed_text(stored.get(path, ""), digest)
            problems[path] = f"has another SHA-256 in the run's tables than in its journal ({change})"
    return problems


def _files(cells: Iterable[CellEntry]) -> dict[str, str]:
    return {path: digest for cell in cells for path, digest in cell.files.items()}


def _ids(query: p.Query | None, results: Results, **at: str | float) -> set[str]:
    """Return the cells behind a query of the plan; none when an earlier benchbrief made the plan."""
    if query is None or query.reads is None:
        return set()
    within_query = {dim: key for dim, key in at.items() if dim in query.dims}
    return {cell.cell_id for cell in results.cells_behind(query, **within_query)}


def _problem(run_dir: Path, path: str, digest: str) -> str | None:
    try:
        found = sha256_of(run_dir / path, run_dir)
    except OSError as error:
        return "is missing" if isinstance(error, FileNotFoundError) else f"can't be read: {error.strerror}"
    return None if found == digest else f"was changed ({changed_text(found, digest)})"
