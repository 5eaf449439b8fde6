"""The folder of an imported run: a plan, the original files, and a journal that names the source of the numbers.

Such a folder is a run like any other, so its tables can be rebuilt from the kept files. Its cells were measured
elsewhere, and values that the files lack are missing.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from benchbrief.compiler.planning.plan_file import plan_sha256
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.events import MEASURE, SOURCE
from benchbrief.model.plan import Cell, Plan
from benchbrief.model.value_shapes import LINE, PARAGRAPH
from benchbrief.model.version import benchbrief_version
from benchbrief.results.imports.imported_files import ImportProblem, ImportRefused
from benchbrief.results.result_messages import say
from benchbrief.results.runs.find_runs import imported_from, list_runs
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.journal import controller_clock
from benchbrief.runners.journal.atomic_files import sha256_of
from benchbrief.runners.journal.journal_file import Journal
from benchbrief.runners.journal.run_folder import cell_directory, create_run, files_of_beginning

MANIFEST = "import.json"
_UNITS: Mapping[object, str] = {1e-9: "ns", 1e-6: "us", 1e-3: "ms"}


class CellValue(BaseModel):
    """A published number of a cell, in base units. `measure` is the number's name in the language (`latency.p99`).

    `line` is the line in the table. `node` is the host of a sample. `operation` is "" for all operations together.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    measure: str
    operation: str = ""
    phase: int | None = None
    node: str = ""
    value: float
    line: int


class ImportManifest(BaseModel):
    """Says how to read a cell's files. `kind` is the importer. `names` maps the kept names to the files' original
    names.

    Table rows that name no experiment belong to `experiment`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: str
    experiment: str = ""
    names: dict[str, str] = {}
    options: dict[str, str | float | bool] = {}
    """The importer's options that the user gave, by name."""
    remark: str = ""
    """A remark on what is missing or incomplete in the files, or ""."""

    @model_validator(mode="before")
    @classmethod
    def _with_options(cls, given: dict[str, object]) -> dict[str, object]:
        """Convert a manifest from earlier versions, which stored the unit of HDR logs in seconds."""
        known = dict(given)
        if "unit_s" in known:
            known["options"] = {"unit": _UNITS.get(known.pop("unit_s"), "us")}
        return known


def read_manifest(directory: Path, made_by: str) -> ImportManifest:
    """Read a manifest. Raises ResultsError if it can't be read. `made_by` is the version of benchbrief that wrote the
    manifest."""
    path = directory / MANIFEST
    try:
        return ImportManifest.model_validate_json(path.read_bytes())
    except ValidationError as error:
        if any(found["type"] == "json_invalid" for found in error.errors()):
            raise _unreadable(path) from error
        what = f"{path} is of an import by another benchbrief, {made_by}, which this one can't read"
        raise ResultsError(what, "import the files again") from error
    except OSError as error:
        raise _unreadable(path) from error


def _unreadable(path: Path) -> ResultsError:
    return ResultsError(f"{path} does not say what was imported", "import the files again")


KEYS = ("title", "publisher", "url", "document", "date", "licence")
STATEMENT = "statement"
LIMIT = "limit"
TOLD = "told"
FACTS = "facts"
REST = "rest"
NOT_PUBLISHED = "not published"
OWN = "own measurements"
"""The default title for the user's own numbers."""
LONGEST: Mapping[str, int] = {
    **dict.fromkeys(KEYS, LINE),
    "url": PARAGRAPH,
    "licence": PARAGRAPH,
    STATEMENT: PARAGRAPH,
    LIMIT: LINE,
    TOLD: LINE,
    FACTS: PARAGRAPH,
    REST: LINE,
}
"""The largest allowed number of characters for each kind of statement."""
_SLIPPED = 2
"""A misspelling of a topic may be longer or shorter than the topic by this many letters."""
_LINE = re.compile(r"#\s*([A-Za-z]+)\s*:\s*(.*)")


@dataclass(frozen=True)
class StatedSource:
    """The source of imported numbers. `said` maps `KEYS` to values. `statements` are further remarks by the source, and
    `limits` say what the numbers do not show.

    `told` are the versions and settings that the source states, each with a name and a text. `facts` are the names of
    the spec's facts that the source states, or None if the file does not give them.
    """

    said: Mapping[str, str] = field(default_factory=dict)
    statements: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    told: tuple[tuple[str, str], ...] = ()
    facts: tuple[str, ...] | None = None
    rest_not_published: bool = False
    mine: bool = False
    """True if the numbers are unpublished measurements by the importing user."""

    def given(self, options: StatedSource) -> StatedSource:
        """Return the source with the statements from the command line. These replace the title, licence and so on that
        the file states."""
        facts = self.facts if options.facts is None else (*(self.facts or ()), *options.facts)
        said = {**self.said, **options.said}
        return replace(self, said=said, told=(*self.told, *options.told), facts=facts, mine=options.mine)

    @property
    def name(self) -> str:
        """The title, followed by the name of whoever published or measured the numbers."""
        title, publisher = self.said.get("title") or OWN, self.said.get("publisher")
        return f"{title} ({publisher})" if publisher else title

    def missing(self) -> str:
        """Return which required statements are missing, or "" if all are there."""
        lacking = [key for key in ("title", "publisher", "licence") if not self.said.get(key)]
        if not self.said.get("url") and not self.said.get("document"):
            lacking.append("url or document")
        return ", ".join(lacking)


def require_source(source: StatedSource, file: str) -> None:
    """Raise ImportRefused if a required statement about the source is missing. The user's own measurements need no
    statements."""
    if source.mine:
        if foreign := [key for key in ("publisher", "licence") if source.said.get(key)]:
            what = f"the numbers have a {' and a '.join(foreign)}, and are said to be your own"
            raise ImportRefused([ImportProblem(file, None, what, "leave out --mine, or those")])
        return
    if lacking := source.missing():
        hint = (
            "say it in lines before the table's head, as `# title: ...`, or by options, as --title and --licence "
            "(what its publisher lets others do with the numbers); for what you measured yourself, --mine is enough"
        )
        raise ImportRefused([ImportProblem(file, None, f"who published these numbers is not said: {lacking}", hint)])


def source_of_options(
    said: Mapping[str, str | None],
    told: Sequence[str],
    facts: str,
    known_facts: Collection[str],
    topics: Collection[str] = (),
    *,
    mine: bool = False,
) -> StatedSource:
    """Return the source given on the command line. `told` and `facts` are written as in a table's comment lines.

    `topics` are the topics that a brief lists as not stated. A misspelt topic in `told` is a problem, because the brief
    would still list the correct topic as not stated. Raises ImportRefused with all problems.
    """
    problems: list[ImportProblem] = []
    settings = [_setting(text, "--told", None, problems) for text in told]
    for name, _ in settings:
        if (meant := _slip(name, topics)) is not None:
            what = f"a brief has no topic `{name}`, so it would still say that the source does not tell its {meant}"
            problems.append(ImportProblem("--told", None, what, f"did you mean `{meant}`?"))
    names = _facts(facts, "--facts", None, known_facts, problems) if facts else None
    if problems:
        raise ImportRefused(problems)
    return StatedSource({key: text for key, text in said.items() if text}, told=tuple(settings), facts=names, mine=mine)


def read_source(
    lines: Sequence[tuple[int, str]], file: str, problems: list[ImportProblem], known_facts: Collection[str] = ()
) -> StatedSource:
    """Read a source from a file's comment lines, each given with its line number. Other comments are ignored.

    `known_facts` are the names of the facts that the spec's hardware declares.
    """
    said: dict[str, str] = {}
    statements, limits = [], []
    told: list[tuple[str, str]] = []
    facts: tuple[str, ...] | None = None
    rest = False
    for number, line in lines:
        match = _LINE.match(line)
        if match is None:
            continue
        key, text = _key(match), match[2].strip()
        if key == STATEMENT:
            statements.append(text)
        elif key == LIMIT:
            limits.append(text)
        elif key == TOLD:
            told.append(_setting(text, file, number, problems))
        elif key == FACTS:
            facts = (*(facts or ()), *_facts(text, file, number, known_facts, problems))
        elif key == REST:
            rest = text == NOT_PUBLISHED
            if not rest:
                problems.append(
                    ImportProblem(file, number, f"`rest` is `{NOT_PUBLISHED}`, or is left out, and not `{text}`")
                )
        elif key not in KEYS:
            guess = did_you_mean(key, (*KEYS, STATEMENT, LIMIT, TOLD, FACTS, REST))
            if guess:
                problems.append(
                    ImportProblem(file, number, f"unknown key `{key}` of a source", f"did you mean `{guess}`?")
                )
        elif key in said:
            problems.append(ImportProblem(file, number, f"the source's {key} is said twice"))
        else:
            said[key] = text
    return StatedSource(said, tuple(statements), tuple(limits), tuple(told), facts, rest)


def long_lines(lines: Sequence[tuple[int, str]], file: str) -> list[ImportProblem]:
    """Return a problem for each comment line that is too long."""
    found = [(number, match) for number, line in lines if (match := _LINE.match(line))]
    reasons = [(number, too_long(_key(match), match[2].strip())) for number, match in found]
    return [ImportProblem(file, number, f"the source's {why}", "shorten it") for number, why in reasons if why]


def _key(match: re.Match[str]) -> str:
    return match[1].lower().replace("license", "licence")


def too_long(key: str, text: str) -> str:
    """Return the problem with the length of a statement, or "" if the statement is within its limit or has no limit."""
    most = LONGEST.get(key)
    return "" if most is None or len(text) <= most else f"{key} has {len(text):,} characters; the limit is {most:,}"


def _setting(text: str, file: str, line: int | None, problems: list[ImportProblem]) -> tuple[str, str]:
    """Split `Load generator: YCSB 0.17.0` into a name and a text."""
    name, colon, value = (part.strip() for part in text.partition(":"))
    if not (colon and name and value):
        hint = "write a name, a colon and a text: `Load generator: YCSB 0.17.0, 96 threads`"
        problems.append(ImportProblem(file, line, f"`told` needs a name, a colon and a text, and has `{text}`", hint))
    return name, value


def _slip(name: str, topics: Collection[str]) -> str | None:
    """Return the topic that a name misspells, or None if the name is a topic itself or resembles none."""
    known = {topic.casefold(): topic for topic in topics}
    if not name or name.casefold() in known:
        return None
    meant = did_you_mean(name.casefold(), known)
    # The beginning of a topic is not a misspelling: "database" is not "database and its options".
    return known[meant] if meant and abs(len(meant) - len(name)) <= _SLIPPED else None


def _facts(
    text: str, file: str, line: int | None, known: Collection[str], problems: list[ImportProblem]
) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    problems += [_unknown_fact(name, file, line, known) for name in names if name not in known]
    return names


def _unknown_fact(name: str, file: str, line: int | None, known: Collection[str]) -> ImportProblem:
    guess = did_you_mean(name, tuple(known))
    hint = f"did you mean `{guess}`?" if guess else f"there is {', '.join(sorted(known)) or 'none'}"
    return ImportProblem(file, line, f"no hardware of the spec declares a fact `{name}`", hint)


SHARED = "raw/imported"
"""The folder for files with the numbers of several cells."""


@dataclass(frozen=True)
class KeptJob:
    """The files of one job of a cell, by the names under which they are kept."""

    job: str
    host: str
    manifest: ImportManifest
    files: Mapping[str, Path] = field(default_factory=dict)
    window: tuple[float, float] | None = None


@dataclass(frozen=True)
class CellImport:
    """The imported data of a cell. If its numbers are for all repeats together, `not_needed` has the other repeats of
    the point.

    `failed` is the share of operations that failed, or 0 if unknown.
    """

    cell: Cell
    jobs: tuple[KeptJob, ...]
    ops_per_s: float | None
    not_needed: tuple[Cell, ...] = ()
    failed: float = 0.0


def imported_before(out: Path, files: Iterable[j.ImportedFile]) -> str:
    """Return a text that names the first of these files that was imported before, and the run that has it. Return "" if
    none was."""
    wanted = {file.sha256: file.name for file in files}
    for run_dir in list_runs(out):
        source = imported_from(run_dir)
        for file in source.files if source else ():
            if file.sha256 in wanted:
                return f"{wanted[file.sha256]} was imported before, as {file.name} of run {run_dir.name}"
    return ""


@dataclass(frozen=True)
class Prepared:
    """Everything that an import would keep. With `shared`, the numbers of all cells come from `files`. Otherwise, each
    cell has its own files.

    `problems` are the problems of the files and rows that were left out. `remarks` say what is incomplete.
    """

    kind: str
    source: StatedSource
    files: tuple[tuple[Path, j.ImportedFile], ...]
    cells: tuple[CellImport, ...]
    published: tuple[j.PublishedValue, ...] = ()
    shared: bool = False
    problems: tuple[ImportProblem, ...] = ()
    remarks: tuple[str, ...] = ()
    not_published: tuple[Cell, ...] = ()
    """The cells whose numbers the source says are unpublished."""


def keep_run(out: Path, plan: Plan, spec_files: Mapping[str, bytes], what: Prepared) -> Path:
    """Make a new run and return its directory. If that fails, nothing is left behind. Raises RunnerError."""
    source = what.source
    said = dict(source.said)
    imported = j.Imported(
        kind=what.kind,
        title=said.get("title") or OWN,
        publisher=said.get("publisher", ""),
        licence=said.get("licence", ""),
        url=said.get("url", ""),
        document=said.get("document", ""),
        date=said.get("date", ""),
        statements=source.statements,
        limits=source.limits,
        told=source.told,
        facts=source.facts,
        files=tuple(file for _, file in what.files),
    )
    digest = plan_sha256(plan)

    def begin(run_dir: Path) -> None:
        common: dict[str, str] = {}
        if what.shared:
            for path, file in what.files:
                name = shared_name(file)
                _copy(path, run_dir / SHARED / name)
                common[name] = file.sha256
        _write_journal(run_dir, plan, digest, imported, what, common)

    return create_run(out, plan, spec_files, begin, imported=True)


def shared_name(file: j.ImportedFile) -> str:
    """Return the name of a kept file in the folder SHARED: the beginning of its digest, followed by the file's own
    name."""
    return f"{file.sha256[:12]}-{Path(file.name).name}"


def _write_journal(
    run_dir: Path,
    plan: Plan,
    digest: str,
    imported: j.Imported,
    what: Prepared,
    common: Mapping[str, str],
) -> None:
    journal = Journal(run_dir)
    try:
        now = controller_clock.now()
        journal.write(
            j.RunStarted(
                at=now,
                run_id=run_dir.name,
                plan_sha256=digest,
                benchbrief=benchbrief_version(),
                spec=plan.spec.name,
                profile=plan.spec.profile,
                controller_pid=os.getpid(),
                imported=imported,
                files=files_of_beginning(run_dir),
            )
        )
        for value in what.published:
            journal.write(value.model_copy(update={"at": now}))
        for each in what.cells:
            _write_cell(journal, run_dir, each, common, now)
        for cell in what.not_published:
            journal.write(j.CellSkipped(at=now, cell=cell.id, hash=cell.hash, reason=say.not_published()))
        journal.write(j.RunEnded(at=controller_clock.now(), status="done", message=say.imported()))
    finally:
        journal.close()


def _write_cell(journal: Journal, run_dir: Path, each: CellImport, common: Mapping[str, str], now: float) -> None:
    cell = each.cell
    started = j.CellStarted(at=now, cell=cell.id, hash=cell.hash, attempt=1, threads=cell.threads, target=cell.target)
    journal.write(started)
    for job in each.jobs:
        folder = cell_directory(cell.id, 1) / f"{job.job.replace(':', '-').replace(',', '-')}-{job.host}"
        (run_dir / folder).mkdir(parents=True)
        (run_dir / folder / MANIFEST).write_text(job.manifest.model_dump_json(indent=1), encoding="utf-8")
        names = [MANIFEST, *job.files]
        for name, path in job.files.items():
            _copy(path, run_dir / folder / name)
        begin, end = job.window or (now, now)
        journal.write(
            j.JobCollected(
                at=now,
                cell=cell.id,
                attempt=1,
                step=MEASURE,
                job=job.job,
                host=job.host,
                directory=str(folder),
                exit_code=None,
                started_at=begin,
                ended_at=end,
                files={name: sha256_of(run_dir / folder / name) for name in names},
            )
        )
    if common:
        journal.write(
            j.JobCollected(
                at=now,
                cell=cell.id,
                attempt=1,
                step=MEASURE,
                job=SOURCE,
                host="",
                directory=SHARED,
                exit_code=None,
                started_at=now,
                ended_at=now,
                files=dict(common),
            )
        )
    journal.write(j.CellEnded(at=now, cell=cell.id, hash=cell.hash, attempt=1, status="ok", ops_per_s=each.ops_per_s))
    for other in each.not_needed:
        journal.write(j.CellSkipped(at=now, cell=other.id, hash=other.hash, reason=say.one_for_all()))


def _copy(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, to)


def describe_file(path: Path) -> j.ImportedFile:
    """Describe a file in its current state. Raises ResultsError if it can't be read."""
    try:
        return j.ImportedFile(name=str(path), sha256=sha256_of(path), size=path.stat().st_size)
    except OSError as error:
        raise ResultsError(f"{path} can't be read: {error.strerror}") from error
