"""Tests that commands do not import pandas, although pyarrow imports it if it can. Extensions that want pandas get
it."""

import subprocess
import sys

SCRIPT = """
import sys
from benchbrief.mended_imports import let_arrow_find_no_pandas

let_arrow_find_no_pandas()
import pyarrow as pa
import pyarrow.dataset

table = pa.table({"a": [1, 2]})
assert "pandas" not in sys.modules
assert table.to_pandas().a.sum() == 3
import pandas

assert pa.array(pandas.Series([3])).to_pylist() == [3]
"""


def test_pyarrow_does_without_pandas_until_a_frame_is_asked_for() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
