"""What the file of a brief's numbers says of itself, held against the plan, the store and the journal: nothing is taken
from the file that these don't say."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from benchbrief.compiler import plan as p
from benchbrief.reports.complete import Identity, identity, within
from benchbrief.reports.ledger import cell_entries
from benchbrief.reports.numbers import CellEntry, NumbersFile
from benchbrief.reports.source import Results

Known = Mapping[Identity, p.Query]
"""The queries of a plan."""


def known_queries(plan: p.Plan) -> Known:
    return {identity(query): query for query in within((plan.metrics, plan.expects, plan.reports), p.Query)}


def unfounded(numbers: NumbersFile, report: p.Report | None, results: Results) -> Iterator[str]:
    """What the file says otherwise than the plan's report and the store: its title, the cells behind its numbers, and
    what it tells of those cells."""
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
    entries = cell_entries(results.store)
    used = set().union(*(_ids(query, results) for query in queries.values())) & set(entries)
    told = [(cell, why) for cell in sorted(used | set(numbers.cells))
            if (why := changed(numbers.cells.get(cell), entries.get(cell)))]  # fmt: skip
    if told:
        cell, why = told[0]
        yield f"the file of its numbers tells {len(told):,} cells otherwise than the run, first {cell}, which {why}"


def changed(then: CellEntry | None, now: CellEntry | None) -> str:
    """What has become of a cell since the file told of it; "" where it is as it was."""
    if now is None:
        return "is not in the store"
    if then is None:
        return "it does not tell of"
    if now.hash != then.hash:
        return "is another measurement: the spec was changed"
    if now.status != then.status:
        return f"is {now.status} now, and was {then.status}"
    if (now.run, now.attempt) != (then.run, then.attempt):
        return f"was measured again (attempt {now.attempt} of run {now.run})"
    other = [path for path in sorted({*then.files, *now.files}) if then.files.get(path) != now.files.get(path)]
    return f"has other raw outputs, first {other[0]}" if other else ""


def raw_problems(numbers: NumbersFile, results: Results, run_dir: Path) -> dict[str, str | None]:
    """For each raw output behind the numbers, what is wrong with it: its digest is not the one that the journal has.

    They are those that the journal has of the cells that the plan's report and the file's numbers are computed from,
    the table that numbers were imported from, and those that the file itself names, by its digests where the journal
    knows of none.
    """
    from benchbrief.results.evidence import read_evidence
    from benchbrief.results.imports.keep import SHARED, shared_name

    known = known_queries(results.plan)
    report = next((each for each in results.plan.reports if each.name == numbers.report), None)
    of_file = (found for query in numbers.queries if (found := known.get(identity(query.query))))
    cells = set().union(*(_ids(query, results) for query in (*within(report, p.Query), *of_file)))
    evidence = read_evidence(run_dir)
    recorded = {
        f"{job.directory}/{name}": (digest, verdict.cell.id)
        for verdict in evidence.verdicts
        for job in verdict.jobs
        for name, digest in job.files.items()
    }
    named = _files(numbers.cells.values())
    stored = _files(cell_entries(results.store).values())
    tables = evidence.imported.files if evidence.imported and evidence.imported.kind == "table" else ()
    problems = {(path := f"{SHARED}/{shared_name(file)}"): _problem(run_dir, path, file.sha256) for file in tables}
    for path in sorted({*named, *(path for path, (_, cell) in recorded.items() if cell in cells)}):
        digest = recorded[path][0] if path in recorded else named[path]
        problems[path] = _problem(run_dir, path, digest)
        if problems[path] is None and path in recorded and stored.get(path) != digest:
            problems[path] = f"is told by the run's tables otherwise than by its journal (SHA-256 {digest[:12]})"
    return problems


def _files(cells: Iterable[CellEntry]) -> dict[str, str]:
    return {path: digest for cell in cells for path, digest in cell.files.items()}


def _ids(query: p.Query | None, results: Results, **at: str | float) -> set[str]:
    """The cells behind a query of the plan; none where the plan does not say: an earlier benchbrief made it."""
    if query is None or query.reads is None:
        return set()
    within_query = {dim: key for dim, key in at.items() if dim in query.dims}
    return {cell.cell_id for cell in results.cells_behind(query, **within_query)}


def _problem(run_dir: Path, path: str, digest: str) -> str | None:
    place = run_dir / path
    if not place.resolve().is_relative_to(run_dir.resolve()):
        return "lies outside of the run's folder"
    try:
        with place.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return "is missing" if isinstance(error, FileNotFoundError) else f"can't be read: {error}"
    return None if found == digest else f"was changed (SHA-256 {found[:12]}, recorded {digest[:12]})"
