"""Packs the capsule of a brief: the spec and the files that it uses, and the brief's plan, versions, facts, numbers and
claims."""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from benchbrief.compiler.planning.plan_file import written_plan
from benchbrief.dsl.bench_error import BenchError
from benchbrief.model.node import adapter
from benchbrief.model.plan import Origin, Plan, Report
from benchbrief.reports.capsule.capsule_file import (
    FACTS,
    NUMBERS,
    PLAN,
    SPEC,
    STATED,
    VERSIONS,
    Capsule,
    OutputsManifest,
    Sign,
    why_not_safe,
    write_capsule,
)
from benchbrief.reports.data.numbers_file import NumbersFile
from benchbrief.reports.data.report_data import AskedStore
from benchbrief.reports.view.house_style import Kept
from benchbrief.results.analysis.stated_numbers import StatedNumber
from benchbrief.results.compare.contender import is_passing
from benchbrief.runners.plain_files import read_plain

_FAR = "/" + "/".join(["d"] * 40)
"""A deep folder that stands in for the current one. Paths with `..` then mean the same, wherever the run was made."""


def pack_capsule(
    plan: Plan,
    report: Report,
    store: AskedStore,
    numbers: NumbersFile,
    title: str,
    stated: Sequence[StatedNumber],
    kept: Kept | None = None,
    reports_from: Mapping[str, str] | None = None,
    sign: Sign | None = None,
) -> bytes | None:
    """Return the capsule of a brief, or None if its report shows no provenance or if the run did not keep the files of
    its spec. `stated` lists the brief's claims and expectations, and `title` is its title. The other arguments are as
    for `render`.
    """
    if report.provenance == "none":
        return None
    found = _files(plan, store.run_dir, kept, reports_from)
    main = _main(plan.spec.name, [*(reports_from or plan.spec.files)])
    if found is None or main is None:
        return None
    paths = _below_one_folder(found)
    files = {paths[name]: content for name, content in found.items()}
    if paths.get(main) is None or any(why_not_safe(f"{SPEC}{path}") for path in files):
        return None
    facts = facts_in(store)
    parts = {
        **{f"{SPEC}{path}": content for path, content in files.items()},
        PLAN: b"".join(written_plan(plan)),
        NUMBERS: _json(_ledger(numbers)),
        STATED: adapter(tuple[StatedNumber, ...]).dump_json(tuple(stated), indent=1) + b"\n",
        FACTS: _json([row for row in facts if not is_passing(str(row[3]))]),
        VERSIONS: _json(_versions(numbers, plan, facts)),
    }
    about = Capsule(
        benchbrief=numbers.benchbrief,
        report=report.name,
        title=title,
        language=report.language,
        run=numbers.run,
        kind=numbers.kind,
        spec=paths[main],
        profile=plan.spec.profile,
        params=plan.spec.params,
        extensions=plan.extensions,
        raw_outputs=_raw_outputs(store),
        parts={},
    )
    return write_capsule(about, parts, sign)


FactRow: TypeAlias = tuple[str | None, ...]
"""A fact: kind, hardware, node, name, value and unit."""


def facts_in(store: AskedStore) -> list[FactRow]:
    """Return the declared and the observed facts of a run."""
    rows = store.sql("SELECT kind, hardware, node, name, value, unit FROM facts ORDER BY ALL").rows
    return [tuple(None if each is None else str(each) for each in row) for row in rows]


def _json(content: object) -> bytes:
    return json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True).encode() + b"\n"


def _ledger(numbers: NumbersFile) -> list[dict[str, object]]:
    """Return the brief's numbers with their sources. Everything else about the numbers is in the brief's own file."""
    expressions = {query.id: (query.expression, query.unit) for query in numbers.queries}
    return [
        {
            "id": each.id,
            "place": each.place,
            "shown": each.shown,
            "value": each.value,
            "high": each.high,
            "expression": expressions[each.query][0],
            "unit": expressions[each.query][1],
        }
        for each in numbers.numbers
    ]


def _versions(numbers: NumbersFile, plan: Plan, facts: Sequence[FactRow]) -> dict[str, object]:
    return {
        "benchbrief": numbers.benchbrief,
        "extensions": plan.extensions,
        "programs": {
            f"{node or ''} {name}".strip(): value
            for kind, _, node, name, value, _ in facts
            if kind in ("tool", "database") and name and name.split(".")[-1] in ("version", "server")
        },
    }


def _raw_outputs(store: AskedStore) -> OutputsManifest:
    rows = store.sql("SELECT DISTINCT sha256, path FROM files WHERE sha256 IS NOT NULL ORDER BY path, sha256").rows
    listing = "".join(f"{sha256}  {path}\n" for sha256, path in rows)
    return OutputsManifest(files=len(rows), sha256=hashlib.sha256(listing.encode()).hexdigest())


# --- the files of a spec -----------------------------------------------------------------------------------------


def _files(
    plan: Plan, run_dir: Path, kept: Kept | None, reports_from: Mapping[str, str] | None
) -> dict[str, bytes] | None:
    """Return the content of each file that the spec uses, by its name in the plan. Return None if a file is lost or was
    changed."""
    found: dict[str, bytes] = {}
    for index, (name, digest) in enumerate((reports_from or plan.spec.files).items()):
        content = None
        with suppress(OSError, BenchError):
            if reports_from:
                content = kept(name, digest) if kept else None
            else:
                content = read_plain(run_dir / "spec" / f"{index}-{Path(name).name}", run_dir)
        if content is None or digest not in _digests(content):
            return None
        found[name] = content
    for name, digest in plan.assets.items():
        content = None
        with suppress(OSError, BenchError):
            content = kept(name, digest) if kept else Path(name).read_bytes()
        if content is None or digest not in _digests(content):
            return None
        found[name] = content
    return {**dict(_embedded(plan)), **found}


def files_used_by(plan: Plan) -> set[str]:
    """Return the names of all files that a spec uses, as they are in the plan."""
    return {*plan.spec.files, *plan.assets, *(name for name, _ in _embedded(plan))}


def _digests(content: bytes) -> Iterator[str]:
    """Yield the digest of a file, and the digest of its text without a byte-order mark. Plans have the second one."""
    yield hashlib.sha256(content).hexdigest()
    yield hashlib.sha256(content.removeprefix(b"\xef\xbb\xbf")).hexdigest()


def _embedded(plan: Plan) -> Iterator[tuple[str, bytes]]:
    """Yield the names and texts of the files embedded in the plan: files of workloads, servers and traces, and the
    users' catalogues of words."""
    for workload in plan.workloads.values():
        for key, text in workload.files.items():
            yield _beside(workload.origin, str(workload.properties[key])), text.encode()
    for database in plan.databases.values():
        if database.start and database.start.config_name:
            yield _beside(database.origin, database.start.config_name), database.start.config.encode()
    for experiment in plan.experiments.values():
        if experiment.arrivals and experiment.arrivals.file:
            yield _beside(experiment.origin, experiment.arrivals.file), experiment.arrivals.trace.encode()
    for report in plan.reports:
        if report.words:
            lines = (f"{_toml(key)} = {_toml(entry)}\n" for key, entry in report.words.items())
            yield _beside(report.origin, f"{report.language}.toml"), "".join(lines).encode()


def _toml(entry: str | Mapping[str, str]) -> str:
    if isinstance(entry, str):
        return json.dumps(entry, ensure_ascii=False)
    return "{ " + ", ".join(f"{_toml(key)} = {_toml(text)}" for key, text in entry.items()) + " }"


def _beside(origin: Origin, name: str) -> str:
    return os.path.normpath(os.path.join(os.path.dirname(origin.file), name))  # noqa: PTH118, PTH120  # as plans name files


def _main(name: str, files: list[str]) -> str | None:
    """Return the spec among the files: the file with the spec's name or, if there is none, the only file."""
    if name in files:
        return name
    alike = [each for each in files if Path(each).name == Path(name).name] or files
    return alike[0] if len(alike) == 1 else None


def _below_one_folder(names: Iterable[str]) -> dict[str, str]:
    """Move all files below one common folder without changing their relative positions, and return each file's new
    path."""
    whole = {name: posixpath.normpath(posixpath.join(_FAR, name)) for name in names}
    above = posixpath.commonpath([posixpath.dirname(path) for path in whole.values()]) if whole else ""
    return {name: posixpath.relpath(path, above) for name, path in whole.items()}
