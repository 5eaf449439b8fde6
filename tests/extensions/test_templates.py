"""Tests that another package's template, installed beside benchbrief, lays out a brief like ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbrief.compiler.registry import TEMPLATE_SPECS
from benchbrief.model.extension_spec import TemplateSpec
from benchbrief.model.plan import Plan
from benchbrief.reports.view.house_style import FIRST, folder_of
from tests.extensions.installed import bench
from tests.support.environment import Environment

SPEC = """\
hardware box { hosts = "box-1.lab" }
client load { hosts = "load.lab"  tool = ycsb }
database store { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload points from ycsb.c
experiment ramp { hardware = box  workloads = points  threads = 8  measure = 30 s }
report brief "Points" { template = TEMPLATE  LANGUAGE table "Points" { rows = threads  columns = throughput } }
"""


@pytest.fixture(scope="module")
def folder(installed: Environment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a simulated run."""
    folder = tmp_path_factory.mktemp("memo")
    write(folder, "memo")
    done = bench(installed, folder, "run", "brief.bench", "--simulate", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def write(folder: Path, template: str, language: str = "") -> None:
    (folder / "brief.bench").write_text(SPEC.replace("TEMPLATE", template).replace("LANGUAGE", language))


def rendered(installed: Environment, folder: Path, template: str, language: str = "") -> tuple[int, str]:
    write(folder, template, language)
    (run,) = (path.name for path in folder.glob("bench-out/*-simulated"))
    done = bench(installed, folder, "report", run, "--spec", "brief.bench", "--to", f"to-{template}")
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", TEMPLATE_SPECS.own)
def test_each_of_our_own_templates_is_right_and_has_its_layout(name: str) -> None:
    spec = TEMPLATE_SPECS.own[name]
    assert spec.mistake(name, own=True) == ""
    assert (folder_of(spec) / FIRST).is_file()
    assert set(spec.labels) == {"en", "ja"}


def test_what_is_wrong_with_a_spec_is_said() -> None:
    def wrong(**changed: Any) -> str:
        given = {"api": 3, "name": "memo", "doc": "A.", "implementation": "a.b", "labels": {"en": "Memo"}, **changed}
        return TemplateSpec(**given).mistake("memo")

    assert wrong() == ""
    assert "the package whose folder" in wrong(implementation="a.b:C")
    assert "the package whose folder" in wrong(implementation="")
    assert "in English at least" in wrong(labels={"ja": "覚書"})
    assert "some of pdf, html, markdown, pptx, xlsx, docx" in wrong(formats=("odt",))
    assert "some of pdf, html, markdown, pptx, xlsx, docx" in wrong(formats=())


def test_a_plan_records_its_package(folder: Path) -> None:
    (plan,) = folder.glob("bench-out/*-simulated/plan.json")
    assert Plan.model_validate_json(plan.read_text()).extensions == {"template memo": "bench-memo 0.1.0"}


def test_a_brief_is_laid_out_by_it_in_both_languages_and_in_the_formats_that_it_names(
    installed: Environment, folder: Path
) -> None:
    code, said = rendered(installed, folder, "memo")
    assert code == 0, said
    page, _ = sorted((folder / "to-memo").glob("*.html"), key=lambda page: len(page.name))
    text = page.read_text(encoding="utf-8")
    assert 'class="memo"' in text
    assert "Memorandum" in text
    assert "6pt solid #553311" in text
    assert not list((folder / "to-memo").glob("*.pdf"))
    code, said = rendered(installed, folder, "memo", "language = ja")
    assert code == 0, said
    assert any("覚書" in page.read_text(encoding="utf-8") for page in (folder / "to-memo").glob("*.html"))


def test_a_misspelt_one_is_one_finding_with_its_name(installed: Environment, folder: Path) -> None:
    write(folder, "memoo")
    done = bench(installed, folder, "check", "brief.bench", "--format", "json")
    (found,) = json.loads(done.stdout)
    assert [(each["code"], each["help"]) for each in found["diagnostics"]] == [("E0522", "did you mean `memo`?")]


def test_one_that_is_broken_is_named_to_who_uses_it(installed: Environment, folder: Path) -> None:
    write(folder, "broken")
    done = bench(installed, folder, "check", "brief.bench")
    assert "error[E0212]: the template `broken` of bench-broken 9 can't be used" in done.stdout + done.stderr
    code, said = rendered(installed, folder, "torn")
    assert code != 0
    assert "torn/brief.html.j2:3: ReportView has no `sections_that_it_does_not_have`" in said
    assert "Traceback" not in said
    code, said = rendered(installed, folder, "empty")
    assert code != 0
    assert "the template `empty` of bench-memo 0.1.0 can't be used: `bench_memo` has no file brief.html.j2" in said
