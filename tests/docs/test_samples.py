"""Tests that every sample on every page is correct: specs are checked, commands are run or parsed, and no fence is
skipped."""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import subprocess
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from benchbrief.cli.command_line import group
from benchbrief.compiler.compile import check
from benchbrief.compiler.diagnostic_codes import all_codes
from tests.compiler.samples import BASES
from tests.compiler.samples import samples as samples_of_explanation
from tests.docs.samples import ROOT, Sample, pages, samples
from tests.support.bench import Bench
from tests.support.shown import assert_shown
from tests.support.tools import system_tool

TUTORIAL = "docs/tutorial.md"
MESSAGES = "docs/reference/messages.md"
OTHER_PROGRAMS = frozenset(
    """
    apt-get brew cat cd code cp dnf eval export git jq mkdir npm npx pacman pip pre-commit python python3 rm
    """.split()  # noqa: SIM905  # a list of words
)
"""Other programs in shell samples. Their commands are not checked."""

ALL = [sample for page in pages() if page not in (TUTORIAL, MESSAGES) for sample in samples(page)]
"""The samples of all pages but two. The tutorial's samples have their own test, because they build on each other.
Samples of messages are tested with the explanations."""


def of(*languages: str) -> list[Sample]:
    return [sample for sample in ALL if sample.language in languages]


def test_every_sample_is_of_a_language_that_is_tested() -> None:
    tested = {"bench", "console", "sh", "sql", "text", "elisp", *READERS}
    assert [f"{sample}: {sample.language!r}" for sample in ALL if sample.language not in tested] == []
    assert len(of("bench")) > 30


@pytest.mark.parametrize("sample", of("bench"), ids=str)
def test_a_spec_gives_the_error_that_it_says_and_no_other(sample: Sample, tmp_path: Path) -> None:
    shutil.copy(BASES / "lab.bench", tmp_path)
    path = tmp_path / "spec.bench"
    path.write_text(sample.spec, encoding="utf-8")
    found = check(path).diagnostics
    assert [each.code for each in found if each.severity == "error"] == ([sample.error] if sample.error else []), found
    # An excerpt need not use all that is behind it.
    assert [each for each in found if each.severity == "warning" and each.code != "W0201"] == []


def test_the_spec_of_the_readme_is_the_example_that_its_picture_is_made_of() -> None:
    (spec,) = (sample.text for sample in samples("README.md") if sample.language == "bench")
    _, _, example = (ROOT / "examples" / "readme.bench").read_text(encoding="utf-8").partition("\n\n")
    assert spec == example


@pytest.mark.parametrize("sample", of("console"), ids=str)
def test_a_command_prints_what_its_page_shows(sample: Sample, tmp_path: Path) -> None:
    """The command runs in a folder with the spec that precedes it on the page."""
    specs = [each for each in samples(sample.page) if each.language == "bench" and each.line < sample.line]
    bench = Bench(tmp_path)
    if specs:
        bench.spec(specs[-1].spec, "spec.bench")
    command, _, shown = sample.text.partition("\n")
    program, *words = shlex.split(command.removeprefix("$ "))
    assert program == "bench"
    assert_shown(shown, bench(*words).text, str(sample))


def test_the_samples_of_messages_are_those_of_the_explanations() -> None:
    """tests/compiler/test_explanations.py runs these samples."""
    printed = [
        (each.language, each.words, each.text)
        for info in all_codes()
        for each in samples_of_explanation(info.explanation_markdown)
    ]
    assert [(each.language, each.marks, each.text) for each in samples(MESSAGES)] == printed


# --- commands that are only read ---


@pytest.mark.parametrize("sample", of("sh"), ids=str)
def test_a_command_is_one_that_there_is(sample: Sample) -> None:
    for line in sample.text.replace("\\\n", " ").splitlines():
        for words in _commands(line):
            _read(words)


def _commands(line: str) -> list[list[str]]:
    """Return the commands in a line, without comments and redirections."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    commands: list[list[str]] = [[]]
    skip = False
    for word in lexer:
        if set(word) <= set("|&;()"):
            commands.append([])
        elif set(word) <= set("<>"):
            skip = True
        elif skip:
            skip = False
        else:
            commands[-1].append(word)
    return [words for words in commands if words]


def _read(words: list[str]) -> None:
    program, *rest = words
    name = program.removeprefix(".venv/bin/")
    if name == "bench":
        _read_bench(rest)
    elif name == "make":
        targets = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert all(f"\n{word}:" in targets for word in rest if "=" not in word), words
    elif program.startswith(("tools/", "./")):
        assert (ROOT / program).exists(), words
    else:
        assert name in OTHER_PROGRAMS or "=" in name, f"`{program}` is not known to this test"


def _read_bench(words: list[str]) -> None:
    """Check that the command line accepts the words."""
    context = click.Context(group, info_name="bench")
    if not words or words[0].startswith("-"):
        assert words in (["--help"], ["--version"]), words
        return
    command = group.get_command(context, words[0])
    assert command is not None, words
    command.make_context(
        words[0], [word for word in words[1:] if word != "--help"], parent=context, resilient_parsing="--help" in words
    )


# --- settings for other programs ---


def _lua(text: str) -> None:
    """Check that Neovim's Lua can parse the text, without running it."""
    tried = 'local read, wrong = load(io.read("*a")) if not read then io.stderr:write(wrong) vim.cmd("cquit") end'
    command = [str(system_tool("nvim")), "--headless", "-n", "-i", "NONE", "-u", "NONE"]
    command += ["-c", f"lua {tried}", "-c", "qa!"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def _jobs(text: str) -> None:
    """Check our commands in the jobs of build servers and schedulers."""
    typed = re.findall(r"\b(bench (?:plan|lane|merge) [^'\n&]*)", text)
    assert typed
    for line in typed:
        _read(shlex.split(line))


def _yaml(text: str) -> None:
    (_hooks if "repos:" in text else _jobs)(text)


def _hooks(text: str) -> None:
    """Check that the text asks pre-commit only for hooks that we have."""
    asked = re.findall(r"id: ([\w-]+)", text)
    ours = re.findall(r"id: ([\w-]+)", (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert asked
    assert set(asked) <= set(ours)


READERS: dict[str, Callable[[str], object]] = {
    "json": json.loads,
    "toml": tomllib.loads,
    "xml": ET.fromstring,
    "yaml": _yaml,
    "groovy": _jobs,
    "lua": _lua,
    "python": ast.parse,  # tests/cli/test_from_python.py runs it
}


@pytest.mark.parametrize("sample", of(*READERS), ids=str)
def test_a_setting_can_be_read(sample: Sample) -> None:
    READERS[sample.language](sample.text)


@pytest.mark.parametrize("sample", of("elisp"), ids=str)
def test_the_brackets_of_a_setting_for_emacs_are_paired(sample: Sample) -> None:
    for opening, closing in ("()", "{}", "[]"):
        assert sample.text.count(opening) == sample.text.count(closing), sample.text


@pytest.mark.parametrize("text", ['vim.lsp.enable("bench"', "x = = 1 -- ()", "end"])
def test_lua_that_is_wrong_can_not_be_read(text: str) -> None:
    with pytest.raises(AssertionError):
        _lua(text)
