"""What all numbers of a brief share: the run, the revision of the spec, and the tools and servers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from benchbrief.compiler.planning.plan import DatabaseKey
from benchbrief.reports.data.imported_briefs import is_imported
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.text.document_names import shown_names
from benchbrief.reports.words.locale_formats import locale


def disclose_origin(results: Results) -> Iterable[tuple[str, str]]:
    """Return terms and texts, without empty texts."""
    words, run, spec = results.words, run_row(results), results.plan.spec
    shown = shown_names(spec.files)
    found = [
        (words["d_run_id"], str(run["run_id"] or "")),
        (words["d_imported_at" if is_imported(results) else "d_started"], time_text(run["started_at"])),
        *((words["d_spec"], f"{shown[name]} (SHA-256 {digest})") for name, digest in spec.files.items()),
        (words["p_revision"], _revision(results)),
        (words["d_plan"], results.plan_sha256),
        (words["p_tools"], words["semicolon"].join(_versions("tool", results))),
        (words["p_servers"], words["semicolon"].join(_versions("database", results))),
        (words["d_version"], f"benchbrief {run['benchbrief'] or ''}".strip()),
    ]
    return ((term, text) for term, text in found if text)


def _revision(results: Results) -> str:
    """Return the commit of the spec, and whether its files were as committed."""
    known = {fact.name: fact.value for fact in results.observed if fact.kind == "spec"}
    commit = known.get("commit")
    if not commit:
        return ""
    state = results.words["p_dirty" if known.get("dirty") == "true" else "p_clean"]
    return f"{commit}, {state}"


def _versions(kind: str, results: Results) -> Iterator[str]:
    """Return each version once, with its hosts or databases."""
    found: dict[str, dict[str, None]] = {}
    for fact in results.observed:
        if fact.kind == kind and (fact.name == "version" or fact.name.endswith(".version")):
            database = results.plan.databases.get(DatabaseKey(fact.node or ""))
            name = database.label if database else fact.name.removesuffix("version").removesuffix(".")
            value = results.words.said(fact.value)
            text = value if value.lower().startswith(name[:3].lower()) else f"{name} {value}"
            found.setdefault(text, {})[fact.node or ""] = None
    for text, nodes in found.items():
        names = locale().listed(node for node in nodes if node)
        yield f"{text} ({names})" if names else text


def run_row(results: Results) -> dict[str, object]:
    return results.once(_run_row)


def _run_row(results: Results) -> dict[str, object]:
    names = ("run_id", "started_at", "ended_at", "status", "message", "benchbrief", "simulated")
    rows = results.store.sql(f"SELECT {', '.join(names)} FROM runs").rows  # noqa: S608  # the names just above
    return dict(zip(names, rows[0], strict=True)) if rows else dict.fromkeys(names)


class Reused(NamedTuple):
    """A run that measured some cells earlier, and when it began the first and the last of them."""

    run_id: str
    cells: int
    first: datetime
    last: datetime


def reused_runs(results: Results) -> list[Reused]:
    """Return the earlier runs whose results are used, the oldest first."""
    rows = results.store.sql(
        "SELECT reused_from, count(*), min(started_at), max(started_at) FROM cells "
        "WHERE reused_from IS NOT NULL GROUP BY reused_from ORDER BY min(started_at)"
    ).rows
    return [Reused(*row) for row in rows]


def time_text(value: object) -> str:
    """Return coordinated universal time, to the second; "" for None."""
    if not isinstance(value, datetime):
        return "" if value is None else str(value)
    at = value.astimezone(UTC) if value.tzinfo else value
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"
