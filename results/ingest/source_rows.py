"""The rows of an imported run alone: where its numbers come from."""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.results.ingest.run_evidence import Evidence
from benchbrief.results.result_messages import say
from benchbrief.results.store.store_schema import FactRow, NoteRow, PublishedRow, Row, SourceRow


def origin_of(evidence: Evidence) -> str:
    """Return measured, simulated or imported."""
    return "imported" if evidence.imported else "simulated" if evidence.simulated else "measured"


def source_rows(evidence: Evidence) -> Iterator[Row]:
    run_id, source = evidence.run_id, evidence.imported
    if source is None:
        return
    for file in source.files:
        yield SourceRow(
            run_id,
            source.kind,
            source.title,
            source.publisher,
            source.url or None,
            source.document or None,
            source.date or None,
            source.licence,
            file.name,
            file.sha256,
            file.size,
        )
    for text in source.statements:
        yield NoteRow(run_id, None, "info", say.source_says(said=text), source.title)
    for name, text in source.told:
        yield FactRow(run_id, "source", None, None, name, text, None, "told")
    for name in source.facts or ():
        yield FactRow(run_id, "source fact", None, None, name, "", None, "told")
    for each in evidence.record.published:
        keys = each.keys
        yield PublishedRow(
            run_id,
            each.metric,
            each.bound,
            str(keys["experiment"]) if "experiment" in keys else None,
            str(keys["hardware"]) if "hardware" in keys else None,
            str(keys["workload"]) if "workload" in keys else None,
            int(keys["threads"]) if "threads" in keys else None,
            float(keys["target"]) if "target" in keys else None,
            int(keys["phase"]) if "phase" in keys else None,
            each.value,
            each.unit,
            each.origin,
        )
