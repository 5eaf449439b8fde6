"""Tests `bench import`: its output, the files that it keeps, and that the run is marked as imported wherever it is
shown."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.bench import Bench, Ended
from tests.support.longer import longer, one_in
from tests.support.recorded import RECORDED_OUTPUTS

OUTPUTS = Path(__file__).resolve().parents[1] / "results" / "outputs"
SPEC = """
hardware eco    "5100 ECO" { hosts = "eco-[1-3].lab" }
hardware legacy "Legacy"   { hosts = "hdd-[1-3].lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload a from ycsb.a
experiment shrink { hardware = [eco, legacy]  workloads = a  threads = [48, 96]  measure = 10 min }
metric multiplier "Multiplier" = throughput[eco, threads: 96] / throughput[legacy, threads: 96]
report brief "Shrink" {
  template = technical_brief
  table "Throughput" { rows = workload  columns = throughput[threads: 96] by hardware }
  text = "It is {multiplier:.1f} times."
  disclosure = automatic
}
"""
TABLE = """# title: Shrink Your Cluster
# publisher: Example Ltd
# document: EX-1
# licence: cited with its source
hardware, workload, threads, throughput (ops/s), multiplier (x)
eco, a, 96, 7120.1,
legacy, a, 96, 818.3,
, a, 96, , 8.7
"""

SAID = ("--title", "Lab runs", "--publisher", "Example Ltd", "--document", "1", "--licence", "internal")


@dataclass(frozen=True)
class Done:
    bench: Bench
    ended: Ended

    @property
    def run(self) -> str:
        return str(self.ended.json["run"])


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Done:
    bench = Bench(tmp_path_factory.mktemp("imported"))
    part = bench.folder / "house" / "text.html.j2"
    part.parent.mkdir()
    part.write_text('<div class="own">{% include "ours/text.html.j2" %}</div>')
    spec = bench.spec(SPEC.replace("  template", '  parts = "house"\n  template'))
    (bench.folder / "published.csv").write_text(TABLE)
    return Done(bench, bench("import", "table", "published.csv", "--spec", spec.name, "--json"))


def test_the_outcome_names_the_run_its_source_and_its_cells(imported: Done) -> None:
    reported = imported.ended.json
    assert imported.ended.code == 0
    assert imported.run.endswith("-imported")
    assert (reported["origin"], reported["source"]["publisher"], len(reported["cells"]), reported["published"]) == (
        "imported",
        "Example Ltd",
        2,
        1,
    )


def test_the_status_and_the_exports_say_it(imported: Done) -> None:
    status = imported.bench("status", imported.run).out
    head, *cells = status.splitlines()
    assert "(imported, not measured here: Shrink Your Cluster (Example Ltd))" in head
    assert "2/4 cells imported" in head
    assert " left" not in head
    assert sum("missing" in line and "not in what was imported" in line for line in cells) == 2
    assert "waiting" not in status
    assert imported.bench("status", imported.run, "--json").json["origin"] == "imported"
    asked = imported.bench("query", "--run", imported.run, "--json", "SELECT value FROM measure.throughput").json
    assert [row["imported"] for row in asked] == [True, True]
    assert 'imported="true"' in imported.bench("status", imported.run, "--openmetrics").out


def test_the_brief_says_whose_numbers_these_are_before_any_of_them(imported: Done) -> None:
    done = imported.bench("report", imported.run, "--html-only")
    path, disclosure = (Path(line) for line in done.out.split() if line.endswith(".html"))
    assert path.name == "brief-imported.html"
    html = (imported.bench.folder / path).read_text()
    assert '<div class="own">' in html  # the house style was kept with the run
    text = re.sub("<[^>]+>", "", html)
    assert text.index("Figures from Example Ltd") < text.index("7,120.1")
    assert "It is 8.7 times." in text
    html = (imported.bench.folder / disclosure).read_text()
    text = re.sub("<[^>]+>", "", html)
    notice = text.index("Imported: measured elsewhere, by others")
    assert notice < text.index("Published values")
    assert "Shrink Your Cluster, Example Ltd, EX-1" in text
    assert "(licence: cited with its source)" in text[notice:]
    assert re.search(r"Licence of the figures\s+cited with its source", text), "and the test disclosure has it"
    cell = r'<td class="n">8.7</td><td class="n" data-cells="[^"]+"><a class="num" id="n\d+" href="#source-\d+" [^>]*>'
    assert re.search(f"{cell}8.701</a></td>", html), "what is computed leads to where it is from"
    assert "ssh eco-1.lab" not in text  # a host of the plan, on which nothing was measured
    assert "ycsb on" not in text


def test_no_command_takes_it_for_a_measured_run(imported: Done) -> None:
    last = imported.bench("report")
    assert last.code == 2
    assert "all runs in bench-out are imported" in last.err
    assert f"say `imported` for the last one, {imported.run}" in last.err
    assert imported.run in imported.bench("status").out
    assert imported.run in imported.bench("status", "imported").out
    assert "has no run imported~1: 1 were imported" in imported.bench("status", "imported~1").err
    assert "has no run simulated: 0 were simulated" in imported.bench("status", "simulated").err
    resumed = imported.bench("resume", imported.run)
    assert resumed.code == 2
    assert "was imported: there is nothing to go on with" in resumed.err


def test_its_tables_can_be_built_again_from_what_was_kept(imported: Done) -> None:
    asked = ("query", "--run", imported.run, "--csv", "FROM throughput ORDER BY ALL")
    before = imported.bench(*asked).out
    (imported.bench.folder / "published.csv").write_text("gone")
    assert imported.bench("rebuild", imported.run).code == 0
    assert imported.bench(*asked).out == before
    (imported.bench.folder / "published.csv").write_text(TABLE)


@pytest.mark.long
def test_verifying_raw_outputs_looks_at_the_kept_table_whatever_cells_have_numbers(imported: Done) -> None:
    done = imported.bench("report", imported.run, "--html-only")
    page, _ = (line for line in done.out.split() if line.endswith(".html"))
    side = imported.bench.folder / page.replace(".html", ".json")
    side.write_text(json.dumps(json.loads(side.read_text()) | {"cells": {}}))
    (kept,) = (side.parents[1] / "raw" / "imported").iterdir()
    try:
        kept.write_text(TABLE + "\n")
        found = imported.bench("verify", str(side), "--raw", "--json").json
    finally:
        kept.write_text(TABLE)
    assert list(found["raw"]) == [f"raw/imported/{kept.name}"]
    assert "was changed" in found["raw"][f"raw/imported/{kept.name}"]
    assert imported.bench("report", imported.run, "--html-only").code == 0
    assert imported.bench("verify", str(side), "--raw", "--json").json["raw"] == {}


@pytest.mark.long
def test_groups_of_one_table_are_compared_by_their_own_rows(bench: Bench) -> None:
    """All cells of an imported table come from the same file, but the numbers of each come from its own rows."""
    spec = bench.spec(SPEC.replace("measure = 10 min", "measure = 10 min  repeats = 3").replace("-[1-3].lab", ".lab"))
    rows = [
        f"{key}, a, 96, {repeat}, {rate + repeat}, {size}"
        for key, rate, size in (("eco", 100, 12.35), ("legacy", 200, 6.91))
        for repeat in (1, 2, 3)
    ]
    head = "\n".join(TABLE.splitlines()[:4])
    table = bench.folder / "groups.csv"
    table.write_text(
        f"{head}\nhardware, workload, threads, repeat, throughput (ops/s), database.size (MB)\n" + "\n".join(rows)
    )
    spec.write_text(spec.read_text() + 'metric size "Size" = database.size, lower is better\n')
    done = bench("import", "table", table, "--spec", spec, "--json")
    assert done.code == 0, done.text
    run = done.json["run"]
    printed = bench("compare", f"{run}:eco", f"{run}:legacy", "--strict", "--json").json
    assert {row["metric"]: row["verdict"] for row in printed["comparisons"]} == {
        "throughput": "better",
        "size": "better",
    }
    again = bench("import", "table", table, "--spec", spec, "--again", "--json").json["run"]
    same = bench("compare", run, again)
    assert "same measurement" in same.out
    assert "which both were imported from" in same.out
    assert "--fresh" not in same.out


def test_the_same_file_is_reported_and_a_dry_run_keeps_nothing(imported: Done) -> None:
    words = ("import", "table", "published.csv", "--spec", "brief.bench")
    runs = sorted((imported.bench.folder / "bench-out").iterdir())
    again = imported.bench(*words)
    assert again.code == 2
    assert f"published.csv was imported before, as published.csv of run {imported.run}" in again.err
    dry = imported.bench(*words, "--again", "--dry-run")
    assert dry.code == 0
    assert dry.out.startswith("would import 2 of 4 cells, 1 published value of metrics")
    assert sorted((imported.bench.folder / "bench-out").iterdir()) == runs


def test_a_table_that_is_wrong_is_reported_with_its_lines_and_keeps_nothing(bench: Bench) -> None:
    part = bench.folder / "house" / "text.html.j2"
    part.parent.mkdir()
    part.write_text('<div class="own">{% include "ours/text.html.j2" %}</div>')
    spec = bench.spec(SPEC)
    (bench.folder / "published.csv").write_text(TABLE.replace("818.3", "818,3").replace("eco,", "ecco,"))
    ended = bench("import", "table", "published.csv", "--spec", spec.name)
    assert ended.code == 2
    assert ended.err == (
        "error: published.csv:6: no hardware `ecco` in the plan\n"
        "    published.csv:7: 6 fields, and 5 columns\n"
        "    nothing was imported\n"
        "  help: did you mean `eco`?\n"
    )
    assert not (bench.folder / "bench-out").exists()


def test_an_option_that_says_too_much_of_the_source_is_refused_before_a_file_is_read(bench: Bench) -> None:
    for option, most in (("--title", 300), ("--publisher", 300), ("--licence", 4000)):
        ended = bench("import", "table", "none.csv", "--spec", "none.bench", option, "x" * (most + 1))
        assert ended.code == 2
        reported = f"{option.removeprefix('--')} has {most + 1:,} characters; the limit is {most:,}: shorten it"
        assert reported in " ".join(ended.err.split())


@pytest.mark.parametrize(
    ("reported", "meant"),
    [
        ("Page caches", "page cache"),
        *longer(("warm up", "warm-up"), ("Repeat", "repeats"), ("number of record", "number of records")),
    ],
)
def test_a_slip_for_a_topic_of_the_brief_is_refused(bench: Bench, reported: str, meant: str) -> None:
    spec = bench.spec(SPEC)
    (bench.folder / "published.csv").write_text(TABLE)
    asked = ("import", "table", "published.csv", "--spec", spec.name, "--dry-run", "--told")
    ended = bench(*asked, f"{reported}: as before")
    assert ended.code == 2
    assert f"a brief has no topic `{reported}`" in ended.err
    assert f"did you mean `{meant}`?" in ended.err
    for name in (meant, meant.upper(), "Database", "Firmware", "\u30da\u30fc\u30b8\u30ad\u30e3\u30c3\u30b7\u30e5"):
        assert bench(*asked, f"{name}: as before").code == 0, name


def test_an_output_without_its_source_or_its_cell_is_refused(bench: Bench) -> None:
    spec = bench.spec(SPEC)
    (bench.folder / "run.txt").write_text("nothing\n")
    ended = bench("import", "ycsb", "run.txt", "--spec", spec.name)
    assert ended.code == 2
    assert "who published these numbers is not said: title, publisher, licence, url or document" in ended.err
    source = ("--title", "x", "--publisher", "y", "--url", "z", "--licence", "w")
    assert (
        "which cells these files are of is not said"
        in bench("import", "ycsb", "run.txt", "--spec", spec.name, *source).err
    )
    asked = bench("import", "ycsb", "run.txt", "--spec", spec.name, *source, "--as", "{hardwere}.txt")
    assert "did you mean {hardware}?" in asked.err


def test_more_failed_operations_than_are_accepted_are_warned_of(bench: Bench) -> None:
    spec = bench.spec(SPEC.partition("report ")[0])
    shutil.copy(OUTPUTS / "ycsb-0.12-some-failed.txt", bench.folder / "out.txt")
    asked = ("import", "ycsb", "out.txt", "--spec", spec.name, "--cell", "hardware=eco,threads=96", "--dry-run")
    reported = "0.5 % of the operations of shrink/eco/a/threads=96/r1 failed, and 0 % may"
    done = bench(*asked, *SAID)
    assert done.code == 0, done.text
    assert f"warning: {reported}" in done.err
    spec.write_text(spec.read_text().replace("measure = 10 min", "measure = 10 min  max_errors = 1 %"))
    assert bench(*asked, *SAID, "--json").json["too_many_failed"] == []


def test_what_go_ycsb_may_fail_is_one_share_in_the_warnings_the_notes_and_the_disclosure(bench: Bench) -> None:
    kept = RECORDED_OUTPUTS / "go_ycsb" / "timed" / "stdout"
    shutil.copy(kept, bench.folder / "out.txt")
    text = SPEC.replace("tool = ycsb", "tool = go_ycsb").replace("throughput[threads: 96] by hardware", "throughput")
    text = re.sub(r"metric .*|text = .*", "", text.replace("from ycsb.a", "from ycsb.f { records = 1k }"))
    spec = bench.spec(text.replace("[48, 96]", "4").replace("[eco, legacy]", "eco"))
    asked = ("import", "go-ycsb", "out.txt", "--spec", spec.name, "--cell", "hardware=eco")
    done = bench(*asked, *SAID, "--json")
    assert (done.code, done.json["too_many_failed"]) == (0, []), done.text  # 23 of 26,843
    notes = bench("query", "--run", done.json["run"], "--csv", "SELECT text FROM notes").out
    assert "allowed" not in notes
    over = bench.folder / "over.txt"
    over.write_text((bench.folder / "out.txt").read_text().replace("Count: 22, OPS: 8.0", "Count: 88, OPS: 32.0"))
    dry = bench("import", "go-ycsb", "over.txt", *asked[3:], *SAID, "--dry-run")
    assert "0.331 % of the operations of shrink/eco/a/threads=4/r1 failed, and 0.1 % may" in dry.err


def test_the_logs_beside_an_output_are_imported_with_it_and_those_of_another_run_are_reported(bench: Bench) -> None:
    spec = bench.spec(SPEC.partition("metric ")[0].replace("ycsb.a", "ycsb.f").replace("[48, 96]", "4"))
    recorded = RECORDED_OUTPUTS / "ycsb"
    shutil.copytree(recorded / "read-modify-write", bench.folder / "run")
    asked = ("import", "ycsb", "run/stdout", "--spec", spec.name, "--cell", "hardware=eco", "--dry-run", *SAID)
    reported = bench(*asked, "--json").json
    assert [Path(each["name"]).name for each in reported["files"]] == [
        *("stdout", "READ-MODIFY-WRITE.hdr", "READ.hdr", "UPDATE.hdr")
    ]
    assert reported["remarks"] == []
    shutil.copy(recorded / "offered-load" / "READ.hdr", bench.folder / "run")
    assert "warning: run/stdout: the histogram logs beside it are not of it: it has 29385 " in bench(*asked).err
    assert len(bench(*asked, "--json").json["remarks"]) == 1
    wrong = bench("import", "hdr", "run/READ.hdr", "--spec", spec.name, *SAID, "--logs", "x.hdr")
    assert (wrong.code, "--logs is for the outputs of ycsb" in wrong.err) == (2, True)


@pytest.mark.long
def test_a_brief_over_percentiles_that_were_printed_as_nothing_says_that_means_alone_are_known(bench: Bench) -> None:
    spec = bench.spec(SPEC)
    text = (OUTPUTS / "ycsb-0.17-by-milliseconds.txt").read_text()
    (bench.folder / "out.txt").write_text(re.sub(r"(PercentileLatency\(us\)), \d+", r"\1, 0", text))
    done = bench("import", "ycsb", "out.txt", "--spec", spec.name, "--cell", "hardware=eco,threads=96", *SAID, "--json")
    assert "not those of [READ], [UPDATE] that it printed as 0" in done.json["remarks"][0]
    rendered = bench("report", str(done.json["run"]), "--html-only")
    _, path = (Path(line) for line in rendered.out.split() if line.endswith(".html"))
    html = (bench.folder / path).read_text()
    assert "No percentile of the latencies is known" in html
    assert "No latency was recorded" not in html


RECORDED = RECORDED_OUTPUTS
OF_TOOLS = {
    "ycsb": (
        OUTPUTS / "ycsb-0.12-some-failed.txt",
        (
            'client load { hosts = "load.lab"  tool = ycsb }\n'
            'database db { engine = mongodb  uri = "mongodb://h/ycsb"  reset = after_writes  drop_caches = true }\n'
            "workload w from ycsb.a { records = 7k }"
        ),
        96,
        [],
        ["threads", "number of records", "version of the load generator"],
    ),
    "go-ycsb": (
        RECORDED / "go_ycsb" / "timed" / "stdout",
        (
            'client load { hosts = "load.lab"  tool = go_ycsb }\n'
            'database db { engine = mongodb  uri = "mongodb://h/ycsb"  reset = after_writes  drop_caches = true }\n'
            "workload w from ycsb.f { records = 1k }"
        ),
        4,
        ["threadcount: 4", "recordcount: 1000", "requestdistribution: zipfian", "warmuptime: 1"],
        ["size of the records", "version of the load generator"],
    ),
    "db_bench": (
        OUTPUTS / "db_bench-6.21.txt",
        (
            'database db { engine = rocksdb  path = "/d"  reset = after_writes  options { cache = 3 MiB } }\n'
            "workload w from db_bench.readrandom { records = 100k  value_size = 100 B }"
        ),
        1,
        ["db_bench 6.21", "Entries: 100000", "Compression: Snappy", "8 * Intel(R) Xeon(R) CPU @ 2.70GHz"],
        ["threads", "distribution of the requests"],
    ),
    "hdr": (
        RECORDED / "ycsb" / "read-modify-write" / "READ.hdr",
        (
            'client load { hosts = "load.lab"  tool = ycsb }\n'
            'database db { engine = mongodb  uri = "mongodb://h/ycsb"  reset = after_writes  drop_caches = true }\n'
            "workload w from ycsb.c { records = 7k }"
        ),
        4,
        [],
        ["threads", "number of records", "version of the load generator"],
    ),
}
OF_THE_SPEC = (
    *("warm-up 77 s", "measured 99 s", "33 s of cooling down", "order: interleaved", "repeats: 3", "7,000", "3 MiB"),
    *(
        "loaded once",
        "page cache of the hosts dropped",
        "box-1.lab",
        "load.lab",
        "cpu every",
        "Closed loop",
        "was not sampled",
    ),
)
NEVER_IN_OUTPUTS = (
    "hosts",
    "database and its options",
    "loading of the data",
    "page cache",
    "order of the measurements",
)


@pytest.mark.parametrize("kind", one_in(4, OF_TOOLS))
def test_the_disclosure_of_an_imported_output_has_what_it_tells_and_no_setting_of_the_spec(
    kind: str, bench: Bench
) -> None:
    path, declared, threads, reported, untold = OF_TOOLS[kind]
    spec = bench.spec(f"""
hardware box {{ hosts = "box-1.lab"  memory = 16 GiB  storage = "NVMe" }}
{declared}
experiment ramp {{
  hardware = box  workloads = w  threads = {threads}  repeats = 3, interleaved
  warm_up = 77 s  measure = 99 s  cool_down = 33 s  probes = [cpu every 1 s]
}}
report brief "A brief" {{
  table "Throughput" {{ rows = workload  columns = throughput by hardware }}
  table "Facts" {{ rows = facts }}
  disclosure = automatic
}}
""")
    shutil.copy(path, bench.folder / path.name)
    asked = ("import", kind, path.name, "--spec", spec.name, "--cell", "hardware=box", *SAID, "--skip-bad", "--json")
    done = bench(*asked, "--told", "Resets between measurements: none", "--facts", "storage")
    assert done.code == 0, done.text
    rendered = bench("report", str(done.json["run"]), "--html-only")
    brief, page = (Path(line) for line in rendered.out.split() if line.endswith(".html"))
    text = re.sub("<[^>]+>", "", (bench.folder / page).read_text()).replace("\u00a0", " ")
    disclosed = text[text.index("What the source tells") : text.index("Warnings and remarks")]
    before_paths = text[: text.index("All measurements")]  # kept files are in folders of the plan's hosts
    assert [setting for setting in OF_THE_SPEC if setting in before_paths] == []
    assert [each for each in reported if each not in disclosed] == []
    open_topics = disclosed[disclosed.index("Not told by the source") :]
    assert [each for each in (*untold, *NEVER_IN_OUTPUTS) if each not in open_topics] == []
    assert "resets between measurements" not in open_topics, "the importer says it"
    assert re.search(r"Resets between measurements\s+none", disclosed)
    assert "NVMe" in (bench.folder / brief).read_text()
    assert "16 GiB" not in (bench.folder / brief).read_text() + text, "a fact that the source does not tell"


def test_what_the_importer_says_of_a_source_is_refused_where_it_can_not_be_read(bench: Bench) -> None:
    spec = bench.spec(SPEC)
    shutil.copy(OUTPUTS / "ycsb-0.12-some-failed.txt", bench.folder / "out.txt")
    asked = ("import", "ycsb", "out.txt", "--spec", spec.name, "--cell", "hardware=eco,threads=96", *SAID, "--dry-run")
    ended = bench(*asked, "--told", "no colon")
    assert (ended.code, "--told: `told` needs a name, a colon and a text" in ended.err) == (2, True)
    ended = bench(*asked, "--facts", "storag")
    assert (ended.code, "--facts: no hardware of the spec declares a fact `storag`" in ended.err) == (2, True)
