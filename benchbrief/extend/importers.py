"""The base classes for an importer, in addition to `common` and `tools`, and functions that read or refuse files."""

from benchbrief.compiler.metrics.lower_to_sql import sql_text
from benchbrief.results.imports.cell_matching import STDOUT, CellFiles, Options, Places, Where, find_files
from benchbrief.results.imports.imported_files import (
    WRONG_CELL,
    BadLine,
    ImportProblem,
    OutputProblem,
    ends_whole,
    last_text,
    line_count,
    only_file,
    parse_time,
    read_lines,
    refuse_contradictions,
    refuse_no_text,
    tool_that_wrote,
    whole_run,
)
from benchbrief.results.imports.importer_seams import (
    BadLog,
    CellNumbers,
    OutputImporter,
    SampleImporter,
    Setting,
    TableImporter,
)

__all__ = [
    "STDOUT",
    "WRONG_CELL",
    "BadLine",
    "BadLog",
    "CellFiles",
    "CellNumbers",
    "ImportProblem",
    "Options",
    "OutputImporter",
    "OutputProblem",
    "Places",
    "SampleImporter",
    "Setting",
    "TableImporter",
    "Where",
    "ends_whole",
    "find_files",
    "last_text",
    "line_count",
    "only_file",
    "parse_time",
    "read_lines",
    "refuse_contradictions",
    "refuse_no_text",
    "sql_text",
    "tool_that_wrote",
    "whole_run",
]
