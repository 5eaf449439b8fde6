"""Tests that `bench verify` compares the brief's files, and the run's own files, with the journal."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter

from benchbrief.model.events import Counters, Remark, RunEnded
from benchbrief.results.result_messages import shorten_digests
from benchbrief.runners.journal.journal_file import JOURNAL, START, Journal, record_in, write_line
from tests.cli.conftest import FinishedRun
from tests.cli.specs import SMALL
from tests.support.bench import Bench
from tests.support.longer import longer


def made(bench: Bench, name: str) -> Path:
    return bench.run_dir / "reports" / name


def test_a_page_and_its_side_file_that_were_forged_together_are_found(copied_run: Bench) -> None:
    page, side = made(copied_run, "brief.html"), made(copied_run, "brief.json")
    page.write_text(page.read_text().replace("</title>", " (approved)</title>", 1))
    recorded = json.loads(side.read_text())
    recorded["page_sha256"] = sha256(page.read_bytes()).hexdigest()
    side.write_text(json.dumps(recorded))
    done = copied_run("verify", str(page))
    assert done.code == 1
    assert "brief.html is not, to the byte, the page that was made" in done.err
    assert "brief.json is not, to the byte, the file of its numbers that was made" in done.err


def test_a_side_file_that_tells_another_place_is_found(copied_run: Bench) -> None:
    side = made(copied_run, "brief.json")
    recorded = json.loads(side.read_text())
    recorded["numbers"][-1]["place"] = "elsewhere"
    side.write_text(json.dumps(recorded))
    done = copied_run("verify", str(side))
    assert done.code == 1
    assert "brief.json is not, to the byte, the file of numbers that was made" in done.err


@pytest.mark.long
def test_the_figures_data_beside_a_brief_are_as_they_were_made(copied_run: Bench) -> None:
    data = made(copied_run, "brief-figures") / "figure-1.csv"
    briefs = [str(made(copied_run, f"brief.{kind}")) for kind in ("pdf", "html", "json")]
    data.write_text(data.read_text() + "9,9\n")
    done = copied_run("verify", *briefs)
    assert done.code == 1
    changed = r"brief-figures/figure-1\.csv was changed \(SHA-256 \w{12}, recorded \w{12}\)"
    assert len(re.findall(changed, done.err)) == 3
    assert len(re.findall(r"^made with it: \d files?, 1 missing or changed$", done.out, re.MULTILINE)) == 3
    assert "shown:" not in done.out
    data.unlink()
    done = copied_run("verify", *briefs)
    assert done.code == 1
    assert done.err.count("brief-figures/figure-1.csv is missing") == 3


@pytest.mark.long
def test_a_brief_that_was_copied_without_its_figures_data_holds(copied_run: Bench, tmp_path: Path) -> None:
    away = tmp_path / "away"
    away.mkdir()
    shutil.copy(made(copied_run, "brief.pdf"), away)
    assert copied_run("verify", "away/brief.pdf").code == 0


@pytest.mark.long
@pytest.mark.parametrize("change", ["changed", *longer("missing")])
def test_the_figures_data_inside_of_a_pdf_are_as_they_were_made(copied_run: Bench, change: str) -> None:
    path = made(copied_run, "brief.pdf")
    writer = PdfWriter(clone_from=PdfReader(path))
    (attached,) = (one for one in writer.attachment_list if one.name == "figure-1.csv")
    if change == "changed":
        attached.content = b"threads,value\n1,9\n"
    else:
        attached.delete()
    writer.write(path)
    done = copied_run("verify", str(path))
    assert done.code == 1
    assert re.search(rf"figure-1\.csv inside of brief\.pdf (was|is) {change}", done.err)
    assert "brief.pdf is not, to the byte, the PDF that was made" in done.err


@pytest.mark.long
def test_what_a_run_keeps_of_its_beginning_is_as_it_was(bench: Bench) -> None:
    spec = bench.spec(SMALL)
    git = ["git", "-C", str(bench.folder), "-c", "user.name=A", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", spec.name], ["commit", "-qm", "First"]):
        subprocess.run([*git, *words], check=True)
    assert bench("run", spec.name, "--simulate", "--no-report").code == 0
    assert bench("report", "simulated", "--html-only").code == 0
    side = made(bench, "brief-simulated.json")
    assert bench("verify", str(side)).code == 0
    by_run = bench("verify", "simulated")
    assert by_run.code == 0, by_run.text
    assert "all hold" in by_run.out, "a run stands for its briefs, also where their names say that it was simulated"
    names = ("spec/0-brief.bench", "revision.json", "simulation.json")
    for name in names:
        (bench.run_dir / name).write_bytes((bench.run_dir / name).read_bytes() + b" ")
    done = bench("verify", str(side))
    assert done.code == 3
    for name in names:
        assert f"{name} was changed (SHA-256" in done.err
        (bench.run_dir / name).unlink()
    done = bench("verify", str(side), "--json")
    assert (done.code, done.json["holds"]) == (3, False)
    assert sorted(done.json["kept"]) == sorted(f"{name} is missing" for name in names)


def rewritten(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.parametrize(
    ("damage", "options", "code"),
    [
        ("journal edited", (), 3),
        *longer(
            ("journal edited", ("--from-raw",), 3),
            ("journal edited, tables missing", (), 3),
            ("start edited", (), 3),
        ),
        ("journal missing", (), 3),
        ("plan edited", (), 3),
        *longer(("plan missing", (), 3)),
        ("raw output edited", (), 0),
        ("raw output edited", ("--raw",), 3),
        ("side file edited", (), 1),
        *longer(("side file missing", (), 1)),
        ("document edited", (), 1),
        ("document of another program", (), 2),
        ("run missing", (), 2),
    ],
)
def test_each_damage_has_the_code_that_is_documented(
    copied_run: Bench, damage: str, options: tuple[str, ...], code: int
) -> None:
    run_dir, pdf = copied_run.run_dir, made(copied_run, "brief.pdf")
    match damage:
        case "journal edited" | "journal edited, tables missing":
            rewritten(run_dir / JOURNAL, '"ops_per_s":', '"ops_per_s":1')
            if damage != "journal edited":
                shutil.rmtree(run_dir / "store")
        case "start edited":
            rewritten(run_dir / JOURNAL, '"plan_sha256":"', '"plan_sha256":"0')
        case "journal missing":
            (run_dir / JOURNAL).unlink()
        case "plan edited":
            rewritten(run_dir / "plan.json", '"label": "', '"label": "x')
        case "plan missing":
            (run_dir / "plan.json").unlink()
        case "raw output edited":
            raw = next((run_dir / "raw").glob("*/1/measure-*/stdout"))
            raw.write_bytes(raw.read_bytes() + b" ")
        case "side file edited":
            rewritten(pdf.with_suffix(".json"), '"place": "', '"place": "x')
        case "side file missing":
            pdf.with_suffix(".json").unlink()
        case "document edited":
            pdf.write_bytes(pdf.read_bytes() + b"\n")
        case "document of another program":
            pdf.write_text("%PDF-1.7", encoding="utf-8")
        case "run missing":
            moved = shutil.move(pdf, copied_run.folder / "brief.pdf")
            shutil.rmtree(run_dir)
            pdf = Path(moved)
    done = copied_run("verify", str(pdf), *options)
    assert done.code == code, done.text
    assert bool(done.err) == bool(code)


def lines_again(journal: Path, edit: Callable[[object], object]) -> None:
    """Write the journal again with correct checksums, after passing each record to `edit`."""
    lines, chain = [], START
    for line in journal.read_bytes().splitlines(keepends=True):
        text, chain = write_line(edit(record_in(line)), chain)  # type: ignore[arg-type]  # a record again
        lines.append(text)
    journal.write_bytes(b"".join(lines))


def test_a_journal_that_was_changed_is_found_though_its_sums_agree(copied_run: Bench) -> None:
    """The journal's own checksums agree, but the checksum of the journal in the brief does not."""
    lines_again(copied_run.run_dir / JOURNAL, lambda record: record)
    assert copied_run("verify", str(made(copied_run, "brief.pdf"))).code == 0

    def later(record: object) -> object:
        return record.model_copy(update={"at": record.at + 3600}) if isinstance(record, RunEnded | Counters) else record

    lines_again(copied_run.run_dir / JOURNAL, later)
    done = copied_run("verify", str(made(copied_run, "brief.pdf")))
    assert done.code == 3
    assert "journal.jsonl is not what it was when the brief was made" in done.err


def test_a_journal_value_that_no_raw_output_holds_is_found(copied_run: Bench) -> None:
    journal = copied_run.run_dir / JOURNAL
    text = journal.read_text(encoding="utf-8")
    version = re.search(r'"version":"([^"]+)"', text)
    assert version is not None
    journal.write_text(text.replace(version[0], '"version":"99"', 1), encoding="utf-8")
    done = copied_run("verify", str(made(copied_run, "brief.pdf")))
    assert done.code == 3
    assert re.search(r"journal\.jsonl:\d+ was changed after it was written", done.err)


def test_damaged_tables_are_named_and_left_and_the_numbers_computed_from_others(copied_run: Bench) -> None:
    for name in ("throughput.parquet", "results.duckdb"):
        path = copied_run.run_dir / "store" / name
        damaged = bytearray(path.read_bytes())
        damaged[len(damaged) // 2] ^= 1
        path.write_bytes(damaged)
        done = copied_run("verify", str(made(copied_run, "brief.pdf")))
        assert done.code == 3
        assert "numbers: all hold" in done.out
        assert f"store: {name} is not as it was built; for tables that are: bench rebuild" in done.err
        assert path.read_bytes() == damaged
        assert copied_run("rebuild").code == 0


@pytest.mark.long
def test_several_briefs_are_verified_at_once(copied_run: Bench) -> None:
    names = [str(made(copied_run, f"brief.{kind}")) for kind in ("pdf", "html", "json")]
    done = copied_run("verify", *names)
    assert (done.code, done.err) == (0, "")
    assert [line.split(":")[0] for line in done.out.splitlines() if "(run " in line] == names
    Path(copied_run.folder / names[1]).write_text("<html>")
    done = copied_run("verify", *names, "nowhere.pdf", "--json")
    assert [each["holds"] for each in done.json] == [True, None, True, None]
    assert done.code == 2
    assert "nowhere.pdf can't be read" in done.err


@pytest.mark.long
def test_a_brief_that_is_made_again_is_known_and_leaves_the_tables_fresh(
    finished_run: FinishedRun, copied_run: Bench
) -> None:
    tables = copied_run.run_dir / "store" / "cells.parquet"
    before = tables.stat().st_mtime_ns
    for language, name in (("ja", "brief.ja.html"), ("en", "brief.html")):
        assert copied_run("report", "--language", language, "--html-only").code == 0
        assert copied_run("verify", str(made(copied_run, name))).code == 0
    assert copied_run("query", "FROM cells").code == 0
    assert tables.stat().st_mtime_ns == before
    assert copied_run("status", "--json").json["status"] == "done"
    assert len(copied_run.journal("report_made")) == len(finished_run.bench.journal("report_made")) + 2
    assert copied_run("resume", copied_run.run_dir.name).code == 0
    assert len(copied_run.journal("run_started")) == 1


def test_two_digests_are_shown_by_digits_that_differ() -> None:
    assert shorten_digests("a" * 64, "b" * 64) == ("a" * 12, "b" * 12)
    assert shorten_digests("a" * 40 + "1" * 24, "a" * 40 + "2" * 24) == ("…aa" + "1" * 10, "…aa" + "2" * 10)
    assert shorten_digests("a" * 63 + "1", "a" * 63 + "2") == ("…" + "a" * 11 + "1", "…" + "a" * 11 + "2")


@pytest.mark.long
def test_tables_without_their_manifest_are_reported_and_left(copied_run: Bench) -> None:
    """The run is not changed, so that it can be verified again."""
    store = copied_run.run_dir / "store"
    (store / "manifest.json").unlink()
    before = {path.name: path.read_bytes() for path in store.glob("*.*")}
    done = copied_run("verify", str(made(copied_run, "brief.pdf")))
    assert done.code == 3
    assert "numbers: all hold" in done.out
    assert "store: manifest.json is missing; for tables that are: bench rebuild" in done.err
    assert {path.name: path.read_bytes() for path in store.glob("*.*")} == before


def test_tables_that_the_journal_has_outgrown_are_left(copied_run: Bench) -> None:
    """If the journal has grown since the tables were built, the new records are verified with new tables. The old ones
    stay as they are."""
    journal = Journal(copied_run.run_dir)
    journal.write(Remark(at=1.0, severity="info", text="Someone looked"))
    journal.close()
    manifest = copied_run.run_dir / "store" / "manifest.json"
    before = manifest.read_bytes()
    assert copied_run("verify", str(made(copied_run, "brief.pdf"))).code == 0
    assert manifest.read_bytes() == before


def test_a_run_s_reports_are_looked_at_in_every_format(copied_run: Bench) -> None:
    run = copied_run.run_dir
    done = copied_run("verify", run.name)
    assert done.code == 0, done.text
    first = done.out.splitlines()[0]
    assert first.startswith(f"{run.name}: not looked at: what ")
    assert "(--raw), whether they give these numbers again (--from-raw), and who made them (--allowed-signers)" in first
    assert "none missing; reports: " in done.out
    lying = [path for path in (run / "reports").rglob("*") if path.is_file()]
    assert {path.suffix for path in lying} >= {".pdf", ".html", ".json", ".csv"}
    for path in lying:
        before = path.read_bytes()
        path.write_bytes(before + b"<script>alert(1)</script>")
        done = copied_run("verify", run.name)
        assert done.code == 1, path
        assert f"{path.relative_to(run)} was changed (SHA-256" in done.err
        path.write_bytes(before)
    (run / "reports" / "extra.svg").write_text("<svg/>")
    done = copied_run("verify", run.name, "--json")
    assert (done.code, done.json["holds"]) == (3, False)
    assert done.json["reports_unrecorded"] == [
        "reports/extra.svg is not recorded: the run's journal does not say that it was made"
    ]


@pytest.mark.parametrize("torn", [*longer(False), True], ids=["deleted", "torn"])
def test_a_brief_whose_record_is_gone_from_the_journal_is_not_recorded(copied_run: Bench, torn: bool) -> None:
    run, journal = copied_run.run_dir, copied_run.run_dir / JOURNAL
    lines = journal.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if b'"type":"report_made"' not in line]
    assert len(kept) < len(lines)
    journal.write_bytes(b"".join(kept) + (lines[-1][:-20] if torn else b""))
    page, side = made(copied_run, "brief.html"), made(copied_run, "brief.json")
    page.write_text(page.read_text().replace("</title>", " (approved)</title>", 1))
    recorded = json.loads(side.read_text())
    recorded["page_sha256"] = sha256(page.read_bytes()).hexdigest()
    side.write_text(json.dumps(recorded))
    for named in (run.name, str(page), str(made(copied_run, "brief.pdf"))):
        done = copied_run("verify", named)
        assert done.code == 3, done.text
        assert "is not recorded: the run's journal does not say that it was made" in done.err


def test_a_raw_output_that_is_missing_is_found_without_being_asked_for(copied_run: Bench) -> None:
    run = copied_run.run_dir
    lost, *others = sorted(path for path in (run / "raw").rglob("*") if path.is_file())
    lost.unlink()
    done = copied_run("verify", run.name)
    assert done.code == 3
    assert f"{lost.relative_to(run)} is missing" in done.err
    assert f"raw outputs: {len(others) + 1} files, 1 missing" in done.out
    lost.symlink_to(others[0])
    done = copied_run("verify", run.name, "--json")
    assert (done.code, done.json["holds"]) == (3, False)
    assert done.json["raw_missing"] == [
        f"{lost.relative_to(run)} can't be read: it is a link, and links are not followed"
    ]
