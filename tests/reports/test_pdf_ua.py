"""The PDFs of every layout against PDF/UA-1 by veraPDF, and what a reader's program sees of them: one start of Java."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchbrief.reports.page import TEMPLATES
from benchbrief.reports.render import render
from tests.reports import briefs
from tests.support.tools import built_tool

MADE = ("quickstart", "three_ssds", "cluster_shrink")


@pytest.fixture(scope="module")
def sheets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A PDF of each layout, and of each of the made-up briefs, by `layout-brief`."""
    found = {}
    pairs = [(template, "quickstart") for template in TEMPLATES] + [(TEMPLATES[0], name) for name in MADE[1:]]
    for template, name in pairs:
        world, report = briefs.made(name)
        report = report.model_copy(update={"template": template})
        folder = tmp_path_factory.mktemp(f"{template}-{name}")
        pdf = render(world.plan(report), world.store(), report.name, folder).pdf
        assert pdf is not None
        found[f"{template}-{name}"] = pdf
    return found


def test_every_layout_is_pdf_ua_1(sheets: dict[str, Path]) -> None:
    command = (built_tool("verapdf/bin/pdf-check"), *sheets.values())
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert (done.returncode, done.stdout.count("ok ")) == (0, len(sheets)), done.stdout + done.stderr
