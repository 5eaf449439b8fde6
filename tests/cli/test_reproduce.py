"""Tests that `bench reproduce` needs only a brief to make a run and to reach verdicts. It shows everything in a
stranger's spec before it runs any of it."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchbrief.reports.capsule.capsule_file import open_capsule, write_capsule
from tests.cli.specs import SMALL
from tests.support.bench import Bench, Ended
from tests.support.longer import longer
from tests.support.made_once import made_once
from tests.support.tools import system_tool

SPEC = (
    SMALL.replace("threads   = [1, 2]", "threads   = [1, 2]\n  repeats   = 6")
    .replace(
        "report brief",
        """\
metric times "Times" = throughput[threads: 2] / throughput[threads: 1], higher is better
claim ratio "{value:.3g} times the throughput of 1 thread on {two}" { value = times[rr, two] }
claim rate "{value:,.0f} ops/s on {two}" { value = throughput[rr, two][threads: 2] }
expect times > 0.5
report brief""",
    )
    .replace("  text = ", "  headline = [ratio, rate]\n  text = ")
)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the brief of a simulated run, and its capsule."""

    def make(folder: Path) -> None:
        bench = Bench(folder)
        bench.paper = False
        bench.spec(SPEC)
        assert bench("run", "brief.bench", "--simulate").code == 0

    return made_once(tmp_path_factory, "simulated", make)


@pytest.fixture
def reader(original: Path, bench: Bench) -> Bench:
    """Return a bench for a reader who has nothing but the page and its capsule."""
    bench.paper = False
    (reports,) = original.glob("bench-out/*/reports")
    for path in reports.glob("brief-simulated*"):
        if path.is_file() and "disclosure" not in path.name:
            shutil.copy(path, bench.folder)
    return bench


def changed(reader: Bench, change: Callable[[dict[str, bytes]], Mapping[str, bytes]]) -> None:
    """Replace parts of the capsule and update its list, as an attacker who knows the format would."""
    path = reader.folder / "brief-simulated-capsule.zip"
    found = open_capsule(path.read_bytes(), path.name)
    path.write_bytes(write_capsule(found.about, change(dict(found.parts))))


def with_spec(reader: Bench, change: Callable[[str], str]) -> None:
    name = "spec/brief.bench"
    changed(reader, lambda parts: {**parts, name: change(parts[name].decode()).encode()})


def left(reader: Bench) -> set[str]:
    return {path.name for path in reader.folder.iterdir()} - {"home", "tmp", "data"}


def test_a_brief_is_measured_again_from_its_page_alone(reader: Bench) -> None:
    before = left(reader)
    done = reader(
        "reproduce", "brief-simulated.html", "--simulate", "--yes", "--junit", "out.xml", "--markdown", "out.md"
    )
    assert done.code == 0, done.err
    assert done.out.count("holds: ") == 3
    assert "simulated: nothing was measured, so no verdict counts" in done.out
    assert left(reader) - before == {"brief-reproduction", "out.xml", "out.md"}
    suite = ET.parse(reader.folder / "out.xml").getroot()  # noqa: S314  # our own
    assert [case.get("classname") for case in suite.iter("testcase")] == ["claim", "claim", "expect"]
    assert len(list(suite.iter("skipped"))) == 3
    assert "| holds |" in (reader.folder / "out.md").read_text()
    (page,) = reader.folder.glob("brief-reproduction/bench-out/*/reports/reproduction-simulated.html")
    text = page.read_text(encoding="utf-8")
    assert "3 of 3" in text
    assert "Reproduction of “" in text


@pytest.mark.long
def test_other_numbers_are_told_with_the_ratio_its_interval_and_what_would_decide(reader: Bench) -> None:
    done = reader("reproduce", "brief-simulated.html", "--simulate", "--seed", "7", "--yes", "--json")
    assert done.code == 0, done.err
    found = done.json
    assert [each["kind"] for each in found["verdicts"]] == ["claim", "claim", "expect"]
    for each in found["verdicts"]:
        assert each["low"] < each["ratio"] < each["high"]
        assert each["verdict"] in ("holds", "fails", "open")
    assert found["simulated"] is True
    assert found["unlike"] is None


@pytest.mark.long
def test_a_measured_run_says_nothing_of_a_simulated_brief(copied_run: Bench, reader: Bench) -> None:
    done = reader("reproduce", "brief-simulated.html", "--by", copied_run.run_dir.name, "--json")
    assert {(each["verdict"], each["why"]) for each in done.json["verdicts"]} <= {
        ("unlike", "origin"),
        ("unlike", "gone"),
        ("unlike", "unsaid"),
    }


def test_a_dry_run_shows_everything_and_writes_nothing(reader: Bench) -> None:
    before = left(reader)
    done = reader("reproduce", "brief-simulated.html", "--dry-run")
    assert done.code == 0, done.err
    assert "24 cells on local" in done.out
    assert f"folder    {reader.folder.parent}" in done.out or "  folder    /" in done.out
    assert "not allowed" in done.out
    assert left(reader) == before
    told = reader("reproduce", "brief-simulated.html", "--dry-run", "--json").json
    assert {each["reach"] for each in told["brings"]} >= {"folder"}
    assert not any(each["allowed"] for each in told["brings"])
    assert all(each["place"].startswith("brief.bench:") for each in told["brings"] if each["reach"] == "folder")


def test_nothing_is_run_or_written_without_leave(reader: Bench) -> None:
    with_spec(
        reader, lambda text: text.replace("hosts = local", 'hosts = local\n  prepare = command("touch owned")', 1)
    )
    before = left(reader)
    unasked = reader("reproduce", "brief-simulated.html", "--yes")
    assert unasked.code == 2
    assert "command   touch owned" in unasked.out
    assert "prepares box.one; brief.bench:" in unasked.out or "prepares one; brief.bench:" in unasked.out
    assert "not allowed: first " in unasked.err
    folders = [each["text"] for each in brings(reader) if each["reach"] != "command"]
    others = reader(
        "reproduce", "brief-simulated.html", "--yes", *(word for each in folders for word in ("--allow", each))
    )
    assert others.code == 2
    assert "not allowed: first touch owned" in others.err
    misspelt = reader("reproduce", "brief-simulated.html", "--yes", "--allow", "touch own")
    assert "--allow touch own: the spec brings nothing along with this text" in misspelt.err
    nobody = reader("reproduce", "brief-simulated.html", "--allow", "all")
    assert nobody.code == 2
    assert "nobody is there to be asked" in nobody.err
    assert left(reader) == before


BEYOND = "the spec reads a file that is not in its capsule: /"


def brings(reader: Bench) -> list[dict[str, str]]:
    found: list[dict[str, str]] = reader("reproduce", "brief-simulated.html", "--dry-run", "--json").json["brings"]
    return found


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ('use "secret.env"', BEYOND),
        ('use "../../../../../../../../../../../etc/hostname"', BEYOND),
        ("hardware { }", "error"),
        ('report more "x" { theme { css = "secret.env" } }', BEYOND),
        ('report more "x" { parts = "/etc" }', BEYOND),
        ('database m { engine = mongodb  server = start  path = "/d"  config = "secret.env" }', BEYOND),
    ],
)
def test_a_spec_that_reads_files_beyond_its_capsule_is_refused(words: str, said: str, reader: Bench) -> None:
    secret = reader.folder / "secret.env"
    secret.write_text("TOKEN = hunter2 { }}\n", encoding="utf-8")
    words = words.replace("secret.env", str(secret))
    with_spec(reader, lambda text: f"{words}\n{text}" if words.startswith("use") else f"{text}\n{words}\n")
    before = left(reader)
    done = reader("reproduce", "brief-simulated.html", "--simulate", "--yes")
    assert done.code == 1
    assert said in done.err
    assert "hunter2" not in done.err + done.out
    assert left(reader) == before


def test_a_file_of_this_machine_does_not_get_into_a_strangers_plan(reader: Bench) -> None:
    secret = reader.folder / "secret.bench"
    secret.write_text("workload more from db_bench.readrandom { records = 1k  value_size = 8 B }\n", encoding="utf-8")
    with_spec(reader, lambda text: f'use "{secret}"\n{text}')
    done = reader("reproduce", "brief-simulated.html", "--simulate", "--yes")
    assert done.code == 1
    assert f"reads a file that is not in its capsule: {secret}" in done.err


def test_files_are_written_below_the_current_folder_alone(reader: Bench, tmp_path: Path) -> None:
    outside = tmp_path.parent / "outside"
    for place in (outside, "..", ".", "/tmp"):  # nothing is written there
        done = reader("reproduce", "brief-simulated.html", "--simulate", "--yes", "--into", str(place))
        assert done.code == 2
        assert "is not below the current folder" in done.err
    (reader.folder / "link").symlink_to(tmp_path.parent)
    assert reader("reproduce", "brief-simulated.html", "--simulate", "--yes", "--into", "link/x").code == 2
    (reader.folder / "brief-reproduction").mkdir()
    (reader.folder / "brief-reproduction" / "brief.bench").write_text("mine")
    done = reader("reproduce", "brief-simulated.html", "--simulate", "--yes")
    assert "is there already, with other files" in done.err
    assert not outside.exists()


def test_a_changed_capsule_is_refused_with_the_part_that_differs(reader: Bench) -> None:
    path = reader.folder / "brief-simulated-capsule.zip"
    made = io.BytesIO()
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(made, "w") as other:
        for name in archive.namelist():
            content = archive.read(name)
            other.writestr(name, content.replace(b"0.5", b"9.5") if name.endswith(".bench") else content)
    path.write_bytes(made.getvalue())
    done = reader("reproduce", "brief-simulated.html", "--dry-run")
    assert done.code == 2
    assert "was changed since it was made: spec/brief.bench is not what its list says" in done.err


@pytest.mark.long
def test_a_signed_capsule_says_who_signed_it_and_one_that_was_changed_since_is_refused(
    original: Path, bench: Bench
) -> None:
    bench.paper = False
    shutil.copytree(original / "bench-out", bench.folder / "bench-out")
    for name in ("key", "other"):
        key = bench.folder / name
        subprocess.run([system_tool("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        (bench.folder / f"by-{name}").write_text(f"{name}@lab {key.with_suffix('.pub').read_text()}")
    run = bench.run_dir.name
    assert "not signed: nobody vouches for it" in bench("reproduce", run, "--dry-run").out
    refused = bench("reproduce", run, "--dry-run", "--allowed-signers", "by-key")
    assert (refused.code, "the capsule is not signed" in refused.err) == (2, True)

    assert bench("report", run, "--sign", "key").code == 0
    brief = next(bench.run_dir.glob("reports/brief-simulated.html"))
    assert "its capsule is signed by somebody (ED25519 key SHA256:" in bench("verify", brief).out
    for ask in (("reproduce", brief, "--dry-run"), ("verify", brief)):
        assert "signed by key@lab (ED25519 key SHA256:" in bench(*ask, "--allowed-signers", "by-key").out
        other = bench(*ask, "--allowed-signers", "by-other")
        assert "signed by a key that is not among the allowed signers" in other.err
        assert other.code in (1, 2)

    path = brief.with_name("brief-simulated-capsule.zip")
    found = open_capsule(path.read_bytes(), path.name)
    signed = bench.run_dir / "signed.zip"  # by the same key, with another title
    changed = write_capsule(
        found.about.model_copy(update={"title": "x"}), found.parts, lambda _: found.signature or b""
    )
    signed.write_bytes(changed)
    done = bench("reproduce", signed, "--dry-run")
    assert (done.code, "signed, but its signature does not fit" in done.err) == (2, True)
    path.write_bytes(changed)
    done = bench("verify", brief, "--json")
    assert (done.code, done.json["capsule"]["state"]) == (1, "wrong")


def said(**changed: object) -> bytes:
    stated = {"kind": "claim", "name": "x", "expression": "x", "unit": "", **changed}
    return json.dumps([stated]).encode()


@pytest.mark.parametrize(
    ("part", "content"),
    [
        ("stated.json", b"{}"),
        ("stated.json", b'[{"kind": "claim", "name": "x"}]'),
        ("stated.json", b"[" * 100_000),
        ("stated.json", said(values=[{"value": 1e999}])),
        ("stated.json", said(values=[{"value": 1, "repeats": [1e308]}])),
        ("stated.json", said(no_difference=float("nan"))),
        ("stated.json", said(level=1)),
        ("facts.json", b'[["host"]]'),
        *longer(("facts.json", b'{"a": 1}'), ("facts.json", b"[[1, 2, 3, 4, 5, 6]]")),
    ],
)
def test_a_capsule_with_parts_that_mean_nothing_is_refused(part: str, content: bytes, reader: Bench) -> None:
    changed(reader, lambda parts: {**parts, part: content})
    done = reader("reproduce", "brief-simulated.html", "--simulate", "--yes")
    assert done.code == 2
    assert f"the capsule's {part} is not what benchbrief writes" in done.err


def test_missing_packages_are_named_and_never_installed(reader: Bench) -> None:
    path = reader.folder / "brief-simulated-capsule.zip"
    found = open_capsule(path.read_bytes(), path.name)
    needs = {"engine sqlite": "bench-not-there 1.0", "probe x": "../../evil 2"}
    path.write_bytes(write_capsule(found.about.model_copy(update={"extensions": needs}), found.parts))
    done = reader("reproduce", "brief-simulated.html", "--simulate", "--yes")
    assert done.code == 2
    assert "not installed: bench-not-there 1.0 (engine sqlite); ../../evil 2 (probe x)" in done.err


def test_other_hosts_are_named_in_the_order_of_the_plans(reader: Bench) -> None:
    told = reader("reproduce", "brief-simulated.html", "--on", "lab-1.lan", "--dry-run", "--json").json
    assert told["hosts"] == ["lab-1.lan"]
    done = reader("reproduce", "brief-simulated.html", "--on", "a,b", "--dry-run")
    assert (done.code, "the plan has 1 hosts, and 2 are named" in done.err) == (2, True)


@pytest.mark.long
def test_a_run_of_ones_own_is_reproduced_by_its_name(original: Path, bench: Bench) -> None:
    shutil.copytree(original / "bench-out", bench.folder / "bench-out")
    done = bench("reproduce", "simulated", "--by", "simulated", "--json")
    assert done.code == 0, done.err
    assert {each["verdict"] for each in done.json["verdicts"]} == {"holds"}
    assert done.json["differs"] == []


@pytest.mark.long
def test_a_run_that_measured_something_else_is_not_comparable_and_the_specs_are_told_apart(reader: Bench) -> None:
    reader.spec(SPEC.replace("value_size = 100 B", "value_size = 1 KiB"))
    assert reader("run", "brief.bench", "--simulate").code == 0
    done = reader("reproduce", "brief-simulated.html", "--by", reader.run_dir.name, "--json")
    assert {(each["verdict"], each["why"]) for each in done.json["verdicts"]} == {("unlike", "altered")}
    assert "text of brief.bench" in {each["what"] for each in done.json["differs"]}


@pytest.mark.long
def test_of_a_brief_without_claims_the_numbers_that_it_shows_are_judged(bench: Bench) -> None:
    bench.paper = False
    bench.spec(SMALL.replace("threads   = [1, 2]", "threads   = [1, 2]\n  repeats   = 6"))
    assert bench("run", "brief.bench", "--simulate").code == 0
    first = bench.run_dir.name
    assert bench("reproduce", first, "--dry-run").out.count("; 2 numbers of its figures and tables") == 1
    same = bench("reproduce", first, "--by", first, "--json").json
    assert [(each["kind"], each["name"]) for each in same["verdicts"]] == [("number", "gain"), ("number", "throughput")]
    assert same["verdicts"][1]["verdict"] == "holds"
    assert bench("run", "brief.bench", "--simulate", "--seed", "7").code == 0
    (second,) = (each for each in bench.run_dirs() if each.name != first)
    other = bench("reproduce", first, "--by", second.name)
    assert "judged is what it shows, where it differs most" in other.out
    assert re.search(r"ratio .* at experiment .*, threads [12]", " ".join(other.out.split()))
    (page,) = second.glob("reports/reproduction-simulated.html")
    assert "numbers that the brief shows hold" in page.read_text(encoding="utf-8")


@pytest.mark.long
def test_another_version_of_benchbrief_is_told_with_the_verdicts(reader: Bench) -> None:
    path = reader.folder / "brief-simulated-capsule.zip"
    found = open_capsule(path.read_bytes(), path.name)
    path.write_bytes(write_capsule(found.about.model_copy(update={"benchbrief": "0.0.7"}), found.parts))
    done = reader("reproduce", "brief-simulated.html", "--simulate", "--yes")
    assert re.search(r"differs: benchbrief: 0\.0\.7 in the brief, \S+ here", done.out)
    (page,) = reader.folder.glob("brief-reproduction/bench-out/*/reports/reproduction-simulated.html")
    assert "The brief was made by benchbrief 0.0.7, and it was judged by" in page.read_text(encoding="utf-8")


def test_what_has_no_capsule_says_what_to_name(bench: Bench) -> None:
    (bench.folder / "old.html").write_text("<html></html>")
    done: Ended = bench("reproduce", "old.html")
    assert (done.code, "old.html has no capsule with it" in done.err) == (2, True)
    assert "can't be read" in bench("reproduce", "nowhere.pdf").err
    (bench.folder / "torn-capsule.zip").write_bytes(b"PK\x03\x04 and nothing else")
    assert "torn-capsule.zip can't be read: File is not a zip file" in bench("reproduce", "torn-capsule.zip").err
    error = json.loads(bench("reproduce", "nowhere.pdf", "--json").out)["error"]
    assert error["code"] == "report"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--simulate", "--same-machine"), "--same-machine looks at real hosts"),
        (("--by", "simulated", "--on", "lab-1"), "--by measures nothing: leave it or --on out"),
        (("--by", "simulated", "--profile", "smoke"), "--by measures nothing: leave it or --profile out"),
        (("--by", "simulated", "--same-machine"), "--by measures nothing: leave it or --same-machine out"),
    ],
)
def test_options_that_mean_nothing_together_are_refused(words: tuple[str, ...], said: str, reader: Bench) -> None:
    done = reader("reproduce", "brief-simulated.html", *words)
    assert (done.code, said in " ".join(done.err.split())) == (2, True)


SAYS_NO = """
import io, sys
class Reader(io.StringIO):
    def isatty(self): return True
sys.stdin = Reader("n\\n")
"""


def test_a_run_that_is_never_begun_leaves_nothing_behind(reader: Bench) -> None:
    before = left(reader)
    ask = ("reproduce", "brief-simulated.html")
    for words, said in (
        (("--yes",), "not allowed: first "),
        (("--simulate", "--yes", "--budget", "1s"), "the budget of "),
        (("--simulate", "--failing", "nowhere", "--yes"), "no host of the spec is like it"),
    ):
        done = reader(*ask, *words)
        assert done.code in (1, 2)
        assert said in done.err
    declined = reader(*ask, "--allow", "all", before=SAYS_NO)
    assert (declined.code, "nothing was measured or written" in declined.err) == (2, True)
    with_spec(reader, lambda text: text.replace("tool   = db_bench", 'tool   = db_bench("/nowhere/db_bench")'))
    without_tool = reader(*ask, "--allow", "all", "--yes")
    assert (without_tool.code, "/nowhere/db_bench" in without_tool.err) == (3, True)
    assert left(reader) == before


def test_the_verdicts_are_told_where_the_brief_cannot_be_written(original: Path, bench: Bench) -> None:
    bench.paper = False
    shutil.copytree(original / "bench-out", bench.folder / "bench-out")
    (reports,) = bench.folder.glob("bench-out/*/reports")
    (reports / "reproduction-simulated.html").mkdir()
    done = bench("reproduce", "simulated", "--by", "simulated", "--junit", "out.xml")
    assert done.code == 5
    assert done.out.count("holds: ") == 3
    assert "the brief on the reproduction was not made" in done.err
    assert (bench.folder / "out.xml").is_file()
