"""Tests `bench verify`: it compares a brief's numbers with the store, the raw outputs, and the document itself."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ContentStream

from benchbrief.comparing.git_files import revision_of
from benchbrief.reports.verify_brief import marked_texts
from benchbrief.results.build_store import FILES, read_store_manifest, write_store_manifest
from tests.cli.conftest import FinishedRun
from tests.cli.specs import SMALL
from tests.support.bench import Bench
from tests.support.longer import longer

KINDS = ("pdf", "html", "json")


def brief(bench: Bench, kind: str) -> Path:
    return bench.run_dir / "reports" / f"brief.{kind}"


def change(table: Path, column: str, of: Callable[[Any], Any]) -> None:
    """Change a column of a stored table in place. `of` returns the new value for an old one. The SHA-256 in the
    manifest is updated."""
    stored = pq.read_table(table)
    values = pa.array([of(value) for value in stored[column].to_pylist()], stored.schema.field(column).type)
    changed = stored.set_column(stored.schema.get_field_index(column), stored.schema.field(column), values)
    pq.write_table(changed, table)
    manifest = read_store_manifest(table.parent)
    assert manifest is not None
    write_store_manifest(table.parent, manifest.build, FILES)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fresh_brief_holds(finished_run: FinishedRun, kind: str) -> None:
    done = finished_run.bench("verify", str(brief(finished_run.bench, kind)), "--raw")
    assert done.code == 0
    assert re.search(r"\n\d+ numbers: all hold\n", done.out)
    assert re.search(r"raw outputs: \d+ files, as recorded", done.out)
    assert (f"the {'PDF' if kind == 'pdf' else 'page'} itself: as it was made" in done.out) == (kind != "json")
    assert done.err == ""


def test_the_numbers_come_out_the_same_from_the_raw_outputs(finished_run: FinishedRun) -> None:
    path = finished_run.bench.run_dir / "store" / "throughput.parquet"
    before = path.stat().st_mtime_ns
    done = finished_run.bench("verify", str(brief(finished_run.bench, "json")), "--from-raw", "--json")
    found = json.loads(done.out)
    assert (done.code, found["holds"], found["differing"], found["drawn"], found["raw"]) == (0, True, [], [], {})
    assert found["points"] > 0
    assert path.stat().st_mtime_ns == before  # its own tables are left as they are


def test_a_stored_result_that_changed_by_a_hair_is_found(copied_run: Bench) -> None:
    store = copied_run.run_dir / "store"
    change(store / "throughput.parquet", "ops_per_s", lambda value: value and value * (1 + 1e-7))
    done = copied_run("verify", str(brief(copied_run, "pdf")))
    assert done.code == 1
    assert re.search(r"max\(throughput\[rr\] over threads, hardware\).* now .* for .*: the stored results were changed",
                     done.err)  # fmt: skip
    mended = copied_run("verify", str(brief(copied_run, "pdf")), "--from-raw")
    assert mended.code == 0  # the raw outputs still say what the brief says


@pytest.mark.long
def test_a_workbook_holds_as_made_and_saved_again_and_an_edited_number_is_named(copied_run: Bench) -> None:
    assert copied_run("report", copied_run.run_dir.name, "--format", "html,xlsx").code == 0
    path = brief(copied_run, "xlsx")
    done = copied_run("verify", str(path))
    assert (done.code, done.err) == (0, "")
    assert "the workbook itself: as it was made" in done.out
    saved = path.with_name("for the customer.xlsx")
    with ZipFile(path) as old, ZipFile(saved, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"Contents", b"What it has"))
    done = copied_run("verify", str(saved))
    assert (done.code, done.err) == (0, "")
    assert "numbers as made; it was saved again since" in done.out
    with ZipFile(path) as old, ZipFile(saved, "w") as new:
        for name in old.namelist():
            cells = rb'(<c r="[A-Z]+)(\d+" s="\d+"><v>)(\d)'
            sheet = re.sub(cells, rb"\1\g<2>9\3", old.read(name)) if name.endswith("sheet2.xml") else old.read(name)
            new.writestr(name, sheet)
    done = copied_run("verify", str(saved), "--json")
    found = json.loads(done.out)
    assert (done.code, found["holds"], found["is_editable"], found["differing"]) == (1, False, True, [])
    assert all(each["place"].startswith("sheet ") and each["recorded"] != each["found"] for each in found["edited"])
    done = copied_run("verify", str(saved))
    assert re.search(r"warning: sheet .*, row \d+, cell [A-Z]: shows .*, was made as ", done.err)


def test_a_document_whose_numbers_and_words_were_forged_together_is_held_against_the_run(copied_run: Bench) -> None:
    assert copied_run("report", copied_run.run_dir.name, "--format", "html,docx").code == 0
    path = brief(copied_run, "docx")
    shown = next(each["shown"] for each in json.loads(brief(copied_run, "json").read_text())["numbers"])

    def forged(content: bytes) -> bytes:
        return content.replace(shown.encode(), b"9" * len(shown))

    def forged_ledger(match: re.Match[bytes]) -> bytes:
        return match[1] + b64encode(zlib.compress(forged(zlib.decompress(b64decode(match[2])))))

    sent = path.with_name("for the customer.docx")
    with ZipFile(path) as old, ZipFile(sent, "w") as new:
        for name in old.namelist():
            part = re.sub(rb'(<file name="[^"]+">)([^<]+)', forged_ledger, old.read(name))
            new.writestr(name, forged(part) if name == "word/document.xml" else part)
    done = copied_run("verify", str(sent))
    assert done.code == 1
    assert re.search(r"numbers: \d+ holds?, \d+ do(es)? not", done.out)
    assert f"shown {'9' * len(shown)}" in done.err


def test_a_number_that_was_edited_in_the_page_is_found(copied_run: Bench) -> None:
    page = brief(copied_run, "html")
    html = page.read_text()
    number = re.search(r'id="n2"[^>]*>([0-9,]+)<', html)
    assert number is not None
    page.write_text(html[: number.start(1)] + "9,999,999" + html[number.end(1) :])
    done = copied_run("verify", str(page))
    assert done.code == 1
    assert f"text: shows 9,999,999, was made as {number[1]}" in done.err
    assert "numbers: all hold" in done.out


@pytest.mark.parametrize(("old", "new"), [("</title>", "!</title>"), ("</a>", "</a><b>0000</b>")])
def test_a_page_that_was_edited_outside_of_its_numbers_is_found(copied_run: Bench, old: str, new: str) -> None:
    page = brief(copied_run, "html")
    page.write_text(page.read_text().replace(old, new, 1))
    done = copied_run("verify", str(page))
    assert done.code == 1
    assert "itself: numbers as made, but the document was edited elsewhere" in done.out
    assert "brief.html is not, to the byte, the page that was made" in done.err


def test_a_number_that_was_edited_in_the_pdf_is_found(copied_run: Bench) -> None:
    path = brief(copied_run, "pdf")
    recorded = json.loads(brief(copied_run, "json").read_text())["numbers"]
    shown = next(number["shown"] for number in recorded if number["place"] == "text")
    _turn_around(path, shown)
    done = copied_run("verify", str(path), "--json")
    (edited,) = json.loads(done.out)["edited"]
    assert (done.code, edited["recorded"], edited["place"]) == (1, shown, "text")
    assert edited["found"] == shown[::-1]


def _turn_around(path: Path, text: str) -> None:
    """Reverse the text of a number on the first page, as an editor that does not understand the tags of a PDF might."""
    writer = PdfWriter(clone_from=PdfReader(path))
    page = writer.pages[0]
    mark = next(mark for mark, shown in marked_texts(page).items() if shown == text)
    content = ContentStream(page.get_contents(), writer)
    within = False
    for operands, operator in content.operations:
        if operator == b"BDC":
            within = operands[1].get("/MCID") == mark
        elif operator == b"TJ" and within:
            places = [at for at, item in enumerate(operands[0]) if isinstance(item, str | bytes)]
            glyphs = [operands[0][at] for at in places]
            for at, glyph in zip(places, reversed(glyphs), strict=True):
                operands[0][at] = glyph
    page.replace_contents(content)
    writer.write(path)


def test_a_raw_output_that_was_changed_is_named(copied_run: Bench) -> None:
    recorded = json.loads(brief(copied_run, "json").read_text())
    cell = recorded["numbers"][-1]["cells"][0]
    path = next(path for path in recorded["cells"][cell]["files"] if "measure" in path and path.endswith("stdout"))
    with (copied_run.run_dir / path).open("a") as file:
        file.write("one more line\n")
    trusting = copied_run("verify", str(brief(copied_run, "pdf")))
    assert trusting.code == 0
    done = copied_run("verify", str(brief(copied_run, "pdf")), "--raw")
    assert done.code == 3
    assert f"{path} was changed" in done.err
    parsed = copied_run("verify", str(brief(copied_run, "pdf")), "--from-raw")
    assert parsed.code == 1  # what was read from it counts no more
    assert "is failed now, and was ok" in parsed.err


@pytest.mark.parametrize("edit", [*longer("no cells"), "its digest"])
def test_raw_outputs_are_those_that_the_journal_has_whatever_the_side_file_lists(copied_run: Bench, edit: str) -> None:
    side = brief(copied_run, "json")
    recorded = json.loads(side.read_text())
    cell = recorded["numbers"][-1]["cells"][0]
    path = next(path for path in recorded["cells"][cell]["files"] if "measure" in path and path.endswith("stdout"))
    whole = json.loads(copied_run("verify", str(side), "--raw", "--json").out)
    with (copied_run.run_dir / path).open("ab") as file:
        file.write(b"one more line\n")
    if edit == "no cells":
        recorded["cells"] = {}
        for entry in (*recorded["numbers"], *recorded["queries"]):
            entry["cells"] = []
    else:
        recorded["cells"][cell]["files"][path] = sha256((copied_run.run_dir / path).read_bytes()).hexdigest()
    side.write_text(json.dumps(recorded))
    done = copied_run("verify", str(side), "--raw", "--json")
    found = json.loads(done.out)
    assert done.code == 1
    assert found["raw_files"] == whole["raw_files"] > 0
    assert list(found["raw"]) == [path]
    assert re.search(f"cells? than the run, first {re.escape(cell) if edit != 'no cells' else ''}",
                     " ".join(found["foreign"]))  # fmt: skip


def test_tables_that_tell_a_raw_output_otherwise_than_the_journal_are_found(copied_run: Bench) -> None:
    change(copied_run.run_dir / "store" / "files.parquet", "sha256", lambda _: "00" * 32)
    side = brief(copied_run, "json")
    recorded = json.loads(side.read_text())
    for entry in recorded["cells"].values():
        entry["files"] = dict.fromkeys(entry["files"], "00" * 32)
    side.write_text(json.dumps(recorded))
    done = copied_run("verify", str(side), "--raw")
    assert done.code == 1  # the side file is not the one that was made, either
    assert "has another SHA-256 in the run's tables than in its journal" in done.err


def test_a_side_file_whose_values_were_edited_is_found(copied_run: Bench) -> None:
    side = brief(copied_run, "json")
    recorded = json.loads(side.read_text())
    recorded["numbers"][-1]["shown"] = "9,999,999"
    side.write_text(json.dumps(recorded))
    done = copied_run("verify", str(side))
    assert done.code == 1
    assert "9,999,999" in done.err
    assert "edited, or written by another benchbrief" in done.err


@pytest.mark.long
def test_what_a_side_file_claims_to_compute_is_held_against_the_runs_plan(copied_run: Bench) -> None:
    side = brief(copied_run, "json")
    recorded = json.loads(side.read_text())
    number = recorded["numbers"][-1]
    query = next(query for query in recorded["queries"] if query["id"] == number["query"])
    query["sql"] = f"SELECT {number['value']!r}::DOUBLE AS value"
    number["at"], query["dims"] = {}, []
    side.write_text(json.dumps(recorded))
    done = copied_run("verify", str(side), "--json")
    assert done.code == 1
    assert {each["why"] for each in done.json["differing"]} == {
        "its SQL is none of the plan's: the file of the numbers was edited"
    }
    recorded["plan_sha256"] = "0" * 64
    side.write_text(json.dumps(recorded))
    done = copied_run("verify", str(side), "--json")
    assert "a plan (SHA-256 000000000000) that neither" in " ".join(done.json["foreign"])
    recorded["run"] = "20200101-000000-other"
    side.write_text(json.dumps(recorded))
    done = copied_run("verify", str(side), "--json")
    assert "names the run 20200101-000000-other" in " ".join(done.json["foreign"])


@pytest.mark.long
def test_a_brief_in_another_language_holds_though_the_run_has_none(copied_run: Bench) -> None:
    assert copied_run("report", "--language", "ja", "--html-only").code == 0
    done = copied_run("verify", str(brief(copied_run, "ja.html")))
    assert (done.code, done.err) == (0, "")


def test_a_missing_number_does_not_hold_when_its_query_fails(copied_run: Bench) -> None:
    side = brief(copied_run, "json")
    recorded = json.loads(side.read_text())
    number = recorded["numbers"][-1]
    number |= {"value": None, "shown": number["printed"]["missing"]}
    next(query for query in recorded["queries"] if query["id"] == number["query"])["sql"] = "SELECT nothing"
    side.write_text(json.dumps(recorded))
    done = copied_run("verify", str(side), "--json")
    assert done.code == 1
    assert number["id"] in {each["id"] for each in done.json["differing"]}


def test_verifying_changes_nothing_of_a_run_without_tables_and_prints_plain_blanks(copied_run: Bench) -> None:
    shutil.rmtree(copied_run.run_dir / "store")
    assert copied_run("verify", str(brief(copied_run, "json"))).code == 0
    assert not (copied_run.run_dir / "store").exists()
    side = brief(copied_run, "json")
    recorded = json.loads(side.read_text())
    for number in recorded["numbers"]:
        number["shown"] += "\u00a09"
    side.write_text(json.dumps(recorded))
    done = copied_run("verify", str(side))
    assert done.code == 1
    assert "\\xa0" not in done.err
    assert "\u00a0" not in done.err


@pytest.mark.long
def test_a_brief_far_from_its_run_asks_for_it(copied_run: Bench, tmp_path: Path) -> None:
    away = tmp_path / "away"
    away.mkdir()
    shutil.copy(brief(copied_run, "pdf"), away)
    shutil.copytree(copied_run.run_dir, tmp_path / "archive" / "moved")
    name = copied_run.run_dir.name
    shutil.rmtree(copied_run.run_dir)
    lost = copied_run("verify", "away/brief.pdf")
    assert lost.code == 2
    assert "--store RUN" in lost.err
    for folder in (".", "nowhere"):
        asked = copied_run("verify", "away/brief.pdf", "--store", folder)
        assert asked.code == 2
        assert "bench run" not in asked.err
        assert f"--store wants the run of the brief: {name}" in asked.err
    assert copied_run("verify", "away/brief.pdf", "--store", "archive/moved").code == 0


@pytest.mark.parametrize("place", [".", "{run}/reports"])
def test_a_folder_is_refused_with_the_brief_that_is_in_it(finished_run: FinishedRun, place: str) -> None:
    run = finished_run.bench.run_dir
    folder = run.parent if place == "." else Path(place.format(run=run))
    done = finished_run.bench("verify", str(folder))
    assert done.code == 2
    assert f"{folder} is a folder, and not a brief" in " ".join(done.err.split())
    assert "give a brief: bench verify " in done.err
    assert "/reports/brief.pdf" in "".join(done.err.split())


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.pdf", b"%PDF-1.7\nnothing", "can't be read as a PDF"),
        ("x.json", b'{"format": "benchbrief-numbers", "version": 99}', "another version of file"),
        ("x.json", b"{", "is no file of a brief's numbers"),
        ("x.html", b"<html>", "x.json, which has the numbers of x.html, can't be read"),
    ],
)
def test_what_is_no_brief_is_one_clear_error(bench: Bench, name: str, content: bytes, said: str) -> None:
    (bench.folder / name).write_bytes(content)
    done = bench("verify", name)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err


def test_the_revision_of_a_spec_is_its_commit_and_whether_it_was_changed_since(tmp_path: Path) -> None:
    spec, other = tmp_path / "brief.bench", tmp_path / "notes.txt"
    spec.write_text("one")
    assert revision_of(spec, [spec]) == {}
    git = ["git", "-C", str(tmp_path), "-c", "user.name=A", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "brief.bench"], ["commit", "-qm", "First"]):
        subprocess.run([*git, *words], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    other.write_text("not of the spec")
    assert revision_of(spec, [spec]) == {"commit": commit, "dirty": "false"}
    spec.write_text("two")
    assert revision_of(spec, [spec]) == {"commit": commit, "dirty": "true"}


@pytest.mark.long
def test_the_brief_tells_the_revision_that_its_run_was_made_from(bench: Bench) -> None:
    spec = bench.spec(SMALL)
    git = ["git", "-C", str(bench.folder), "-c", "user.name=A", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", spec.name], ["commit", "-qm", "First"]):
        subprocess.run([*git, *words], check=True)
    assert bench("run", spec.name, "--simulate").code == 0
    (side,) = (bench.folder / "bench-out").glob("*/reports/brief-simulated.json")
    recorded = json.loads(side.read_text())
    assert recorded["kind"] == "simulated"
    (reported,) = [text for term, text in recorded["origin"] if term == "Revision of the specification"]
    assert re.fullmatch("[0-9a-f]{40}, as committed", reported)
    assert bench("verify", str(side)).code == 0


@pytest.mark.long
def test_a_run_stands_for_its_briefs_and_the_last_one_for_no_name(finished_run: FinishedRun) -> None:
    bench = finished_run.bench
    for named in ((), (bench.run_dir.name,), (bench.run_dir.name[:8],), (f"bench-out/{bench.run_dir.name}",)):
        done = bench("verify", *named)
        assert done.code == 0, done.text
        run = bench.run_dir.name
        assert done.out.startswith(f"{run}: not looked at: ")
        assert done.out.splitlines()[2].startswith(f"bench-out/{run}/reports/brief.pdf: What a second folder buys")
    unknown = bench("verify", "nosuchrun")
    assert unknown.code == 2
    assert "no run nosuchrun in bench-out" in unknown.err


def test_a_run_without_a_brief_says_how_to_make_one_and_whether_its_outputs_are_as_recorded(copied_run: Bench) -> None:
    run_dir = copied_run.run_dir
    shutil.rmtree(run_dir / "reports")
    done = copied_run("verify")
    assert done.code == 2
    assert f"make it first: bench report {run_dir.name}" in done.err
    assert re.search(r"raw outputs: \d+ files, as recorded", done.out)
    assert copied_run("verify", "--raw").code == 0

    changed = next(path for path in sorted(run_dir.glob("raw/**/*")) if path.is_file())
    changed.write_bytes(changed.read_bytes() + b"one more line\n")
    done = copied_run("verify")
    assert done.code == 3
    assert f"{changed.relative_to(run_dir)} was changed after it was measured" in done.err
    reported = copied_run("verify", "--json").json
    assert (reported["holds"], list(reported["raw"])) == (False, [str(changed.relative_to(run_dir))])
