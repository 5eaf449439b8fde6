"""Tests held-out repeats of claims: the winning point is measured again, and only these repeats count for the claim."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from benchbrief.model.events import HeldOutBegan
from benchbrief.results import open_store
from benchbrief.results.analysis.held_out_repeats import held_out_repeats
from benchbrief.results.build_store import build_tables
from benchbrief.runners.journal.run_folder import HELD_OUT, load_plan
from tests.cli.specs import HARDWARE, REPORT, ROCKS
from tests.support.bench import Bench, records_of
from tests.support.waiting import until

SIMULATED = """\
hardware eco    "5100 ECO"   { hosts = "eco.lab" }
hardware legacy "Legacy HDD" { hosts = "hdd.lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload a "Session store" from ycsb.a { records = 10k }
workload c "Cache" from ycsb.c { records = 10k }
experiment ramp { hardware = [eco, legacy]  workloads = [a, c]  threads = [8, 16]  measure = 1 min  repeats = 3 }
metric ratio "Ratio" = throughput[eco] / throughput[legacy], higher is better
claim most "Up to {value:.2f}X the work of {legacy}" {
  value = max(ratio over threads, workload)
  @HELD@
  allow "a test" = decided
}
claim most_ja "{legacy} の最大 {value:.2f} 倍" { value = max(ratio over threads, workload) }
claim best "{value:.2f}X the best of {legacy}" {
  value = max(throughput[eco] over threads, workload) / max(throughput[legacy] over threads, workload)
  @HELD@
  allow "a test" = decided
}
report brief "Brief" {
  headline = [most, best]
  text = "At most {max(throughput over threads, workload, hardware):,.0f} operations each second."
  figure "Work" { bars = throughput[a][threads: 8] by hardware }
}
"""
REAL = (
    HARDWARE
    + ROCKS
    + """\
experiment ramp { hardware = box.variants  workloads = [rr]  threads = [1, 2]  measure = 1 s }
metric ratio "Ratio" = throughput[two] / throughput[one], higher is better
claim most "Up to {value:.2f} times the throughput of {one}" {
  value    = max(ratio over threads)
  held_out = 2
  allow "a test" = decided
}
"""
    + REPORT.replace("  callout", "  headline = most\n  callout")
)
TABLES = "SELECT cell_id, ops_per_s FROM throughput ORDER BY ALL"


def simulated(bench: Bench, held: str, *more: str) -> dict[str, Any]:
    bench.spec(SIMULATED.replace("@HELD@", held))
    done = bench("run", "brief.bench", "--simulate", "--json", "--no-report", *more)
    assert done.code in (0, 3), done.text
    return dict(done.json)


def claims(bench: Bench, run: str) -> dict[str, Any]:
    return {each["claim"]: each for each in bench("claims", run, "--json").json["claims"]}


def held_out(run_dir: Path) -> dict[str, list[tuple[str, str]]]:
    """Return the cells of each run of held-out repeats, with their outcomes."""
    return {
        folder.name: [(each["cell"], each["status"]) for each in records_of(folder) if each["type"] == "cell_ended"]
        for folder in sorted((run_dir / HELD_OUT).iterdir())
    }


def test_the_winners_are_measured_again_and_no_table_has_these_repeats(bench: Bench) -> None:
    without = simulated(bench, "")["run"]
    rows = bench("query", "--run", without, TABLES, "--json").json
    assert claims(bench, without)["most"]["held_out"] is None
    assert claims(bench, without)["most"]["overstated"] > 0

    made = simulated(bench, "held_out = 4")
    run = made["run"]
    assert made["message"] == "24 cells, and 16 held-out repeats"
    assert bench("query", "--run", run, TABLES, "--json").json == rows, "the tables are those without them"

    found = held_out(bench.folder / "bench-out" / run)
    most, best = claims(bench, run)["most"], claims(bench, run)["best"]
    place = f"{most['at']['workload']}/threads={most['at']['threads']:.0f}"
    assert found["most-1"] == [
        (f"ramp/{side}/{place}/h{n}", "ok") for n in (1, 2, 3, 4) for side in ("eco", "legacy")
    ], "both sides, in turns"
    assert len(found["best-1"]) == 8, "the points of both maxima"
    again = most["held_out"]
    assert (again["good"], again["times"], again["attempt"], most["repeats"]) == (4, 4, 1, 4)
    assert again["chosen"]["value"] != most["value"], "the number is that of the repeats"
    assert best["held_out"]["good"] == 4
    assert "held out for claim most: 8 of 8 cells done" in bench("status", run).out
    lines = bench("claims", run).out
    assert lines.startswith("Simulated: nothing was measured")
    assert "held out: 4 of 4 repeats" in lines

    resumed = bench("resume", run, "--no-report")
    assert resumed.code == 0, resumed.text
    assert held_out(bench.folder / "bench-out" / run) == found, "nothing is measured again"


def test_held_out_repeats_are_read_from_their_tables_while_these_are_unchanged(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_dir = bench.folder / "bench-out" / simulated(bench, "held_out = 4")["run"]
    plan, parsed = load_plan(run_dir), list[str]()

    def noted(run: Path, folder: Path) -> None:
        parsed.append(run.name)
        build_tables(run, folder)

    monkeypatch.setattr(open_store, "build_tables", noted)
    found = held_out_repeats(run_dir, plan)
    assert (len(found["most"].values), parsed) == (4, []), "no raw output is parsed"
    assert held_out_repeats(run_dir, plan, afresh=True) == found
    assert parsed == ["most-1", "best-1"]
    table = run_dir / HELD_OUT / "most-1" / "store" / "throughput.parquet"
    table.write_bytes(table.read_bytes() + b" ")
    assert held_out_repeats(run_dir, plan) == found
    assert parsed == ["most-1", "best-1", "most-1"], "an edited table is not believed"


@pytest.mark.long
def test_merged_lanes_are_held_out_when_the_run_is_resumed(bench: Bench) -> None:
    bench.spec(SIMULATED.replace("@HELD@", "held_out = 4"))
    assert bench("plan", "brief.bench", "--into", "nightly", "--simulate").code == 0
    assert bench("lane", "nightly", "1").code == 0
    merged = bench("merge", "nightly", "--no-report")
    assert "held-out repeats of most, best are still to be measured" in merged.text
    assert claims(bench, "nightly")["most"]["state"] == "unheld"
    assert bench("resume", "nightly", "--no-report").code == 0
    assert claims(bench, "nightly")["most"]["held_out"]["good"] == 4


@pytest.mark.long
def test_a_budget_leaves_room_for_held_out_repeats(bench: Bench) -> None:
    def repeats(held: str) -> int:
        made = simulated(bench, held, "--budget", "32min")
        return int(made["cells"]["ok"])

    assert repeats("held_out = 4") < repeats("")


@pytest.mark.long
def test_lost_held_out_repeats_are_told(bench: Bench) -> None:
    made = simulated(bench, "held_out = 4")
    (lost,) = (bench.folder / "bench-out" / made["run"] / HELD_OUT / "most-1" / "raw").glob("*eco*h2")
    shutil.rmtree(lost)
    most = claims(bench, made["run"])["most"]
    assert (most["held_out"]["good"], most["held_out"]["times"]) == (3, 4)
    assert most["value"] is not None
    assert "3 of 4 held-out repeats" in most["sentence"]


@pytest.mark.long
def test_what_is_behind_held_out_repeats_is_verified(bench: Bench) -> None:
    made = simulated(bench, "held_out = 4")
    assert bench("report", "simulated", "--html-only").code == 0
    folder = bench.folder / "bench-out" / made["run"] / HELD_OUT / "most-1"
    whole = bench("verify", "simulated", "--raw", "--json")
    assert (whole.code, whole.json["raw"]) == (0, {})
    output = next(folder.glob("raw/*/1/measure-*/stdout"))
    kept = output.read_bytes()
    output.write_bytes(kept + b" ")
    found = bench("verify", "simulated", "--raw", "--json")
    name = output.relative_to(folder.parent.parent).as_posix()
    assert (found.code, list(found.json["raw"])) == (1, [name])
    assert any(f"its held-out repeats give another number, or can't be read: {name}" in each["why"]
               for each in found.json["differing"])  # fmt: skip
    assert bench("push", "simulated", "--to", bench.folder / "shared").code == 2
    output.unlink()
    assert f"{name} is missing" in bench("verify", "simulated").text
    shutil.rmtree(folder)
    gone = bench("verify", "simulated", "--raw", "--json")
    assert list(gone.json["raw"]) == [f"{HELD_OUT}/most-1/"]
    shutil.rmtree(bench.run_dir / "reports")
    assert bench("verify", "simulated", "--raw").code == 3


@pytest.mark.parametrize("name", ["../elsewhere-1", "/var/elsewhere-1", "most-1/../../x-1", "most", ""])
def test_a_record_names_a_folder_of_its_run_alone(name: str) -> None:
    said: dict[str, object] = {"at": 1.0, "claim": "most", "attempt": 1}
    said |= {"places": (), "points": 1, "value": 1.0, "sha256": ""}
    assert HeldOutBegan.model_validate({**said, "folder": "most-1"}).folder == "most-1"
    with pytest.raises(ValidationError):
        HeldOutBegan.model_validate({**said, "folder": name})


@pytest.mark.long
def test_held_out_repeats_behind_a_link_are_not_read(bench: Bench, tmp_path: Path) -> None:
    made = simulated(bench, "held_out = 4")
    folder = bench.folder / "bench-out" / made["run"] / HELD_OUT / "most-1"
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    most = claims(bench, made["run"])["most"]
    assert (most["state"], most["held_out"]["good"]) == ("unheld", 0)


@pytest.mark.long
def test_a_run_that_was_killed_goes_on_with_the_winner_it_chose_and_a_later_one_is_a_second_attempt(
    bench: Bench,
) -> None:
    bench.spec(REAL)
    with bench.started("run", "brief.bench", "--no-report") as run:
        run.until_it_says("claim most: measured again")
        run.until_it_says("[1/4]")
        until(lambda: bool(bench.strays()), 30)
        run.process.kill()
        run.process.wait(60)
    first = bench.run_dir
    assert re.search(r"interrupted +4/4 cells done", bench("status").out)
    (chosen,) = bench.journal("held_out_began")

    resumed = bench("resume", "--no-report")
    assert resumed.code == 0, resumed.text
    assert "held-out repeats" in resumed.out
    began = bench.journal("held_out_began")
    assert [(each["attempt"], each["places"]) for each in began] == [(1, chosen["places"])] * 2
    ((name, cells),) = held_out(first).items()
    assert name == "most-1"
    assert sorted(cell.rpartition("/")[2] for cell, status in cells if status == "ok") == ["h1", "h1", "h2", "h2"]
    (claim,) = claims(bench, first.name).values()
    assert (claim["held_out"]["good"], claim["held_out"]["attempt"], claim["repeats"]) == (2, 1, 2)
    assert bench("report", first.name, "--html-only").code == 0
    assert bench("verify", first.name, "--from-raw").code == 0

    again = bench("run", "brief.bench", "--no-report")
    assert again.code == 0, again.text
    assert "all 4 cells are taken from" in again.err
    second = bench.run_dirs()[-1]
    (claim,) = claims(bench, second.name).values()
    assert claim["held_out"]["attempt"] == 2
    assert "attempt 2" in claim["sentence"]
    shutil.rmtree(second / HELD_OUT)
    assert "Not measured again: Ratio" in bench("claims", second.name).out


@pytest.mark.long
def test_a_claim_is_followed_from_run_to_run(bench: Bench) -> None:
    """The claim's numbers in successive runs form a series. For each run, the claim counts as held if that run's
    repeats supported it, even if the run's brief states an exception."""
    runs = [simulated(bench, "held_out = 2", "--seed", str(seed))["run"] for seed in range(3)]
    found = {
        each["quantity"]: each for each in bench("trend", "claim", "--origin", "simulated", "--json").json["series"]
    }
    assert found.keys() == {"claim.most", "claim.best"}
    (part,) = found["claim.most"]["parts"]
    told = [claims(bench, run)["most"] for run in runs]
    assert [each["value"] for each in part["values"]] == [each["value"] for each in told]
    held = [each["state"] == "decided" for each in told]
    assert [each["decided"] for each in part["values"]] == held
    assert {"held": sum(held), "of": 3} == told[-1]["runs"]
    assert f"held in {sum(held)} of 3 runs" in bench("trend", "claim.most", "--all", "--origin", "simulated").out
    assert f"held in {sum(held)} of the 3 runs" in bench("claims", runs[0]).out
    judged = bench("gate", "--metric", "claim", "--origin", "simulated", "--json").json["series"]
    assert {each["quantity"] for each in judged} == {"claim.most", "claim.best"}
    assert told[-1]["runs"] == claims(bench, runs[-1])["most_ja"]["runs"]
    of_ja = bench("gate", "--metric", "claim.most_ja", "--origin", "simulated", "--json").json["series"]
    assert [each["quantity"] for each in of_ja] == ["claim.most"], "one number is one series, by each name of it"
    assert not any(
        each["quantity"].startswith("claim")
        for each in bench("trend", "--origin", "simulated", "--json").json["series"]
    )
    simulated(bench, "held_out = 3", "--seed", "3")
    changed = " ".join(bench("trend", "claim.most_ja", "--all", "--origin", "simulated").out.split())
    assert re.search("claim most: .*, held out = 2 times → .*, held out = 3 times", changed)
