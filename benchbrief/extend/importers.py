"""What an importer needs beside `common` and `tools`: its base classes, and how files are read and refused."""

from benchbrief.results.imports.cell_matching import STDOUT, CellFiles, Options, Places, Where
from benchbrief.results.imports.imported_files import (
    ImportProblem,
    OutputProblem,
    only_file,
    parse_time,
    read_lines,
    refuse_no_text,
    require_consistent,
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
from benchbrief.runners.text_encoding import text_encoding

__all__ = [
    "STDOUT",
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
    "only_file",
    "parse_time",
    "read_lines",
    "refuse_no_text",
    "require_consistent",
    "text_encoding",
    "tool_that_wrote",
    "whole_run",
]
