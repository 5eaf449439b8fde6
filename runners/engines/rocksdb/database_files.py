"""Which files a RocksDB database has between cells, and from the beginning of a cell to its end.

The list of its table files, blob files and logs with anything in them is kept beside our marker when a cell has ended.
The next cell finds the same ones, unless somebody else has written to the database. Opening it changes none of them.
"""

from __future__ import annotations

from benchbrief.runners.jobs.shell_scripts import read_script

KEPT = "BENCHBRIEF.state"
"""The list of the files that the last cell, or the load, left."""
BEGUN = "BENCHBRIEF.begun"
"""The list of the files with which a cell began."""

HOLDS = read_script(__file__, "scripts/holds_data.sh")
BEGIN = read_script(__file__, "scripts/begin_cell.sh")
END = read_script(__file__, "scripts/end_cell.sh")
