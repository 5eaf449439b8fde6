"""Tests `bench fmt`: what it writes, what it only shows, and what it leaves unchanged."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest
from pre_commit.clientlib import load_manifest  # type: ignore[import-untyped]  # ships no types

from tests.cli.specs import SMALL
from tests.cli.test_terminal import on_a_terminal
from tests.support.bench import Bench, Ended
from tests.support.tools import REPOSITORY

UGLY = "hardware a{hosts=local,\n   memory=64GiB}# here\r\n"
NEAT = "hardware a {\n  hosts  = local\n  memory = 64 GiB\n}  # here\n"
BROKEN = "hardware a { hosts = }\n"


def piped(bench: Bench, text: bytes, *words: str) -> Ended:
    fed = f"import os; r, w = os.pipe(); os.write(w, {text!r}); os.close(w); os.dup2(r, 0)"
    return bench("fmt", *words, before=fed)


def put(bench: Bench, **texts: str) -> None:
    for name, text in texts.items():
        path = bench.folder / f"{name.replace('__', '/')}.bench"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def text(bench: Bench, name: str) -> str:
    return (bench.folder / name).read_bytes().decode()


def test_files_and_folders_are_written_in_place_and_what_changed_is_reported(bench: Bench) -> None:
    put(bench, one=UGLY, two=NEAT, specs__a=UGLY, specs__deep__b=UGLY, specs__c=NEAT)
    (bench.folder / "specs" / "notes.txt").write_text("a{")
    done = bench("fmt", "one.bench", "two.bench", "specs")
    assert (done.code, done.out) == (
        0, "formatted: one.bench\nformatted: specs/a.bench\nformatted: specs/deep/b.bench\n"
    )  # fmt: skip
    assert done.err == "3 formatted, 2 unchanged\n"
    for name in ("one.bench", "specs/a.bench", "specs/deep/b.bench", "specs/c.bench"):
        assert text(bench, name) == NEAT
    assert text(bench, "specs/notes.txt") == "a{"
    again = bench("fmt", ".")
    assert (again.code, again.out, again.err) == (0, "", "5 unchanged\n")


def test_the_specs_that_runs_keep_stay_as_they_were_run(bench: Bench) -> None:
    kept = "bench-out/r1/spec/0-a.bench"
    put(bench, a=UGLY, **{kept.removesuffix(".bench").replace("/", "__"): UGLY})
    for name in ("plan.json", "journal.jsonl"):
        (bench.folder / "bench-out" / "r1" / name).write_text("{}")
    (bench.folder / "plan.json").write_text("{}")  # a plan beside a spec makes no run
    done = bench("fmt", ".")
    assert (done.code, done.out, done.err) == (0, "formatted: a.bench\n", "1 formatted\n")
    named = bench("fmt", kept)
    assert named.code == 2
    assert f"{kept} belongs to the run r1, and stays as it was run" in named.err
    assert "no .bench file" in bench("fmt", "bench-out/r1/spec").err
    assert text(bench, kept).encode() == UGLY.encode()


def test_a_file_that_is_right_is_not_written(bench: Bench) -> None:
    put(bench, a=NEAT)
    path = bench.folder / "a.bench"
    os.utime(path, (1, 1))
    before = path.stat()
    assert bench("fmt", "a.bench").code == 0
    assert (path.stat().st_ino, path.stat().st_mtime) == (before.st_ino, 1)


def test_the_mode_of_a_file_and_a_link_to_it_are_kept_and_nothing_is_left_beside_it(bench: Bench) -> None:
    put(bench, real__a=UGLY)
    path = bench.folder / "real" / "a.bench"
    path.chmod(0o640)
    (bench.folder / "link.bench").symlink_to(path)
    done = bench("fmt", "link.bench", "real")
    assert done.out == "formatted: link.bench\n"  # once, although it is named twice
    assert (bench.folder / "link.bench").is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert text(bench, "real/a.bench") == NEAT
    assert [each.name for each in path.parent.iterdir()] == ["a.bench"]


def test_hidden_folders_are_left_alone(bench: Bench) -> None:
    put(bench, a=UGLY)
    put(bench, **{".git__b": UGLY})
    assert bench("fmt", ".").out == "formatted: a.bench\n"
    assert text(bench, ".git/b.bench") == UGLY


def test_a_mark_at_the_beginning_and_line_ends_of_another_system_go(bench: Bench) -> None:
    (bench.folder / "a.bench").write_bytes(b"\xef\xbb\xbf" + NEAT.encode())
    (bench.folder / "b.bench").write_bytes(NEAT.replace("\n", "\r\n").encode())
    done = bench("fmt", "--check", "a.bench", "b.bench")
    assert (done.code, done.out) == (1, "would change: a.bench\nwould change: b.bench\n")
    bench("fmt", "a.bench", "b.bench")
    assert text(bench, "a.bench") == text(bench, "b.bench") == NEAT


def test_check_writes_nothing_and_ends_with_code_1_when_something_would_change(bench: Bench) -> None:
    put(bench, a=UGLY, b=NEAT)
    done = bench("fmt", "--check", ".")
    assert (done.code, done.out, done.err) == (1, "would change: a.bench\n", "1 would change, 1 unchanged\n")
    assert text(bench, "a.bench") == UGLY
    assert bench("fmt", "--check", "b.bench").code == 0


def test_a_diff_is_one_that_patch_takes(bench: Bench) -> None:
    put(bench, a=UGLY.rstrip("\r\n"), b=NEAT)
    done = bench("fmt", "--diff", "a.bench", "b.bench")
    assert done.code == 0
    assert done.out.startswith("--- a.bench\n+++ a.bench (formatted)\n@@ -1,2 +1,4 @@\n-hardware a{hosts=local,\n")
    assert "\\ No newline at end of file" in done.out
    assert text(bench, "a.bench") == UGLY.rstrip("\r\n")
    subprocess.run(["patch", "a.bench"], cwd=bench.folder, input=done.out.encode(), check=True, capture_output=True)
    assert text(bench, "a.bench") == NEAT
    put(bench, a=UGLY)
    assert bench("fmt", "--diff", "--check", "a.bench").code == 1


def test_a_diff_shows_what_would_reorder_its_text(bench: Bench) -> None:
    bench.spec('hardware  box "a\u202eb" { hosts = local }\n', "a.bench")
    shown = bench("fmt", "--diff", "a.bench").out
    assert "\u202e" not in shown
    assert "202e" in shown.lower()


def test_a_diff_is_coloured_on_a_terminal(bench: Bench) -> None:
    put(bench, a=UGLY + "# \x1b[31m\n")
    code, shown = on_a_terminal(bench, "fmt", "--diff", "a.bench")
    assert code == 0
    assert "\x1b[32m+hardware a {" in shown
    assert "\x1b[31m-hardware a{" in shown
    assert "# \\x1b[31m" in shown  # what the spec holds is not obeyed


@pytest.mark.parametrize("words", [(), ("-",)])
def test_standard_input_goes_to_standard_output(bench: Bench, words: tuple[str, ...]) -> None:
    done = piped(bench, UGLY.encode(), *words)
    assert (done.code, done.out, done.err) == (0, NEAT, "")


def test_standard_input_can_be_checked_compared_and_reported(bench: Bench) -> None:
    assert piped(bench, UGLY.encode(), "-", "--check").code == 1
    assert piped(bench, NEAT.encode(), "-", "--check").code == 0
    assert piped(bench, UGLY.encode(), "-", "--diff").out.startswith("--- <stdin>\n+++ <stdin> (formatted)\n")
    wrong = piped(bench, BROKEN.encode(), "-")
    assert (wrong.code, wrong.out) == (1, "")
    assert "--> <stdin>:1:22" in wrong.err
    assert piped(bench, b"\xff\xfe", "-").code == 1


def test_a_spec_that_cannot_be_read_is_left_as_it_is_and_the_others_are_done(bench: Bench) -> None:
    put(bench, a=UGLY, b=BROKEN, c=UGLY)
    (bench.folder / "d.bench").write_bytes(b"\x00")
    done = bench("fmt", ".")
    assert done.code == 1
    assert done.out == "formatted: a.bench\nformatted: c.bench\n"
    assert "--> b.bench:1:22" in done.err
    assert done.err.endswith("2 formatted, 2 not formatted\n")
    assert text(bench, "b.bench") == BROKEN


def test_what_is_no_spec_or_not_there_is_reported_with_code_2_and_the_others_are_done(bench: Bench) -> None:
    put(bench, a=UGLY)
    (bench.folder / "notes.txt").write_text("a{")
    done = bench("fmt", "notes.txt", "nowhere.bench", "a.bench")
    assert done.code == 2
    assert "error: notes.txt is not a .bench file\n  help: a spec's name ends in .bench" in done.err
    assert "there is no file `nowhere.bench`" in done.err
    assert done.out == "formatted: a.bench\n"
    assert text(bench, "notes.txt") == "a{"


def test_a_folder_without_specs_is_warned_about(bench: Bench) -> None:
    (bench.folder / "empty").mkdir()
    done = bench("fmt", "empty")
    assert (done.code, done.out, done.err) == (0, "", "warning: no .bench file in empty\n")


def test_on_a_terminal_a_path_must_be_named(bench: Bench) -> None:
    code, shown = on_a_terminal(bench, "fmt")
    assert code == 2
    assert "name a file or a folder" in shown
    assert bench("fmt", "-", "a.bench").code == 2


def test_what_became_of_each_file_is_reported_as_json(bench: Bench) -> None:
    put(bench, a=UGLY, b=BROKEN, c=NEAT)
    done = bench("fmt", "a.bench", "b.bench", "c.bench", "d.txt", "--json")
    assert done.code == 2
    assert [(each["file"], each["changed"]) for each in done.json] == [
        ("a.bench", True), ("b.bench", False), ("c.bench", False), ("d.txt", False)
    ]  # fmt: skip
    assert done.json[1]["diagnostics"][0]["code"] == "E0101"
    assert done.json[3]["error"] == "d.txt is not a .bench file"
    assert text(bench, "a.bench") == NEAT
    (shown,) = bench("fmt", "b.bench", "--json", "--diff").json
    assert shown["diff"] == ""
    put(bench, a=UGLY)
    (shown,) = bench("fmt", "a.bench", "--json", "--diff").json
    assert shown["diff"].startswith("--- a.bench\n")
    assert text(bench, "a.bench") == UGLY


def test_a_spec_is_checked_and_planned_as_before(bench: Bench) -> None:
    bench.spec(SMALL.replace("\n  ", " ").replace(" = ", "="), "brief.bench")
    before = bench("plan", "brief.bench", "--json").json
    assert bench("fmt", "brief.bench").out == "formatted: brief.bench\n"
    after = bench("plan", "brief.bench", "--json").json
    assert [cell["id"] for cell in before["cells"]] == [cell["id"] for cell in after["cells"]]


def test_the_specs_of_this_repository_are_in_the_canonical_layout(bench: Bench) -> None:
    starter = REPOSITORY / "benchbrief" / "data" / "starter.bench"
    done = bench("fmt", "--check", REPOSITORY / "examples", starter)
    assert (done.code, done.out) == (0, "")


def test_the_hooks_for_other_repositories_are_right() -> None:
    hooks = load_manifest(Path(REPOSITORY / ".pre-commit-hooks.yaml"))
    assert {hook["entry"] for hook in hooks} == {"bench fmt", "bench check"}
