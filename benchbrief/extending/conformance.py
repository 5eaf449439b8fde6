"""`bench extensions try`: checks whether an installed extension conforms, and lists the trials that could not be made.

A trial is a function whose docstring states the property that it checks. It returns the problem that it found, or
raises Skipped if it can't run.
"""

from __future__ import annotations

import csv
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

from benchbrief.compiler.compile import check
from benchbrief.compiler.registry import ENGINE_SPECS, REGISTRIES, TOOL_SPECS, Offer, RefusedExtension, package_files
from benchbrief.dsl.bench_error import BenchError
from benchbrief.extending.installed_code import code_problem, imported_past
from benchbrief.extending.snapshot_trials import Unmade, try_promises
from benchbrief.model.engine_spec import EVERYWHERE, EngineSpec
from benchbrief.model.events import MEASURE
from benchbrief.model.extension_spec import (
    LANGUAGES,
    ExtensionSpec,
    ImporterSpec,
    ProbeMeasure,
    ProbeSpec,
    SnapshotSpec,
    raised,
)
from benchbrief.model.tool_spec import ToolSpec
from benchbrief.model.value_shapes import Key, Number
from benchbrief.results.imports.imported_files import Wrong
from benchbrief.results.imports.importer_seams import output_importer
from benchbrief.results.ingest.cell_measurement import context_of
from benchbrief.results.ingest.run_evidence import read_evidence
from benchbrief.results.runs.find_runs import last_run
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.jobs.tasks import JobOutput
from benchbrief.runners.journal.journal_file import JOURNAL, read_run
from benchbrief.runners.plugins import driver

Read = TypeVar("Read")

_RUN_S = 300.0
_WARM_UP_S = 60.0
_RUN = ("run", "brief.bench", "--no-report", "--wait")
_BENCH = (sys.executable, "-P", "-c", "from benchbrief.start import main; main()")
_JOURNALS = f"bench-out/*/{JOURNAL}"
_FOREIGN = "[OVERALL], RunTime(ms), 60000\n[OVERALL], Throughput(ops/sec), 12345.6\n"
_TIMES_LEAST = 16
_SPOILS: Mapping[str, Callable[[str], str]] = {
    "an empty": lambda _: "",
    "a cut": lambda text: text[: len(text) // 2],
    "a doubled": lambda text: text + text,
    "a foreign": lambda _: _FOREIGN,
}
"""The ways to damage an output's text."""


class Skipped(Exception):  # no `Error` suffix, as it is not an error
    """Raised when a trial can't run here."""


class UnknownExtension(BenchError):
    """Raised when no other package has an extension with this name."""

    code = "extension"


class TrialResult(NamedTuple):
    """The result of a trial. `said` is the problem, or the reason why the trial was not made, or "" if it succeeded.
    `kept` is the raw output of a run that failed, which the user may want to read."""

    of: str
    holds: str
    state: Literal["holds", "broken", "not tried"]
    said: str = ""
    kept: Path | None = None


class Subject:
    """An extension that is being tried. Its trials may write to `folder`. `spec_file` is a spec to run instead of a
    sample. `measured` has the folder of each spec's real run."""

    def __init__(
        self, offer: Offer, spec: ExtensionSpec, folder: Path, spec_file: Path | None, measured: dict[str, Path | str]
    ) -> None:
        self.offer, self.spec, self.folder = offer, spec, folder
        self.spec_file, self._measured = spec_file, measured

    def bench(self, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            (*_BENCH, *words), cwd=folder, capture_output=True, text=True, timeout=_RUN_S, check=False
        )

    def place(self, **changed: str) -> Path:
        """Return a new folder with a spec, `brief.bench`: the user's spec unchanged, or a sample with the parts in
        `changed`.

        Raises Skipped if there is no sample, or if the user's spec does not use the extension.
        """
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        spec = folder / "brief.bench"
        if not self.spec_file:
            spec.write_text(self._sample(folder, **changed), encoding="utf-8")
            return folder
        shutil.copytree(self.spec_file.parent, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("bench-out"))
        shutil.copyfile(self.spec_file, spec)
        plan = check(spec).plan
        if plan and f"{self.spec.kind} {self.spec.name}" not in plan.used_extensions:
            raise Skipped(f"the spec does not use the {self.spec.kind} `{self.spec.name}`")
        return folder

    def run(self, folder: Path) -> str:
        """Run a folder's spec for real, leaving nothing behind. Returns why it failed, or "". Raises Skipped if this
        machine lacks what the spec needs.

        A sample of a load generator or a probe runs on the engine's stand-in if its server is not here.
        """
        wrong = self._ran(folder)
        if wrong and (lacking := self._lacking(folder)):
            spec = folder / "brief.bench"
            text = spec.read_text(encoding="utf-8")
            on_stand_in = text.replace("server = start", "server = embedded")
            engine = self._pair()[0]
            if self.spec_file or engine is self.spec or not (engine and engine.has_stand_in) or text == on_stand_in:
                raise Skipped(lacking)
            spec.write_text(on_stand_in, encoding="utf-8")
            wrong = self._ran(folder)
            if wrong and self._lacking(folder):
                raise Skipped(lacking)
        return wrong

    def _ran(self, folder: Path) -> str:
        try:
            wrong = how_it_failed(self.bench(folder, *_RUN))
        finally:
            self.end(folder)
        if wrong and _generator_was_late(folder):
            raise Skipped(f"this machine is too busy for the load generator, or too slow: {wrong}")
        return wrong

    def _lacking(self, folder: Path) -> str:
        """Return what this machine lacks for a folder's spec, in the words of `bench doctor`, or ""."""
        with suppress(ValueError):
            found = json.loads(self.bench(folder, "doctor", "brief.bench", "--json").stdout)
            tools = found if isinstance(found, list) else []  # an error is no list
            lacking = (each for each in tools if each["ours"] and each["needed"] and not each["ok"])
            return "; ".join(f"{each['detail']}: {each['hint']}" for each in lacking)
        return ""

    def part_of_engines(self, folder: Path) -> str:
        """Name the engine that a folder's run used, if it may lack some of a probe's measures: the stand-in, or one
        engine of several. Returns "" if the probe has only one engine."""
        if "server = embedded" in (folder / "brief.bench").read_text(encoding="utf-8"):
            return "the engine's stand-in"
        named = filter(None, map(ENGINE_SPECS.usable, ENGINE_SPECS.names))
        asked = [each.name for each in named if self.spec.name in each.probes]
        return "one engine of several" if len(asked) > 1 else ""

    def end(self, folder: Path) -> None:
        """End a folder's run and its servers, unless they have ended already."""
        with suppress(subprocess.TimeoutExpired):
            self.bench(folder, "stop")

    def measured(self) -> Path | str:
        """Return the folder of a real run, or why the run failed. Each spec is run only once, and later calls return
        the same result. Raises Skipped."""
        folder = self.place()
        text = (folder / "brief.bench").read_text(encoding="utf-8").replace(str(folder), "")
        if text not in self._measured:
            self._measured[text] = self.run(folder) or folder
        return self._measured[text]

    def _sample(self, folder: Path, reset: str = "", probe: str = "", template: str = "") -> str:
        engine, tool = self._pair()
        family = TOOL_SPECS.usable(tool.family) if tool else None
        workload = next((name for name, each in family.workloads.items() if each.timed), "") if family else ""
        if engine is None or tool is None or family is None or not workload:
            raise Skipped("no spec is known that runs it here: give one with --spec")
        server = "start" if "start" in engine.servers else "embedded" if engine.has_stand_in else ""
        if not engine.in_process and not server:
            raise Skipped("its server has to be there already: give a spec with --spec")
        block = {"engine": engine.name, "path": f'"{folder / "data"}"', "server": server, "reset": reset}
        block["tool"] = tool.word if engine.in_process and tool.name != engine.default_tool else ""
        settings = [f"{key} = {value}" for key, value in block.items() if value]
        settings += [_least(name, key) for name, key in engine.attributes.items() if key.required and name not in block]
        client = "" if engine.in_process else "  client = load"
        figure = 'figure "Throughput" { line = throughput by threads }'
        reports = (f'report {each} "Trial" {{ {template}  language = {each}  {figure} }}' for each in LANGUAGES)
        meter = 'power = command("echo 42")' if getattr(self.spec, "asks", "") == "meter" else ""
        size = "records = 100" if "records" in family.attributes else ""
        lines = (
            f"hardware here {{ hosts = local  {meter} }}",
            "" if engine.in_process else f"client load {{ hosts = local  tool = {tool.word} }}",
            f"database db {{ {'  '.join(settings)} }}",
            f"workload work from {family.word}.{workload} {{ {size} }}",
            f"experiment e {{ hardware = here{client}  workloads = work  threads = [1, 2]  measure = 1 s",
            f"  probes = [{probe}]\n}}" if probe else "}",
            *reports,
        )
        return "\n".join(lines) + "\n"

    def _pair(self) -> tuple[EngineSpec | None, ToolSpec | None]:
        """Return an engine and a load generator that can run here together with the extension."""
        named = [each for each in map(ENGINE_SPECS.usable, ENGINE_SPECS.names) if each]
        match self.spec:
            case EngineSpec():
                engine = self.spec
            case ToolSpec(name=mine):
                return next(each for each in named if mine in each.tools or each.name in self.spec.drives), self.spec
            case ProbeSpec(name=mine, asks="database", engines=asked):
                engine = next((each for each in named if each.name in asked or mine in each.probes), named[0])
            case SnapshotSpec():
                able = [each for each in named if each.snapshots]
                if not able:
                    raise Skipped("no engine is installed whose data snapshots bring back")
                engine = able[0]
            case _:
                own = ENGINE_SPECS.own.values()
                found = ((each, TOOL_SPECS.own[each.default_tool]) for each in own if each.in_process)
                return next(pair for pair in found if "records" in pair[1].attributes)
        return engine, TOOL_SPECS.usable(engine.default_tool)


Trial = Callable[[Subject], str]


def spec_speaks_each_language(subject: Subject) -> str:
    """its words in briefs are there in each language"""
    lacking = [
        f"{what} in `{language}`"
        for what, words in _texts(subject.spec)
        for language in LANGUAGES
        if not words.get(language)
    ]
    return f"there are no words for {', '.join(lacking[:5])}" if lacking else ""


def code_has_what_is_called(subject: Subject) -> str:
    """its class has the methods of its kind, and of each reset that it offers"""
    return code_problem(subject.spec)


def code_imports_the_surface_alone(subject: Subject) -> str:
    """it imports `benchbrief.extend` and nothing else of benchbrief"""
    if not subject.offer.package:
        raise Skipped("it is in benchbrief's own package")
    past = imported_past(subject.offer.target)
    return f"it imports {', '.join(past)}" if past else ""


def simulated_run_makes_briefs(subject: Subject) -> str:
    """a simulated run makes a brief in each language"""
    folder = subject.place(**asked_of(subject))
    done = subject.bench(folder, "run", "brief.bench", "--simulate")
    if wrong := how_it_failed(done):
        return wrong
    pages = [path.read_text(encoding="utf-8") for path in folder.rglob("*.html")]
    lacking = [each for each in LANGUAGES if not any(f'lang="{each}"' in page for page in pages)]
    plan = check(folder / "brief.bench").plan
    asked = {each.language for each in plan.reports if "html" in (each.formats or ("html",))} if plan else set()
    if lacking and asked.isdisjoint(lacking):
        raise Skipped(f"the spec has no report with a page in {', '.join(lacking)}")
    return f"there is no page in {', '.join(lacking)}" if lacking else ""


def real_run_measures(subject: Subject) -> str:
    """a real run measures each cell"""
    made = subject.measured()
    return made if isinstance(made, str) else ""


def output_of_another_state_is_refused(subject: Subject) -> str:
    """an output that is empty, cut, doubled, foreign, of another cell, or of a failed tool is refused"""

    tool = subject.spec if isinstance(subject.spec, ToolSpec) else None
    if tool is None:
        return ""
    made = subject.measured()
    if isinstance(made, str):
        raise Skipped("no real run has an output to spoil")
    evidence = read_evidence(last_run(made / "bench-out"))
    verdict = evidence.verdicts[0]
    job = next(each for each in verdict.jobs if each.job == MEASURE)
    context, whole = context_of(evidence, verdict, job), JobOutput.of(job, evidence.run_dir)
    parse = driver(tool.name).parse
    parse(context, whole)
    accepted = []
    other = next((each for each in evidence.plan.cells if each.threads != context.cell.threads), None)
    for what, output in _spoilt(whole, subject.folder):
        accepted += [what] if _accepts(lambda each: parse(context, each), output, RunnerError) else []
    if other and _accepts(lambda each: parse(replace(context, cell=other), each), whole, RunnerError):
        accepted.append("one of a cell with other threads")
    return f"it takes for good: {', '.join(accepted)}" if accepted else ""


def killed_run_goes_on(subject: Subject) -> str:
    """a run whose controller was killed while it measured goes on, and ends well"""
    folder = subject.place()
    with (folder / "said").open("w") as said:
        running = subprocess.Popen((*_BENCH, *_RUN), cwd=folder, stdout=said, stderr=said)
    try:
        try:
            _until(lambda: any('"measure"' in path.read_text() for path in folder.glob(_JOURNALS)), running)
        finally:
            running.send_signal(signal.SIGKILL)
            running.wait()
        wrong = how_it_failed(subject.bench(folder, "resume", "--no-report"))
        if wrong and _generator_was_late(folder):
            raise Skipped(f"this machine is too busy for the load generator, or too slow: {wrong}")
        return wrong
    finally:
        subject.end(folder)


def each_reset_runs(subject: Subject) -> str:
    """each way to reset its data that needs nothing but the engine runs"""
    if not isinstance(subject.spec, EngineSpec):
        return ""
    if subject.spec_file:
        raise Skipped("the spec says how its data are reset: leave out --spec")
    wrong = []
    for reset in (*EVERYWHERE, *(each for each in subject.spec.resets if each in ("undo", "snapshot", "links"))):
        said = subject.run(subject.place(reset=reset))
        wrong += [f"`{reset}`: {said}"] if said else []
    return "; ".join(wrong)


def probe_samples_for_real(subject: Subject) -> str:
    """a real run has samples of each measure"""
    folder = subject.place(**asked_of(subject))
    if wrong := subject.run(folder):
        return wrong
    asked = subject.bench(folder, "query", "--csv", "SELECT DISTINCT measure FROM samples")
    found = set(asked.stdout.split())
    measures: Mapping[str, ProbeMeasure] = getattr(subject.spec, "measures", {})
    lacking = [name for name, each in measures.items() if not each.of_whole_measurement and name not in found]
    if lacking and len(lacking) < len(measures) and (where := subject.part_of_engines(folder)):
        raise Skipped(f"{where} has no {', '.join(lacking)}, and samples of all else: give other specs with --spec")
    return f"there are none of {', '.join(lacking)}{_noted(subject, folder)}" if lacking else ""


def _noted(subject: Subject, folder: Path) -> str:
    """Return the run's first note about a probe, with ": " before it so that it can end a sentence, or "" if there is
    none."""
    said = subject.bench(folder, "query", "--csv", "SELECT origin, text FROM notes ORDER BY severity").stdout
    notes = (
        row[-1] for row in csv.reader(said.splitlines()) if row and row[0].startswith(f"probe:{subject.spec.name}:")
    )
    return next((f": {note}" for note in notes), "")


def recorded_output_is_read(subject: Subject) -> str:
    """each file in `outputs/` beside the package is read, and refused when empty, cut, doubled or foreign"""

    if not isinstance(subject.spec, ImporterSpec) or subject.spec.reads != "outputs":
        raise Skipped("only importers of outputs are tried by files")
    recorded = _recorded(subject)
    if not recorded:
        raise Skipped("there is no folder `outputs` with recorded files beside its package")
    importer, wrong = output_importer(subject.spec.name), []
    for path in recorded:
        try:
            importer.read({path.name: path}, "", {})
        except Wrong as error:
            wrong.append(f"{path.name} is refused: {error}")
            continue
        text = path.read_text(encoding="utf-8")
        for what, spoil in _SPOILS.items():
            spoilt = subject.folder / path.name
            spoilt.write_text(spoil(text), encoding="utf-8")
            if _accepts(lambda each: importer.read({each.name: each}, "", {}), spoilt, Wrong):
                wrong.append(f"it takes {what} {path.name} for good")
    return "; ".join(wrong)


def place_is_reached(subject: Subject) -> str:
    """a run goes through it"""
    if not subject.spec_file:
        raise Skipped("give a spec with a place that it is for: --spec")
    return subject.run(subject.place())


def snapshots_keep_promises(subject: Subject) -> str:
    """on a small file system, data come back after any change and any kill, and what is another's stays"""
    folder = Path(tempfile.mkdtemp(dir=subject.folder))
    try:
        return try_promises(subject.spec.name, folder)
    except Unmade as why:
        raise Skipped(str(why)) from why


TRIALS: Mapping[str, tuple[Trial, ...]] = {
    "engine": (simulated_run_makes_briefs, real_run_measures, each_reset_runs, killed_run_goes_on),
    "tool": (simulated_run_makes_briefs, real_run_measures, output_of_another_state_is_refused),
    "probe": (simulated_run_makes_briefs, probe_samples_for_real),
    "template": (simulated_run_makes_briefs,),
    "importer": (recorded_output_is_read,),
    "transport": (place_is_reached,),
    "snapshot": (simulated_run_makes_briefs, snapshots_keep_promises, place_is_reached),
}
OF_ALL: tuple[Trial, ...] = (code_has_what_is_called, code_imports_the_surface_alone, spec_speaks_each_language)
LEFT = {
    "engine": "secrets, several hosts, hostile texts, `reset = command(...)` and snapshots of file systems",
    "tool": "several hosts, an offered load, hostile texts",
    "probe": "several hosts, a counter that goes back, a host that stops for a while",
    "meter": "a real meter, or a stand-in that speaks its protocol, also when it is silent or below zero",
    "transport": "a place that is not there, a connection that breaks",
    "importer": "a number that was changed, settings of another cell",
    "snapshot": "a full device, users other than root, a snapshot that someone has changed",
    "scheduler": "jobs that are submitted, cancelled or stuck",
    "template": "the pages as you see them: `pdftoppm -r 80 -png brief.pdf page`",
}
"""The properties that no trial checks, by kind. The tests of each extension should cover them."""


def try_extension(name: str, spec_file: Path | None = None) -> Iterator[TrialResult]:
    """Try every extension named `name`, and every extension of a package that is named so or has an engine of that
    name. benchbrief's own extensions are tried only if no other package has the name. Raises UnknownExtension."""
    subjects = list(_subjects(name))
    if not subjects:
        raise UnknownExtension(
            f"no package has an extension named `{name}`", "`bench extensions` lists what is installed"
        )
    measured: dict[str, Path | str] = {}
    scratch, kept = Path(tempfile.mkdtemp(prefix="bench-try-")), False
    try:
        for offer, found in subjects:
            for outcome in _outcomes(offer, found, scratch, spec_file, measured):
                kept = kept or outcome.kept is not None
                yield outcome
    finally:
        if not kept:
            shutil.rmtree(scratch, ignore_errors=True)


def _outcomes(
    offer: Offer,
    found: ExtensionSpec | RefusedExtension,
    scratch: Path,
    spec_file: Path | None,
    measured: dict[str, Path | str],
) -> Iterator[TrialResult]:
    of = f"{found.kind} {found.name}"
    if isinstance(found, RefusedExtension):
        yield TrialResult(of, "its spec can be used", "broken", found.why)
        return
    yield TrialResult(of, "its spec can be used", "holds")
    subject = Subject(offer, found, Path(tempfile.mkdtemp(dir=scratch)), spec_file, measured)
    for trial in (*OF_ALL, *TRIALS.get(found.kind, ())):
        yield _tried(of, trial, subject)
    yield TrialResult(of, LEFT[found.kind], "not tried", "no trial does: write tests of your own")


def _subjects(name: str) -> Iterator[tuple[Offer, ExtensionSpec | RefusedExtension]]:
    offers = [(registry, offer) for registry in REGISTRIES for offer in registry.offered()]
    engines = {offer.package for registry, offer in offers if (registry.kind, offer.name) == (EngineSpec.kind, name)}
    for registry, offer in offers:
        if name in (offer.name, offer.package) or offer.package in engines - {""}:
            yield offer, registry.load(offer)
    if not any(name in (offer.name, offer.package) for _, offer in offers):
        yield from ((each.own_offer(name), each.own[name]) for each in REGISTRIES if name in each.own)


def _tried(of: str, trial: Trial, subject: Subject) -> TrialResult:
    holds = (trial.__doc__ or "").strip()
    before = set(_raw_outputs(subject))
    try:
        wrong = trial(subject)
    except Skipped as why:
        return TrialResult(of, holds, "not tried", str(why))
    except subprocess.TimeoutExpired:
        return TrialResult(of, holds, "not tried", f"it did not end within {_RUN_S:.0f} s")
    except Exception as error:  # whatever another package's code raises
        wrong = raised(error)
    if not wrong:
        return TrialResult(of, holds, "holds")
    added = [raw for raw in _raw_outputs(subject) if raw not in before]
    if not added:
        return TrialResult(of, holds, "broken", wrong)
    return TrialResult(of, holds, "broken", f"{wrong}; its raw output is in {added[-1]}", added[-1])


def _raw_outputs(subject: Subject) -> list[Path]:
    """Return the raw outputs of all runs of the extension so far, in order."""
    return sorted(subject.folder.glob("*/bench-out/*/raw"), key=lambda raw: raw.stat().st_mtime)


def _texts(spec: ExtensionSpec) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield each name that a brief may show for an extension, with the words for it by language."""
    measures: Mapping[str, ProbeMeasure] = getattr(spec, "measures", {})
    yield from ((f"`{name}`", each.labels) for name, each in measures.items())
    if isinstance(spec, ToolSpec):
        yield from ((f"`{spec.word}.{name}`", each.description) for name, each in spec.workloads.items())
        yield from ((f"`{key}`", words) for key, words in spec.texts.items())
    if isinstance(spec, EngineSpec):
        yield from ((f"`{key}`", words) for key, words in spec.texts.items())
    if isinstance(spec, SnapshotSpec):
        yield from ((f"`{key}`", words) for key, words in spec.texts.items())
    if labels := getattr(spec, "labels", None):
        yield "its label", labels


def asked_of(subject: Subject) -> dict[str, str]:
    """Return the settings that make a sample spec use the extension."""
    match subject.spec.kind:
        case "probe":
            return {"probe": f"{subject.spec.name} every 200 ms"}
        case "snapshot":
            return {"reset": subject.spec.name}
        case "template":
            return {"template": f"template = {subject.spec.name}"}
    return {}


def _least(name: str, key: Key) -> str:
    """Return a line that sets an attribute to a small value or, if it has no minimum, to its example. The value is
    several times the minimum, since a server with the least possible memory may be too slow to try."""
    match key.shape:
        case Number(minimum=least, unit=unit) if least:
            return f"{name} = {_TIMES_LEAST * least:.0f} {unit}"
    return key.usage(name)


def _spoilt(whole: JobOutput, folder: Path) -> Iterator[tuple[str, JobOutput]]:
    """Yield copies of a good output, each damaged in a different way: what the tool printed, and the files that it
    wrote."""
    kept = (each for each in whole.directory.iterdir() if each.is_file())
    names = [each.name for each in kept if each.name not in ("stderr", "command.txt")]
    texts = {name: (whole.directory / name).read_text(encoding="utf-8", errors="replace") for name in names}
    for what, spoil in _SPOILS.items():
        copy = folder / what.split()[-1]
        shutil.copytree(whole.directory, copy)
        for name, text in texts.items():
            (copy / name).write_text(spoil(text), encoding="utf-8")
        yield f"{what} one", replace(whole, directory=copy)
    yield "one of a tool that failed", replace(whole, exit_code=1)
    yield "one of a tool that was stopped", replace(whole, exit_code=None)


def _accepts(read: Callable[[Read], object], given: Read, refusal: type[Exception]) -> bool:
    try:
        read(given)
    except refusal:
        return False
    return True


def _recorded(subject: Subject) -> list[Path]:
    """Return the recorded outputs: the files in a folder `outputs`, in the package or beside it. Of benchbrief's own
    package, this is only the extension's folder."""
    target = subject.offer.target
    if subject.offer.package:
        folders = {path.parent for path in package_files(target)}
    else:
        folders = {Path(str(files(target.rpartition(".")[0])))}
    places = {place / "outputs" for folder in folders for place in (folder, folder.parent)}
    return sorted(path for place in places if place.is_dir() for path in place.iterdir() if path.is_file())


def _generator_was_late(folder: Path) -> bool:
    """Return whether the cells that failed in a folder's run did so only because the load generator was late."""
    with suppress(BenchError):
        record = read_run(last_run(folder / "bench-out"))
        failed = [each.ended for each in record.cells.values() if each.ended and each.ended.status == "failed"]
        return bool(failed) and all(each.refused == "generator" for each in failed)
    return False


def _until(there: Callable[[], bool], running: subprocess.Popen[bytes]) -> None:
    """Wait until `there` returns true. Raises Skipped if the run ends first or the wait takes too long."""
    deadline = time.monotonic() + _WARM_UP_S
    while not there():
        if running.poll() is not None or time.monotonic() > deadline:
            raise Skipped("the run ended before it could be killed while it measured")
        time.sleep(0.05)


def how_it_failed(done: subprocess.CompletedProcess[str]) -> str:
    """Return how a command failed: the first line that mentions an error, or else the last line, or "" if the command
    succeeded."""
    if not done.returncode:
        return ""
    lines = [line.strip() for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip()]
    wrong = (line for line in lines if line.startswith(("error:", "failed ", "missing ")))
    said = next(wrong, lines[-1] if lines else "it said nothing")
    return f"it ended with code {done.returncode}: {said[:300]}"
