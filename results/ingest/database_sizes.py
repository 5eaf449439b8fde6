"""How large a cell's database was, as recorded after its load and after its measurement."""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.results.ingest.cell_measurement import Measured
from benchbrief.results.ingest.cell_verdicts import Verdict
from benchbrief.results.ingest.run_evidence import Evidence
from benchbrief.results.messages.result_messages import say
from benchbrief.results.store.cell_tables import SizeRow
from benchbrief.runners.journal import events as j


def size_rows(evidence: Evidence, verdict: Verdict, measured: Measured) -> Iterator[SizeRow]:
    """Yield a row for each size of a measured cell: its value, or why there is none."""
    if not measured.sources or evidence.imported:
        return
    noted = {size.when: size for size in verdict.sizes if size.attempt == verdict.attempt}
    node = evidence.plan.hardware[verdict.cell.hardware].hosts[0]
    loaded, now = noted.get("loaded"), noted.get("measured")

    def row(measure: str, value: float | None, unit: str, reason: str) -> SizeRow:
        return SizeRow(evidence.run_id, verdict.cell.id, measure, node, value, unit, reason if value is None else None)

    no_load = say.size_not_loaded() if verdict.cell.dataset is None else say.size_not_noted()
    yield row("database.size_loaded", *(_on_disk(loaded) if loaded else (None, "B", no_load)))
    yield row("database.size", *(_on_disk(now) if now else (None, "B", say.size_not_noted())))
    yield row("database.space_amplification", *(_amplification(now) if now else (None, "", say.size_not_noted())))


def _on_disk(size: j.DatabaseSize) -> tuple[float | None, str, str]:
    return size.on_disk, "B", size.why_no_disk


def _amplification(size: j.DatabaseSize) -> tuple[float | None, str, str]:
    """Return the size on disk over that of the records: space amplification in RocksDB's Tuning Guide."""
    if size.on_disk is None or not size.logical:
        return None, "", size.why_no_disk or size.why_no_logical or say.database_empty()
    return size.on_disk / size.logical, "", ""
