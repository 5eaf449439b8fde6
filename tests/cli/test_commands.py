"""Tests rules for every command: it is documented, it has help, and mistyped input gives one clear line."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from benchbrief.cli.command_line import COMMANDS, SECTIONS, group
from benchbrief.dsl.bench_error import ExitCode
from tests.cli.specs import SMALL
from tests.support.bench import Bench
from tests.support.tools import REPOSITORY

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")


def examples(text: str) -> list[str]:
    """Return the `bench ...` lines of a help text, without their explanations."""
    lines = (line.strip() for line in text.replace("\\\n", " ").splitlines())
    return [re.split(r"\s{3,}|\s[|>]\s", line)[0] for line in lines if line.startswith("bench ")]


def test_every_module_of_the_commands_is_listed() -> None:
    modules = {
        (path.parent.name, path.stem)
        for path in (REPOSITORY / "benchbrief" / "commands").rglob("*.py")
        if path.stem != "__init__"
    }
    assert modules == {(section.folder, name) for section in SECTIONS for name in section.commands}


def test_every_command_that_the_readme_names_is_there() -> None:
    named = set(re.findall(r"\bbench ([a-z]+)\b", README))
    assert {"init", "plan", "run"} <= named <= set(COMMANDS)


def test_help_lists_every_command_and_exit_code(bench: Bench) -> None:
    done = bench("--help")
    assert done.code == 0
    for name, what in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(what.split(',')[0][:30])}", done.out, re.MULTILINE), name
    listed = {int(code) for code in re.findall(r"\s(\d+)  ", done.out.partition("Exit codes:")[2])}
    assert listed == set(ExitCode) - {ExitCode.OUTPUT_CLOSED}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_has_examples(bench: Bench, name: str) -> None:
    done = bench(name, "--help")
    assert done.code == 0
    assert f"Usage: bench {name}" in done.out
    found = examples(done.out.partition("Examples:")[2])
    assert found or name == "completion", done.out
    if name == "completion":
        assert "bench completion bash" in done.out


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_fits_a_terminal_of_80_columns(bench: Bench, name: str) -> None:
    lines = bench(*name.split(), "--help", env={"COLUMNS": "80"}).out.splitlines()
    assert [line for line in lines if len(line) > 80] == []


def test_the_help_of_plan_fits_a_screen(bench: Bench) -> None:
    assert len(bench("plan", "--help", env={"COLUMNS": "80"}).out.splitlines()) <= 40


@pytest.mark.parametrize("name", COMMANDS)
def test_every_example_uses_options_that_exist(name: str) -> None:
    with click.Context(group) as ctx:
        command = group.get_command(ctx, name)
        assert isinstance(command, click.Command)
        for line in examples(command.epilog or ""):
            _, said, *words = shlex.split(line)
            assert said == name
            params = command.get_params(click.Context(command))
            known = {text for param in params for text in (*param.opts, *param.secondary_opts)}
            assert {word for word in words if word.startswith("-") and word != "-"} <= known, line


def test_no_command_at_all_shows_the_help(bench: Bench) -> None:
    done = bench()
    assert done.code == 2
    assert "Usage: bench" in done.text
    assert "Write a spec" in done.text


def test_the_version_is_shown(bench: Bench) -> None:
    done = bench("--version")
    assert done.code == 0
    assert re.fullmatch(r"bench \d+\.\d+\.\d+\S*\n", done.out)


@pytest.mark.parametrize(("typed", "meant"), [("rnu", "run"), ("chekc", "check"), ("reprot", "report")])
def test_a_misspelt_command_gets_a_guess(bench: Bench, typed: str, meant: str) -> None:
    done = bench(typed, "brief.bench")
    assert done.code == 2
    assert f"no command `{typed}`; did you mean `bench {meant}`?" in done.err


def test_a_word_that_is_like_no_command_gets_the_way_to_the_list(bench: Bench) -> None:
    done = bench("xyzzy")
    assert done.code == 2
    assert "no command `xyzzy`; `bench --help` lists the commands" in done.err


@pytest.mark.parametrize(("typed", "meant"), [("--trheads", ""), ("--frehs", " Did you mean '--fresh'?")])
def test_a_slip_of_an_option_is_named_and_no_unlike_one(bench: Bench, typed: str, meant: str) -> None:
    done = bench("run", "brief.bench", typed)
    assert done.code == 2
    assert done.err.endswith(f"Error: No such option '{typed}'.{meant}\n")


@pytest.mark.parametrize(("command", "param"), [("check", "records"), ("plan", "=10k"), ("run", " =1")])
def test_a_param_without_name_and_value_is_a_usage_error(bench: Bench, command: str, param: str) -> None:
    spec = bench.spec(SMALL)
    done = bench(command, spec.name, "--param", param)
    assert done.code == 2
    assert f"`{param}` is not NAME=VALUE, as in --param records=10k" in done.err


@pytest.mark.parametrize("words", [["status"], ["report"], ["resume"], ["rebuild"], ["query", "SELECT 1"]])
def test_without_any_run_the_next_step_is_named(bench: Bench, words: list[str]) -> None:
    done = bench(*words)
    assert done.code == 2
    assert done.err.startswith("error: no run in bench-out\n  help: start one with `bench run SPEC`")
    assert done.out == ""


@pytest.mark.parametrize("command", ["check", "plan", "run", "doctor"])
def test_a_spec_that_is_not_there_is_named(bench: Bench, command: str) -> None:
    done = bench(command, "nowhere.bench")
    assert done.code == 1
    assert "nowhere.bench" in done.err
    assert "E00" in done.err
    assert not bench.run_dirs()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_printed(bench: Bench, shell: str) -> None:
    done = bench("completion", shell)
    assert done.code == 0
    assert "_BENCH_COMPLETE" in done.out


def test_the_completion_completes_commands(bench: Bench) -> None:
    words = {"_BENCH_COMPLETE": "bash_complete", "COMP_WORDS": "bench re", "COMP_CWORD": "1"}
    done = bench(env=words)
    assert done.out.split() == ["plain,resume", "plain,reproduce", "plain,report", "plain,rebuild"]


def test_another_shell_is_refused_with_the_ones_there_are(bench: Bench) -> None:
    done = bench("completion", "tcsh")
    assert done.code == 2
    assert all(shell in done.err for shell in ("bash", "zsh", "fish"))


def test_a_terminal_that_lacks_a_character_shows_its_code(bench: Bench) -> None:
    bench.spec(SMALL.replace('"First folder"', '"Первый"'))
    done = bench("plan", "brief.bench", env={"PYTHONIOENCODING": "latin-1"})
    assert done.code == 0, done.err
    assert r"\u041f\u0435\u0440\u0432\u044b\u0439" in done.out


def test_no_path_of_the_readme_is_missing() -> None:
    for path in re.findall(r"\b(?:examples|tools|benchmarks)/[\w.-]+\.\w+", README):
        assert (REPOSITORY / Path(path)).exists(), path
