"""Tests `bench check` and `bench plan`: they run nothing, and report all mistakes at once."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from benchbrief.cli.spec_options import compile_or_stop
from tests.cli.specs import SMALL, WRONG
from tests.support.bench import Bench
from tests.support.examples import EXAMPLES
from tests.support.longer import longer
from tests.support.tools import REPOSITORY


@pytest.mark.long
def test_many_specs_are_checked_at_once_and_each_is_named(bench: Bench) -> None:
    one, two = bench.spec(SMALL, "one.bench"), bench.spec(SMALL, "two.bench")
    done = bench("check", one.name, two.name)
    assert done.code == 0, done.err
    assert re.fullmatch("one.bench: ok, 4 cells(, .*)\ntwo.bench: ok, 4 cells\\1\n", done.out)
    assert done.err == ""


@pytest.mark.long
def test_a_check_tells_the_time_that_a_plan_tells(bench: Bench) -> None:
    lines = bench("check", *EXAMPLES).out.splitlines()
    for example, checked, line in zip(EXAMPLES, bench("check", *EXAMPLES, "--json").json, lines, strict=True):
        plan = bench("plan", example, "--no-history", "--json").json
        loads = [step for cell in plan["cells"] for step in cell["steps"] if step["reset"] == "load"]
        searched = any(each["promise"] for each in plan["experiments"].values())  # measures only some of its rates
        assert (checked["time"]["loads"] <= len(loads)) if searched else (checked["time"]["loads"] == len(loads))
        assert checked["time"]["total_s"] == pytest.approx(plan["estimate_s"] + plan["time"]["in_all"]["rendering_s"])
        total = bench("plan", example, "--no-history").out.rpartition("Total")[2]
        assert f"about {line.rpartition('about ')[2]}" in " ".join(total.split()), line


@pytest.mark.parametrize(
    ("example", "loads"), [*longer(("power_efficiency", 2), ("cluster_shrink", 2)), ("rocksdb_ssds", 3)]
)
def test_a_check_counts_only_what_is_loaded(bench: Bench, example: str, loads: int) -> None:
    """A cell loads nothing if it finds its data, if the inserts before it are undone, or if the files are linked
    back."""
    (path,) = (each for each in EXAMPLES if each.stem == example)
    (checked,) = bench("check", str(path), "--json").json
    assert checked["time"]["loads"] == loads


def test_a_wrong_spec_and_one_of_many_cells_have_no_time(bench: Bench) -> None:
    bench.spec(WRONG, "wrong.bench")
    bench.spec(re.sub(r"threads +=.*", "threads = range(1, 200, step: 1)\n  repeats = 8", SMALL), "many.bench")
    wrong, many = bench("check", "wrong.bench", "many.bench", "--json").json
    assert (wrong["time"], many["time"]) == (None, None)
    assert many["cells"] > 2000
    assert "about" not in bench("check", "many.bench").out


def test_one_wrong_spec_among_many_gives_code_1_and_the_others_are_still_checked(bench: Bench) -> None:
    bench.spec(WRONG, "wrong.bench")
    bench.spec(SMALL, "right.bench")
    done = bench("check", "wrong.bench", "right.bench", "nowhere.bench")
    assert done.code == 1
    assert "right.bench: ok, 4 cells" in done.out
    assert "wrong.bench: 2 errors" in done.err
    assert "nowhere.bench: 1 error\n" in done.err


def test_warnings_are_counted_beside_ok_and_beside_errors(bench: Bench) -> None:
    errors = REPOSITORY / "tests" / "compiler" / "metrics" / "errors"
    shutil.copytree(errors / "base", bench.folder / "base")
    left_out = (errors / "left_out.bench").read_text()
    bench.spec(left_out, "warned.bench")
    bench.spec(left_out + "\nexpect nothing > 1\n", "wrong.bench")
    done = bench("check", "warned.bench", "wrong.bench")
    assert done.code == 1
    assert re.search(r"^warned.bench: ok, 1 warning, \d+ cells", done.out, re.MULTILINE)
    assert "wrong.bench: 1 error, 1 warning\n" in done.err


def test_errors_show_the_line_underlined_and_a_guess(bench: Bench) -> None:
    bench.spec(WRONG)
    done = bench("check", "brief.bench")
    assert done.code == 1
    line = next(i for i, text in enumerate(WRONG.splitlines(), start=1) if "rrr" in text)
    assert f"--> brief.bench:{line}:16" in done.err
    assert "  workloads = [rrr]" in done.err
    assert "^^^" in done.err
    assert "did you mean `rr`?" in done.err
    assert "error[E03" in done.err  # the unit, in the same go


def test_findings_as_json_have_codes_and_places(bench: Bench) -> None:
    bench.spec(WRONG, "wrong.bench")
    bench.spec(SMALL, "right.bench")
    done = bench("check", "wrong.bench", "right.bench", "--json")
    assert done.code == 1
    wrong, right = done.json
    assert (right["file"], right["ok"], right["cells"], right["diagnostics"]) == ("right.bench", True, 4, [])
    assert (wrong["file"], wrong["ok"], wrong["cells"]) == ("wrong.bench", False, None)
    assert len(wrong["diagnostics"]) == 2
    for finding in wrong["diagnostics"]:
        assert finding["code"].startswith("E")
        assert finding["severity"] == "error"
        assert finding["summary"]
    assert "rrr" in json.dumps(wrong["diagnostics"])


def test_an_unknown_profile_or_param_is_an_error_of_the_spec(bench: Bench) -> None:
    bench.spec(SMALL + "profile quick { override experiment { threads = [1] } }\n")
    done = bench("check", "brief.bench", "--profile", "quikc")
    assert done.code == 1
    assert "did you mean `quick`?" in done.err
    done = bench("check", "brief.bench", "--param", "records=5")
    assert done.code == 1
    assert "records" in done.err
    assert bench("check", "brief.bench", "--profile", "quick").out.startswith("brief.bench: ok, 1 warning, 2 cells, ")


@pytest.mark.parametrize("content", [b"\xff\xfe", b"hardware \x00", b"[" * 100_000])
def test_a_file_that_is_no_spec_gets_one_clear_error(bench: Bench, content: bytes) -> None:
    (bench.folder / "odd.bench").write_bytes(content)
    done = bench("check", "odd.bench", timeout=20)
    assert done.code == 1
    assert "error[E" in done.err
    assert len(done.err) < 2000


def test_a_spec_that_would_run_nothing_is_warned_about_and_not_run(bench: Bench) -> None:
    bench.spec("", "empty.bench")
    done = bench("check", "empty.bench")
    assert done.code == 0
    assert "the spec has no experiment, so there is nothing to run" in done.err
    done = bench("run", "empty.bench")
    assert done.code == 1
    assert "error: empty.bench has no cell to run" in done.err
    assert not (bench.folder / "bench-out").exists()


def test_a_folder_is_no_spec(bench: Bench) -> None:
    done = bench("check", ".")
    assert done.code == 1
    assert "error[E00" in done.err


def test_plan_shows_the_matrix_the_hosts_and_the_time(bench: Bench) -> None:
    bench.spec(SMALL)
    done = bench("plan", "brief.bench")
    assert done.code == 0, done.err
    for word in ("ramp", "one", "two", "rr", "local", "4 cells", "db_bench"):
        assert word in done.out, word
    assert done.err == ""
    assert not bench.run_dirs()
    assert not (bench.folder / "data").exists()


def test_plan_as_json_is_the_whole_plan_and_always_the_same(bench: Bench) -> None:
    bench.spec(SMALL)
    first, second = (bench("plan", "brief.bench", "--json") for _ in range(2))
    assert first.out == second.out
    cells = first.json["cells"]
    assert [cell["id"] for cell in cells] == list(dict.fromkeys(cell["id"] for cell in cells))
    assert [(cell["hardware"], cell["threads"]) for cell in cells] == [
        ("one", 1),
        ("one", 2),
        ("two", 1),
        ("two", 2),
    ]
    assert all(cell["measure_s"] == 1 and cell["tool"]["driver"] == "db_bench" for cell in cells)
    time = first.json["time"]
    assert time["in_all"]["measuring_s"] == 4
    assert time["in_all"]["total_s"] == sum(seconds for name, seconds in time["in_all"].items() if name != "total_s")
    assert set(time["experiments"]) == {"ramp"}


def test_plan_fits_a_narrow_terminal(bench: Bench) -> None:
    bench.spec(SMALL)
    done = bench("plan", "brief.bench", env={"COLUMNS": "60"})
    assert done.code == 0
    assert max(len(line) for line in done.out.splitlines() if str(bench.folder) not in line) <= 62


def test_the_starter_spec_is_right_as_it_stands(bench: Bench) -> None:
    done = bench("init")
    assert done.code == 0
    assert (
        done.out
        == "wrote brief.bench; next: bench doctor brief.bench, bench plan brief.bench, then bench run brief.bench\n"
    )
    text = (bench.folder / "brief.bench").read_text(encoding="utf-8")
    assert "{name}" not in text
    checked = bench("check", "brief.bench")
    assert (checked.out.startswith("brief.bench: ok, 12 cells, "), checked.err) == (True, "")
    assert bench("check", "brief.bench", "--profile", "quick").out.startswith("brief.bench: ok, 8 cells, ")
    assert "12 cells" in bench("plan", "brief.bench").out


def test_init_names_a_file_with_a_space_as_a_shell_reads_it(bench: Bench) -> None:
    done = bench("init", "my first.bench")
    assert done.out.endswith(", bench plan 'my first.bench', then bench run 'my first.bench'\n")
    assert "bench check 'my first.bench'" in (bench.folder / "my first.bench").read_text(encoding="utf-8")


def test_init_overwrites_nothing_unless_forced(bench: Bench) -> None:
    path = bench.folder / "mine.bench"
    path.write_text("# mine\n")
    done = bench("init", "mine.bench")
    assert done.code == 2
    assert done.err == ("error: mine.bench exists already\n  help: choose another name, or overwrite it with --force\n")
    assert path.read_text() == "# mine\n"
    assert bench("init", "mine.bench", "--force").code == 0
    assert path.read_text().startswith("# A starter spec")


def test_init_says_where_it_can_not_write(bench: Bench) -> None:
    done = bench("init", "no/such/folder/mine.bench")
    assert done.code == 2
    assert done.err == "error: no/such/folder/mine.bench can't be written: No such file or directory\n"


def test_the_examples_are_right(bench: Bench) -> None:
    done = bench("check", *EXAMPLES)
    assert done.code == 0, done.err
    assert done.out.count(": ok, ") == len(EXAMPLES) > 0


def test_what_a_brief_leaves_out_is_reported_by_the_plan_and_not_again(capsys: pytest.CaptureFixture[str]) -> None:
    spec = REPOSITORY / "tests" / "compiler" / "metrics" / "errors" / "left_out.bench"
    compile_or_stop(spec, None, {}, planning=True)
    assert "W0704" in capsys.readouterr().err
    compile_or_stop(spec, None, {})
    assert capsys.readouterr().err == ""
