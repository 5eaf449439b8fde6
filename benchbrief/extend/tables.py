"""The classes for an importer of tables, in addition to `common` and `importers`: measures, units, and the imported
data."""

from benchbrief.compiler.measure_catalogue import KINDS, MeasureKind
from benchbrief.model.events import MEASURE, PublishedValue
from benchbrief.model.plan import Levels, Metric, key_text
from benchbrief.model.units import (
    DIMENSIONLESS,
    Dimension,
    Unit,
    UnknownUnitError,
    base_unit,
    dimension_name,
    parse_unit,
)
from benchbrief.model.value_shapes import PARAGRAPH
from benchbrief.results.imports.cell_matching import Coordinates, NoPlace
from benchbrief.results.imports.imported_files import ImportRefused, UnreadableImport, Wrong, why_packed
from benchbrief.results.imports.keep_import import (
    CellImport,
    CellValue,
    ImportManifest,
    KeptJob,
    Prepared,
    StatedSource,
    describe_file,
    long_lines,
    read_source,
    require_source,
)
from benchbrief.results.store_errors import ResultsError

__all__ = [
    "DIMENSIONLESS",
    "KINDS",
    "MEASURE",
    "PARAGRAPH",
    "CellImport",
    "CellValue",
    "Coordinates",
    "Dimension",
    "ImportManifest",
    "ImportRefused",
    "KeptJob",
    "Levels",
    "MeasureKind",
    "Metric",
    "NoPlace",
    "Prepared",
    "PublishedValue",
    "ResultsError",
    "StatedSource",
    "Unit",
    "UnknownUnitError",
    "UnreadableImport",
    "Wrong",
    "base_unit",
    "describe_file",
    "dimension_name",
    "key_text",
    "long_lines",
    "parse_unit",
    "read_source",
    "require_source",
    "why_packed",
]
