"""`bench verify`: checks the numbers of briefs, and a run's files and signature."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchbrief.cli.run_options import chosen_run, out_option, run_name
from benchbrief.cli.terminal import Stop, fail, one_line, show, show_error, show_json, warn
from benchbrief.dsl.bench_error import BenchError, ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.runners.errors import RunnerError

if TYPE_CHECKING:
    from benchbrief.history.shared_store.signatures import SignedCheck
    from benchbrief.reports.data.numbers_file import NumbersFile
    from benchbrief.reports.verify_brief import Verification
    from benchbrief.results.runs.kept_files import KeptFiles

_KINDS = {".pdf": "PDF", ".html": "page", ".json": "file of numbers"}
_KINDS |= {".pptx": "presentation", ".xlsx": "workbook", ".docx": "document"}
"""The names of the kinds of files of a brief, by suffix."""
_MOST = 20
"""The most lines to show. Further lines are only counted."""


def verify_outputs(
    run_dir: Path, allowed: Path | None, *, is_enough: bool, quiet: bool
) -> tuple[dict[str, Any], ExitCode]:
    """Compare a run's files with its journal, and its signature with the signers in `allowed`.

    Prints the findings unless `quiet`, and returns the document for `--json` and the exit code. A missing brief is an
    error, unless the raw outputs are enough.
    """
    from benchbrief.history.shared_store.signatures import check_signed
    from benchbrief.results.open_store import store_problem
    from benchbrief.results.runs.kept_files import check_raw_outputs
    from benchbrief.runners.journal.run_folder import load_plan

    found, damaged = check_raw_outputs(run_dir), store_problem(run_dir)
    signed = check_signed(run_dir, (), allowed, raw=True) if allowed else None
    kept = [f"{run_dir / 'store'}: {damaged}; for tables that are: bench rebuild"] if damaged else []
    is_signed = signed is None or signed.holds
    is_sound = not found.problems and not kept
    document: dict[str, Any] = {
        "brief": None,
        "run": str(run_dir),
        "holds": is_signed and is_sound,
        "raw_files": found.files,
        "raw": found.problems,
        "kept": kept,
    }
    if signed:
        document["signed"] = asdict(signed)
    if not quiet:
        state = f"{len(found.problems):,} missing or changed" if found.problems else "as recorded"
        show(one_line(f"{run_dir.name}: raw outputs: {plural(found.files, 'file')}, {state}"))
        warn_of_first([*kept, *found.problems.values()])
        if signed:
            show_signature(signed)
    if not is_signed or not is_sound:
        return document, ExitCode.SPEC_WRONG if not is_signed else ExitCode.CELL_FAILED
    if is_enough or not load_plan(run_dir).reports:
        return document, ExitCode.DONE
    hint = f"make it first: bench report {run_name(run_dir)}; --raw looks at the raw outputs alone"
    return document, fail(f"{run_dir.name} has no brief in its folder", hint).exit_code


def code_of_kept(files: KeptFiles) -> ExitCode:
    """Return the exit code for the state of a run's files."""
    if files.edited:
        return ExitCode.SPEC_WRONG
    return ExitCode.CELL_FAILED if files.missing or files.unrecorded else ExitCode.DONE


def show_kept(run_dir: Path, files: KeptFiles, not_looked_at: str) -> None:
    """Show which files of a run were not checked, and then the state of its raw outputs and its reports' files."""
    looked = f"not looked at: {not_looked_at}" if not_looked_at else "all that it keeps is looked at"
    show(one_line(f"{run_dir.name}: {looked}"))
    there = f"{len(files.missing):,} missing" if files.missing else "none missing"
    wrong = len(files.edited) + len(files.unrecorded)
    state = f"{wrong:,} edited, or not recorded" if wrong else "as they were made"
    reports = f"; reports: {plural(files.reports, 'file')}, {state}" if files.reports else ""
    show(f"raw outputs: {plural(files.raw, 'file')}, {there}{reports}")
    warn_of_first([*files.edited, *files.unrecorded, *files.missing])


def show_signature(signed: SignedCheck) -> None:
    """Show the verdict on a signature, and which files differ from the signed ones."""
    if signed.verdict.state == "holds":
        count = len(signed.differing)
        are = "is" if count == 1 else "are"
        state = "as it was signed" if not count else f"{plural(count, 'file')} {are} not as signed"
        show(one_line(f"{signed.verdict.text}: {state}"))
    else:
        hint = "; `bench push --sign KEY` signs it" if signed.verdict.state == "absent" else ""
        warn(one_line(f"the run is {signed.verdict.text}{hint}"))
    warn_of_first(signed.differing)


def _capsule_signed(
    brief: Path, allowed: Path | None, *, with_run: bool, quiet: bool
) -> tuple[dict[str, str] | None, bool]:
    """Show who signed a brief's capsule. With `with_run`, an unsigned capsule is not mentioned. Returns the data for
    `--json`, and whether the capsule is sound. An unsigned capsule counts as sound."""
    from benchbrief.history.shared_store.signatures import check
    from benchbrief.reports.brief_error import ReportError
    from benchbrief.reports.capsule.find_capsule import capsule_if_any

    try:
        capsule = capsule_if_any(brief)
    except ReportError as error:
        if not quiet:
            warn(one_line(error.message))
        return {"state": "damaged", "signer": "", "key": ""}, False
    if capsule is None:
        return None, True
    found = check(capsule.listed, capsule.signature, allowed)
    is_sound = found.state not in ("wrong", "unknown")
    if not quiet and not (with_run and found.state == "absent"):
        (show if is_sound else warn)(one_line(f"its capsule is {found.text}"))
    return asdict(found), is_sound


def warn_of_first(lines: Sequence[str]) -> None:
    """Show the first lines as warnings, and count the others. `--json` has all of them."""
    for line in lines[:_MOST]:
        warn(one_line(line))
    if len(lines) > _MOST:
        warn(f"and {len(lines) - _MOST:,} more; --json has them all")


@click.command(
    epilog="""
\b
Examples:
  bench verify                                 the briefs of the last run
  bench verify 20260301 --raw                  and a run's raw outputs
  bench verify briefs/*.pdf                    each with its own run
  bench verify brief.html --store 20260301     a brief that was copied
  bench verify brief-disclosure.pdf            a disclosure, and its brief
  bench verify brief.pptx                      slides that were edited
  bench verify brief.pdf --from-raw            do not trust the tables
  bench verify 20260301 --allowed-signers signers
  bench verify brief.json --json | jq '.differing[].why'

\b
Exit codes; of several briefs, the first of 1, 2, 3 that one ends with:
  0  every number holds, and the document shows it as it was made
  1  a number does not hold; the brief or a file made with it was edited;
     or the run is not signed as it is now (--allowed-signers)
  2  wrong usage, or the brief, its numbers or its run is not there
  3  a raw output is missing or was changed (--raw, --from-raw, or without a
     brief); the run's journal, plan, spec or tables are missing or were
     changed; or the journal has no record of a page
"""
)
@click.argument("briefs", metavar="[RUN|BRIEF]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--store", "run", help="The run of a BRIEF that was copied elsewhere.")
@out_option
@click.option("--raw", is_flag=True, help="Check the SHA-256 of each raw output behind the numbers.")
@click.option("--from-raw", is_flag=True, help="Compute the numbers from the raw outputs, parsed again; implies --raw.")
@click.option(
    "--allowed-signers",
    "allowed",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Require a signature by one of the keys in FILE, as `bench push --sign` makes.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON; of several briefs, as an array.")
def command(
    briefs: tuple[Path, ...],
    run: str | None,
    out: Path,
    raw: bool,
    from_raw: bool,
    allowed: Path | None,
    as_json: bool,
) -> None:
    """Compute every number of each BRIEF (its PDF, HTML, JSON, pptx, xlsx or docx) again from the stored results, and
    say whether it holds.

    A RUN (its name, the start of it, or its folder; the last one by default) means all its briefs. In this case, all
    files of its reports are compared with the journal, and its raw outputs must exist. If the run has no brief, each
    raw output is compared with its SHA-256. The first line says what was not checked.

    A number holds if its value is the same to nine digits. The numbers shown in a PDF or a page are compared with those
    it was made from, so edited numbers are found. In a pptx, xlsx or docx, each number is looked for, and words may
    have changed. Nothing is downloaded, and the run is not changed.

    Someone who can write to the run could forge all of this together. With --allowed-signers, each file must also match
    the manifest that was signed when the run was pushed.
    """
    from benchbrief.history.shared_store.signatures import check_signed

    codes, documents = set[ExitCode](), list[dict[str, Any]]()
    kept: dict[Path, KeptFiles] = {}
    briefs = tuple(_named(briefs, run, out, kept))
    for run_dir, files in kept.items():
        codes.add(code_of_kept(files))
        hashed = raw or from_raw or run_dir in {brief.resolve() for brief in briefs}
        if not as_json:
            show_kept(run_dir, files, _not_looked_at(files, hashed, from_raw, allowed))
    for brief in briefs:
        try:
            if (brief / "plan.json").is_file():
                with _reading_run():
                    enough = raw or from_raw or allowed is not None
                    document, code = verify_outputs(brief, allowed, is_enough=enough, quiet=as_json)
                codes.add(code)
                documents.append(_with_kept(document, kept.get(brief.resolve())))
                continue
            numbers, run_dir, found = _verified(brief, run, out, raw=raw, from_raw=from_raw)
            with _reading_run():
                signed = check_signed(run_dir, (brief,), allowed, raw=raw or from_raw) if allowed else None
        except BenchError as error:
            if len(briefs) == 1:
                raise
            codes.add(show_error(error).exit_code)
            documents.append({"brief": str(brief), "holds": None})
            continue
        if not as_json:
            _show_result(brief, numbers, found)
            if signed:
                show_signature(signed)
        with_run = signed is not None and signed.holds
        capsule, of_capsule = _capsule_signed(brief, allowed, with_run=with_run, quiet=as_json)
        sound = not found.raw and not found.kept
        holds = found.holds and (signed is None or signed.holds) and of_capsule
        codes.add(ExitCode.SPEC_WRONG if not holds else ExitCode.DONE if sound else ExitCode.CELL_FAILED)
        document = {"brief": str(brief), "run": str(run_dir), "holds": holds and sound, **asdict(found)}
        document = _with_kept({**document, "capsule": capsule}, kept.get(run_dir.resolve()))
        documents.append({**document, "signed": asdict(signed)} if signed else document)
    if as_json:
        show_json(documents if len(briefs) > 1 else documents[0])
    if worst := min(codes - {ExitCode.DONE}, default=None):
        raise Stop(worst)


def _with_kept(document: dict[str, Any], files: KeptFiles | None) -> dict[str, Any]:
    """Add the problems of the run's other files, if these files were checked."""
    if files is None:
        return document
    holds = document["holds"] and code_of_kept(files) is ExitCode.DONE
    told = {"raw_missing": files.missing, "reports_edited": files.edited, "reports_unrecorded": files.unrecorded}
    return {**document, "holds": holds, **told}


def _not_looked_at(files: KeptFiles, raw: bool, from_raw: bool, allowed: Path | None) -> str:
    what = [
        *([] if raw else [f"what {plural(files.raw, 'raw output')} hold{'s' * (files.raw == 1)} (--raw)"]),
        *([] if from_raw else ["whether they give these numbers again (--from-raw)"]),
        *([] if allowed else ["who made them (--allowed-signers)"]),
    ]
    return ", and ".join([", ".join(what[:-1]), *what[-1:]]) if what[1:] else "".join(what)


def _named(words: tuple[Path, ...], run: str | None, out: Path, kept: dict[Path, KeptFiles]) -> Iterator[Path]:
    """Yield the named briefs, and the briefs of named runs. If a run is named, its other files are checked, too. Raises
    Stop, RunnerError, ResultsError."""
    if not words:
        yield from _briefs_of(chosen_run(out, run), kept)
    for word in words:
        is_brief = word.is_file() or word.suffix.lower() in _KINDS
        if is_brief or (word.is_dir() and not (word / "plan.json").is_file()):
            yield word
        else:
            yield from _briefs_of(chosen_run(out, str(word)), kept)


def _briefs_of(run_dir: Path, kept: dict[Path, KeptFiles]) -> Iterator[Path]:
    """Yield each brief in a run's folder: its PDF, or else its HTML, or else the folder. If the numbers of a brief were
    not measured here, its name says so. Raises Stop."""
    from benchbrief.results.runs.kept_files import look_at_kept
    from benchbrief.runners.journal.run_folder import load_plan

    with _reading_run():
        reports = [report.name for report in load_plan(run_dir).reports]
        kept[run_dir.resolve()] = look_at_kept(run_dir)
    names = [f"{name}{mark}" for name in reports for mark in ("", "-simulated", "-imported")]
    files = (run_dir / "reports" / f"{name}{suffix}" for name in names for suffix in (".pdf", ".html"))
    made = {path.stem: path for path in reversed([path for path in files if path.is_file()])}
    if not made:
        yield run_dir
    yield from (made[name] for name in names if name in made)


def _verified(
    brief: Path, run: str | None, out: Path, *, raw: bool, from_raw: bool
) -> tuple[NumbersFile, Path, Verification]:
    """Verify a brief against its run's tables. Raises Stop, RunnerError, ReportError."""
    from benchbrief.reports.verify_brief import check_journal, read_brief, verify
    from benchbrief.results.open_store import rebuilt_store, store_problem, unchanged_store
    from benchbrief.results.runs.kept_files import made_of
    from benchbrief.runners.journal.run_folder import load_plan, plan_of_digest

    if brief.is_dir():
        raise _no_brief(brief)
    made = read_brief(brief)
    run_dir = _run_of(brief, made.numbers, run, out)
    with _reading_run():
        own, plan = load_plan(run_dir), plan_of_digest(run_dir, made.numbers.plan_sha256)
        known, damaged = made_of(run_dir, made.numbers.report), store_problem(run_dir)
        elsewhere = from_raw or damaged
        # If the journal can't be read, use the tables as they are, without checking whether the journal has grown.
        store = rebuilt_store(run_dir) if elsewhere else unchanged_store(run_dir, grown_too=bool(known.problem))
        with store as results:
            hashed = run_dir if raw or from_raw else None
            found = verify(made, plan or own, results, hashed, known=plan is not None)
        if damaged:
            found = replace(found, kept=(f"{run_dir / 'store'}: {damaged}; for tables that are: bench rebuild",))
        return made.numbers, run_dir, check_journal(found, brief, made, own, run_dir, known)


def _no_brief(folder: Path) -> Stop:
    """Return the error for a folder that was given instead of a brief. It suggests the first brief in the folder."""
    from benchbrief.reports.data.numbers_file import OF_DISCLOSURE

    kinds = ("*.pdf", "*.html", "reports/*.pdf", "reports/*.html", "*/reports/*.pdf", "*/reports/*.html")
    found = (brief for kind in kinds for brief in sorted(folder.glob(kind)))
    made = next((brief for brief in found if not OF_DISCLOSURE.search(brief.name)), None)
    hint = f"give a brief: bench verify {made}" if made else "give the PDF, HTML, JSON, pptx, xlsx or docx of a brief"
    return fail(f"{folder} is a folder, and not a brief", hint)


@contextmanager
def _reading_run() -> Iterator[None]:
    """Within the block, convert errors from reading a run's files to Stop with a message. DiskFull is raised
    unchanged."""
    from benchbrief.dsl.bench_error import FULL
    from benchbrief.runners.errors import DiskFull

    try:
        yield
    except DiskFull:
        raise
    except RunnerError as error:
        raise fail(str(error), error.hint, ExitCode.CELL_FAILED) from error
    except OSError as error:
        if error.errno in FULL or not error.filename:
            raise
        hint = "put the file back from a copy"
        raise fail(f"{error.filename} can't be read: {error.strerror}", hint, ExitCode.CELL_FAILED) from error


def _run_of(brief: Path, numbers: NumbersFile, run: str | None, out: Path) -> Path:
    from benchbrief.results.runs.find_runs import find_run, list_runs
    from benchbrief.results.store_errors import ResultsError
    from benchbrief.runners.journal.journal_file import JOURNAL
    from benchbrief.runners.journal.run_folder import PLAN

    if run is not None:
        try:
            return find_run(out, run)
        except ResultsError as error:
            if not Path(run).is_dir() and list_runs(out):
                raise
            what = f"{run} is not the folder of a run" if Path(run).is_dir() else f"no run {run} in {out}"
            hint = f"--store wants the run of the brief: {numbers.run}, or the folder of that name, wherever it lies"
            raise fail(what, hint) from error
    beside = brief.resolve().parent.parent
    if any((beside / name).is_file() for name in (PLAN, JOURNAL)):  # one of them may have been lost
        return beside
    try:
        return find_run(out, numbers.run)
    except Exception as error:
        raise fail(f"the run of {brief}, {numbers.run}, is not in {out}", "name it: --store RUN") from error


def _show_result(brief: Path, numbers: NumbersFile, found: Verification) -> None:
    show(one_line(f"{brief}: {numbers.title} (run {numbers.run}, {numbers.kind})"))
    show(f"{plural(found.numbers, 'number')}: {_held(found.numbers, len(found.differing))}")
    show(f"{plural(found.points, 'value')} in {plural(len(numbers.figures), 'figure')}: "
               f"{_held(found.points, len(found.drawn))}")  # fmt: skip
    kind = _KINDS.get(brief.suffix.lower(), "file of numbers")
    if found.edited is not None:
        show(f"the {kind} itself: {_shown(numbers, found)}")
    if found.beside_files:
        state = "as they were made" if not found.beside else f"{len(found.beside):,} missing or changed"
        show(f"made with it: {plural(found.beside_files, 'file')}, {state}")
    if found.raw is None:
        show("raw outputs: not looked at; `--raw` does")
    else:
        state = "as recorded" if not found.raw else f"{len(found.raw):,} missing or changed"
        show(f"raw outputs: {plural(found.raw_files, 'file')}, {state}")
    if found.kept:
        show(f"kept by the run: {plural(len(found.kept), 'file')} missing or changed")
    lines = [
        *(f"missing from the brief since it was made: {gap}" for gap in found.not_made),
        *found.foreign,
        *([f"{brief.name} is not, to the byte, the {kind} that was made"]
          if found.whole is False and not found.is_editable else ()),
        *found.beside,
        *found.kept,
        *(f"{e.place}: shows {e.found or 'nothing'}, was made as {e.recorded}" if e.recorded else
          f"it shows {e.found} as a number, which the file of its numbers lacks" for e in found.edited or ()),
        *(f"{d.place}: {d.expression}: shown {d.shown}, now {_now(d.shown, d.now, d.value, d.value_now)}: {d.why}"
          for d in found.differing),
        *(f"{d.figure} ({d.title}): {d.expression} at {', '.join(map(str, d.at))}: drawn {_exact(d.value)}, "
          f"now {_exact(d.value_now)}: {d.why}" for d in found.drawn),
        *(f"{path} {problem}" for path, problem in (found.raw or {}).items()),
        *(f"{place}: has numbers that were added since, for which nothing vouches" for place in found.added),
        *(f"sheet {name}: too long to be looked at" for name in found.unread),
    ]  # fmt: skip
    warn_of_first([re.sub("[\u00a0\u202f]", " ", line) for line in lines])


def _shown(numbers: NumbersFile, found: Verification) -> str:
    if found.edited:
        return f"{plural(len(found.edited), 'number')} edited"
    if found.is_editable and found.whole is not True:
        return "numbers as made; it was saved again since, and its words and pictures are not looked at"
    if found.whole is None:  # an earlier benchbrief's PDF
        linked = sum(number.linked for number in numbers.numbers)
        if not linked:
            return "no number is marked; words and drawings are not looked at"
        return f"its {plural(linked, 'marked number')} as made; words and drawings are not looked at"
    return "as it was made" if found.whole else "numbers as made, but the document was edited elsewhere"


def _held(count: int, differing: int) -> str:
    if not differing:
        return "all hold" if count != 1 else "holds"
    return f"{count - differing:,} hold, {differing:,} {'does' if differing == 1 else 'do'} not"


def _now(shown: str, now: str, value: float | None, value_now: float | None) -> str:
    """Return the recomputed value as a text. If it looks the same as the shown value, the exact values of both are
    added."""
    return now if now != shown else f"{now} ({_exact(value_now)} for {_exact(value)})"


def _exact(value: float | None) -> str:
    return "missing" if value is None else f"{value:.12g}"
