"""Tests the tutorial's specs as a reader types them. They are right or wrong as the page says, and lead to a brief."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from benchbrief.compiler.compile import check
from tests.docs.samples import ROOT, Sample, Spec, pages, samples
from tests.support.bench import Bench
from tests.support.ports import free_port
from tests.support.shown import assert_shown
from tests.support.tools import system_tool

PAGE = "docs/tutorial.md"
DATA = "/var/tmp/benchbrief-tutorial"
SAMPLES = samples(PAGE)
"""The samples in reading order."""
FILES = ("cache.bench", "compression.bench")
SECOND = (ROOT / PAGE).read_text(encoding="utf-8").partition("\n## 9. ")[0].count("\n")
"""The line of the page after which samples belong to the second file."""


def steps() -> Iterator[tuple[Sample, Spec, Spec]]:
    """Yield each sample with two states of the reader's spec: with the sample typed in, and as it is kept for the next
    sample."""
    kept = Spec()
    for before, sample in pairwise((None, *SAMPLES)):
        assert sample is not None
        if before is not None and file_of(before) != file_of(sample):
            kept = Spec()
        typed = kept.with_sample(sample) if sample.language == "bench" else kept
        kept = kept if sample.error else typed
        yield sample, typed, kept


def file_of(sample: Sample) -> str:
    return FILES[sample.line > SECOND]


def final(file: str = "cache.bench") -> Spec:
    *_, kept = (kept for sample, _, kept in steps() if file_of(sample) == file)
    return kept


def write(folder: Path, spec: Spec, file: str = "cache.bench") -> Path:
    path = folder / file
    path.write_text(spec.text, encoding="utf-8")
    return path


def test_every_sample_is_of_a_kind_that_is_tested() -> None:
    assert {sample.language for sample in SAMPLES} == {"bench", "console", "sql", "sh"}


def test_the_ssh_server_of_the_page_is_a_host(tmp_path: Path) -> None:
    system_tool("sshd")
    (script,) = (sample.text for sample in SAMPLES if sample.language == "sh")
    port = free_port()
    # The home of a test is below a folder that all may write to, which sshd would not trust.
    script = script.replace("-p 2222", f"-p {port} -o StrictModes=no", 1).replace("2222", str(port))
    home = {"HOME": str(tmp_path)}
    subprocess.run(["sh", "-ec", script], env={**os.environ, **home}, check=True, capture_output=True, timeout=60)
    try:
        spec = write(tmp_path, final())
        spec.write_text(spec.read_text().replace("hosts = local", 'hosts = "here"'))
        found = Bench(tmp_path)("doctor", spec.name, env=home).text
        assert re.search(r"^ok +here +reachable +ssh$", found, re.MULTILINE), found
    finally:
        os.kill(int((tmp_path / ".ssh/bench_here.pid").read_text()), signal.SIGTERM)


def test_each_step_is_right_or_wrong_as_the_page_says(tmp_path: Path) -> None:
    for sample, typed, _ in steps():
        if sample.language == "bench":
            checked = check(write(tmp_path, typed, file_of(sample)))
            errors = [each.code for each in checked.diagnostics if each.severity == "error"]
            assert errors == ([sample.error] if sample.error else []), str(sample)


def test_each_command_prints_what_the_page_shows(tmp_path: Path) -> None:
    typed_before = Spec()
    for sample, typed, kept in steps():
        if sample.language == "bench":
            typed_before = typed
        elif sample.language == "console":
            write(tmp_path, typed_before if "error[" in sample.text else kept, file_of(sample))
            command, _, shown = sample.text.partition("\n")
            printed = Bench(tmp_path)(*command.removeprefix("$ bench ").split())
            assert_shown(shown, printed.text, str(sample))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Return a finished run of the page's last spec."""
    system_tool("db_bench")
    folder = tmp_path_factory.mktemp("tutorial")
    spec = write(folder, final())
    text = spec.read_text(encoding="utf-8")
    assert DATA in text
    # Two runs of this test at a time must not meet in one database.
    spec.write_text(text.replace(DATA, str(folder / "rocksdb")), encoding="utf-8")
    bench = Bench(folder)
    done = bench("run", "cache.bench", "--profile", "smoke")
    assert done.code in (0, 4), done.text  # so short a run may break its own expectation
    return bench


def test_the_finished_spec_runs_to_a_brief(finished: Bench) -> None:
    [brief] = finished.folder.glob("bench-out/*/reports/brief.pdf")
    assert brief.read_bytes().startswith(b"%PDF")


@pytest.mark.long
def test_the_second_spec_makes_a_brief_of_what_it_varies(tmp_path: Path) -> None:
    write(tmp_path, final("compression.bench"), "compression.bench")
    done = Bench(tmp_path)("run", "compression.bench", "--simulate")
    assert done.code in (0, 4), done.text
    brief, disclosure = sorted(tmp_path.glob("bench-out/*/reports/brief*.html"), key=lambda page: len(page.name))
    text = brief.read_text(encoding="utf-8") + disclosure.read_text(encoding="utf-8")
    assert "Zstandard" in text
    assert "Values of 1 kB" in text


QUERIES = [sample for page in pages() for sample in samples(page) if sample.language == "sql"]
"""The queries of the tutorial and of other pages. They work on any run."""


def test_every_query_of_the_documentation_has_an_answer(finished: Bench) -> None:
    assert {"docs/numbers.md", "docs/reference/results.md", PAGE} <= {sample.page for sample in QUERIES}
    for sample in QUERIES:
        asked = finished("query", "--json", sample.text)
        assert asked.code == 0, f"{sample}: {asked.text}"
        assert len(asked.json) > 1, str(sample)


def test_the_reference_has_the_columns_of_the_results_and_their_types(finished: Bench) -> None:
    sections = (ROOT / "docs/reference/results.md").read_text(encoding="utf-8").split("\n### ")[1:]
    reported = {
        (section.split("`")[1], column): kind
        for section in sections
        for column, kind in re.findall(r"^\| `(\w+)` \| ([A-Z ]+|list)\b", section, re.MULTILINE)
    }
    sql = "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE schema_name = 'main' AND NOT internal"
    asked = finished("query", "--json", sql)
    found = {(row["table_name"], row["column_name"]): row["data_type"] for row in asked.json}
    assert {place: "list" if kind.endswith("[]") else kind for place, kind in found.items()} == reported
