"""Tests commands as data: how a shell reads the quoted form, and how people see the masked form."""

from __future__ import annotations

import subprocess
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchbrief.runners.errors import RunnerError
from benchbrief.runners.jobs.commands import exec_line, exports, mask_command, quote, script, secrets_of, shell_line
from benchbrief.runners.jobs.tasks import Command, Job, JobFile
from benchbrief.runners.journal.secret_masking import MASK, Masking, Secret

# What a process can be given: no NUL, no lone surrogates.
TEXT = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=30) | st.sampled_from(
    [
        "",
        " ",
        "'",
        '"',
        "`id`",
        "$(id)",
        "${HOME}",
        "a;b",
        "a\nb",
        "\n",
        "-n",
        "--",
        "~",
        "*",
        "a\\",
        "!x",
        "#",
        "\t",
        "é",
    ]
)


def run_in_shell(text: str) -> bytes:
    return subprocess.run(["sh"], input=text.encode(), capture_output=True, check=True).stdout


@settings(max_examples=25, deadline=None)
@given(words=st.lists(TEXT, min_size=1, max_size=5), value=TEXT, stdin=TEXT)
def test_a_shell_gives_a_program_exactly_the_words_environment_and_input_it_was_to_have(words, value, stdin) -> None:  # type: ignore[no-untyped-def]  # hypothesis gives them
    program = """if True:
        import os, sys
        parts = [*map(os.fsencode, sys.argv[1:]), os.environb[b"V"], sys.stdin.buffer.read()]
        sys.stdout.buffer.write(b"\\0".join(parts))
    """
    command = Command(("python3", "-I", "-S", "-c", program, *words), env={"V": value})
    parts = run_in_shell(script(command, stdin)).decode().split("\0")
    assert parts == [*words, value, stdin]


def test_a_program_named_like_a_builtin_is_the_program() -> None:
    # As a builtin, `exit` would end the shell with 7.
    done = subprocess.run(["sh"], input=script(Command(("exit", "7"))).encode(), capture_output=True, check=False)
    assert done.returncode == 127
    assert b"not found" in done.stderr


def test_the_directory_is_entered_before_the_command() -> None:
    assert run_in_shell(script(Command(("pwd",), cwd="/usr"))) == b"/usr\n"


def test_the_command_is_not_run_when_its_directory_is_missing() -> None:
    text = script(Command(("echo", "ran"), cwd="/no such dir"))
    done = subprocess.run(["sh"], input=text.encode(), capture_output=True, check=False)
    assert done.returncode != 0
    assert done.stdout == b""


@pytest.mark.parametrize("words", [(), ("",), ("-x",)])
def test_what_is_not_a_program_is_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(RunnerError, match="not a command"):
        exec_line(Command(words))


def test_a_nul_is_refused() -> None:
    with pytest.raises(RunnerError, match="NUL"):
        quote("a\0b")


@pytest.mark.parametrize("name", ["", "1A", "A-B", "A;id", "A\n"])
def test_what_is_not_a_name_of_a_variable_is_refused(name: str) -> None:
    with pytest.raises(RunnerError, match="not a name of an environment variable"):
        exports(Command(("true",), env={name: "x"}))


def test_a_secret_is_never_made_a_process_argument() -> None:
    with pytest.raises(RunnerError, match="'password' would be a process argument") as raised:
        exec_line(Command(("tool", Secret("s3cret", "password"))))
    assert "s3cret" not in str(raised.value)


def test_people_see_the_command_with_its_secrets_masked() -> None:
    command = Command(("tool", "a b", Secret("s3cret")), env={"PASSWORD": Secret("hunter2"), "N": "1"}, cwd="/my data")
    assert mask_command(command) == f"cd '/my data' && PASSWORD={MASK} N=1 tool 'a b' {MASK}"


def test_a_line_for_a_shell_is_run_by_one() -> None:
    assert run_in_shell(script(shell_line("echo $((1 + 1)); echo a | tr a b"))) == b"2\nb\n"


def test_all_secrets_of_a_job_are_found() -> None:
    a, b = Secret("a"), Secret("b")
    job = Job("x", Command(("true",), env={"A": a}), 1, files=(JobFile("f", ("uri=", b)),))
    assert set(secrets_of(job)) == {a, b}


URI = Secret("mongodb://user:pa%24%24word@db:27017/ycsb")


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("url is mongodb://user:pa%24%24word@db:27017/ycsb.", f"url is {MASK}."),
        ("password pa%24%24word", f"password {MASK}"),
        ("password pa$$word", f"password {MASK}"),
        ("mongodb%3A%2F%2Fuser%3Apa%2524%2524word%40db%3A27017%2Fycsb", MASK),
        ("user, db and 27017 are no secrets", "user, db and 27017 are no secrets"),
    ],
)
def test_a_uri_is_masked_with_the_password_in_it_however_it_is_printed(printed: str, shown: str) -> None:
    assert Masking([URI]).text(printed) == shown


def test_a_secret_is_masked_as_json_prints_it() -> None:
    assert Masking([Secret('a"b\\c')]).text('{"p": "a\\"b\\\\c"}') == f'{{"p": "{MASK}"}}'


def test_a_very_short_password_in_a_uri_does_not_eat_the_numbers() -> None:
    assert Masking([Secret("mongodb://u:12@db/")]).text("12 ops mongodb://u:12@db/") == f"12 ops {MASK}"


@settings(max_examples=200, deadline=None)
@given(
    secrets=st.lists(st.text("ab*", min_size=1, max_size=4), max_size=3),
    data=st.text("ab*c", max_size=40),
    cuts=st.lists(st.integers(0, 40), max_size=5),
)
def test_a_stream_is_masked_alike_wherever_it_is_cut(secrets: list[str], data: str, cuts: list[int]) -> None:
    masking = Masking(map(Secret, secrets))
    whole = data.encode()
    edges = [0, *sorted(cuts), len(whole)]
    pieces = [whole[a:b] for a, b in pairwise(edges)]
    assert b"".join(masking.stream(pieces)).decode() == masking.text(data)


def test_bytes_that_are_no_text_pass_unchanged() -> None:
    data = bytes(range(256)) * 3
    assert b"".join(Masking([Secret("zzzz")]).stream([data[:100], data[100:]])) == data
