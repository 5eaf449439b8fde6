"""Tests that the examples' notebook runs from its first to its last cell, in its own kernel."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.support.bench import Bench

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.long
def test_the_notebook_runs_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "notebooks"
    shutil.copytree(EXAMPLES / "notebooks", folder)
    shutil.copy(EXAMPLES / "quickstart.bench", tmp_path)
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    text = (folder / "a_run.ipynb").read_text()
    notebook = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]  # the library has no types there
    assert all(not cell.get("outputs") for cell in notebook.cells)
    # The notebook's own command runs here, without a PDF and in a process that has its libraries: the notebook finds a
    # run, and opens it.
    ((words,),) = (
        re.findall(r"^    !bench (.*)$", cell.source, re.MULTILINE) for cell in notebook.cells if "!" in cell.source
    )
    ran = Bench(folder)
    ran.paper = False
    assert ran(*words.replace("{SPEC}", "../quickstart.bench").split()).code == 0
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    pages = [output.data.get("text/html", "") for output in shown if "data" in output]
    for wanted in ("quickstart.bench: ok", "(simulated)", "vegaEmbed"):
        assert any(wanted in page for page in pages), wanted
