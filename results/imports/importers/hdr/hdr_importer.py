"""HDR logs by themselves, one or several for a cell and load generator."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchbrief.model.measurement import Measurement
from benchbrief.results.imports.cell_matching import Options
from benchbrief.results.imports.imported_files import HDR
from benchbrief.results.imports.importer_seams import OutputImporter
from benchbrief.results.imports.importers.hdr.hdr_logs import row_of
from benchbrief.results.imports.importers.hdr.hdr_measurement import read_hdr

_UNITS_S = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}


class HdrImporter(OutputImporter):
    def read(self, files: Mapping[str, Path], benchmark: str, options: Options) -> Measurement:
        return read_hdr(files, _UNITS_S[str(options.get("unit", "us"))])

    def kept_name(self, path: Path, said: Mapping[str, str]) -> str:
        return f"{said.get('operation') or row_of(path)}{HDR}"
