"""YCSB's outputs, and the histogram logs that belong to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from benchbrief.compiler.planning.plan import Cell, Plan
from benchbrief.results.imports.cell_files import STDOUT, CellFiles, Options, Where, find_files
from benchbrief.results.imports.cell_matching import Places
from benchbrief.results.imports.import_problems import WRONG_CELL, Problem
from benchbrief.results.imports.imported_files import HDR
from benchbrief.results.imports.importer_seams import OutputImporter, Setting
from benchbrief.results.imports.importers.hdr.hdr_logs import row_of, split
from benchbrief.results.imports.importers.property_settings import HEAD, planned
from benchbrief.results.imports.importers.ycsb.log_ownership import logs_of
from benchbrief.results.imports.importers.ycsb.raw_latencies import is_raw
from benchbrief.results.imports.importers.ycsb.ycsb_command_line import command_line, of_command_line
from benchbrief.results.imports.importers.ycsb.ycsb_files import read_rows, read_ycsb
from benchbrief.runners.drivers.output_evidence import read_output_lines
from benchbrief.runners.drivers.ycsb.spec import SPEC
from benchbrief.runners.measurement.measurement import Measurement


class YcsbImporter(OutputImporter):
    def read(self, files: Mapping[str, Path], benchmark: str, options: Options) -> Measurement:
        return read_ycsb(files)

    def settings(self, path: Path) -> Mapping[str, Setting]:
        return planned(of_command_line(islice(read_output_lines(path), HEAD)))

    def contradictions(self, path: Path, cell: Cell, plan: Plan) -> Iterator[Problem]:
        """Yield a problem when the command line loads where the cell measures, or is of another stock workload."""
        yield from _other_threads(path, cell)
        command, workload = command_line(islice(read_output_lines(path), HEAD)), plan.workloads[cell.workload]
        if command.phase and command.phase != workload.phase:
            problem = f"it was run with {command.phase_word}, and workload {workload.name} is a {workload.phase}"
            yield Problem(str(path), command.line, problem, WRONG_CELL)
        elif workload.phase == "run" and command.stock not in ("", workload.benchmark):
            said = self.settings(path)
            for name, value in SPEC.workloads[command.stock].settings.items():
                has = workload.properties.get(name, 0.0)
                if name not in said and has != value:
                    problem = f"it was run with -P {command.files[-1]}, where {name} is {value}"
                    where = f"workload {workload.name} ({workload.family}.{workload.benchmark}) has {name} = {has}"
                    yield Problem(str(path), command.line, f"{problem}, and {where}", WRONG_CELL)
                    return

    def kept_name(self, path: Path, said: Mapping[str, str]) -> str:
        if path.suffix == HDR:
            return f"{said.get('operation') or row_of(path)}{HDR}"
        return "raw" if is_raw(path) else STDOUT

    def may_repeat(self, name: str) -> bool:
        """Logs beside an output may be equal, for example those of operations that were never done."""
        return name.endswith(HDR)

    def outputs_of(self, path: Path, paths: Sequence[Path]) -> Sequence[Path]:
        """A log belongs to an output in its folder, to one with its prefix if there is one."""
        if path.suffix != HDR:
            return ()
        near = [other for other in paths if other.parent == path.parent and other.suffix != HDR]
        before = split(path.stem)[0].rstrip("-_.")
        return [other for other in near if other.stem == before] or near

    def complete(
        self, cells: Mapping[str, CellFiles], paths: Sequence[Path], places: Places, where: Where
    ) -> Iterator[Problem]:
        if pattern := str(where.options.get("logs", "")):
            yield from self._add_named_logs(pattern, cells, places, where)
        else:
            _add_own_logs(cells.values(), paths)

    def _add_named_logs(
        self, pattern: str, cells: Mapping[str, CellFiles], places: Places, where: Where
    ) -> Iterator[Problem]:
        """Add the histogram logs whose paths were given."""
        found = list(find_files(pattern, HDR, places, where))
        if not found:
            yield Problem(pattern, None, f"no log ({HDR}) has such a path")
        for path, said, cell in found:
            if isinstance(cell, Problem):
                yield cell
                continue
            files = cells[cell.id].files.get(said.get("host") or cell.load_hosts[0]) if cell.id in cells else None
            if files is None:
                continue  # a log of a cell that is not imported
            name = self.kept_name(path, said)
            if name in files:
                text = f"of the same cell and operation as {files[name]}: {cell.id}"
                yield Problem(str(path), None, text, "tell load generators apart by {host} in --logs")
            files.setdefault(name, path)


def _other_threads(path: Path, cell: Cell) -> Iterator[Problem]:
    """Yield a problem when another number of threads closed its connections. Fewer run where some fail to connect, or
    there are fewer operations than threads."""
    if path.suffix == HDR or is_raw(path) or cell.threads is None or cell.threads_from is not None:
        return
    closed, wanted = read_rows(path.name, path).cleanups, cell.threads / len(cell.load_hosts)
    words = command_line(islice(read_output_lines(path), HEAD)).words
    twice = not words or any("hbase" in word.lower() for word in words)
    if closed and closed != wanted and not (twice and closed == 2 * wanted):
        number = next((n for n, line in enumerate(read_output_lines(path), 1) if "CLEANUP]" in line), None)
        text = f"{closed} client threads ran ([CLEANUP], Operations), and cell {cell.id} has threads = {cell.threads}"
        yield Problem(str(path), number, text, WRONG_CELL)


def _add_own_logs(cells: Iterable[CellFiles], paths: Sequence[Path]) -> None:
    """Add the histogram logs that are beside the outputs and belong to them, when none was given."""
    outputs = [
        (of, host, files[STDOUT])
        for of in cells
        for host, files in of.files.items()
        if STDOUT in files and not any(name.endswith(HDR) for name in files)
    ]
    found = logs_of([path for _, _, path in outputs], set(paths))
    for of, host, path in outputs:
        if own := found.get(path):
            of.files[host] |= {f"{row}{HDR}": log for row, log in own.files.items()}
            of.remarks[host] = own.remark
