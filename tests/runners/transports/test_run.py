"""Tests short commands and files, on every transport."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from benchbrief.runners.errors import HostError
from benchbrief.runners.jobs.tasks import Command
from benchbrief.runners.journal.secret_masking import Secret
from benchbrief.runners.seams import Transport
from tests.support.waiting import until

NASTY = ["", "two words", "a'b\"c", "$(touch hacked)", "`id`", "; exit 9", "line\nline", "\\", "*", "-n", "é ✓", "~"]


def test_a_command_gives_its_code_and_both_outputs(transport: Transport) -> None:
    done = transport.run(Command(("sh", "-c", "echo out; echo err >&2; exit 3")))
    assert (done.exit_code, done.stdout, done.stderr) == (3, "out\n", "err\n")
    assert 0 < done.seconds < 30


def test_words_arrive_as_they_are(transport: Transport) -> None:
    done = transport.run(Command(("printf", "%s|", *NASTY), env={"X": "; exit 9"}))
    assert done.exit_code == 0
    assert done.stdout == "".join(f"{word}|" for word in NASTY)


def test_output_without_a_last_line_end_is_kept_as_it_is(transport: Transport) -> None:
    assert transport.run(Command(("printf", "x"))).stdout == "x"
    assert transport.run(Command(("printf", "x\n\n"))).stdout == "x\n\n"
    assert transport.run(Command(("true",))).stdout == ""


def test_standard_input_is_given(transport: Transport) -> None:
    text = "a 'b'\n$(id)\n" * 10_000
    assert transport.run(Command(("cat",)), stdin=text).stdout == text


def test_a_command_that_reads_gets_an_end_at_once_and_not_our_script(transport: Transport) -> None:
    assert transport.run(Command(("cat",)), timeout_s=5).stdout == ""


def test_one_command_leaves_nothing_behind_for_the_next(transport: Transport) -> None:
    transport.run(Command(("cd", "/usr"), env={"LEFT": "over"}, cwd="/usr"))
    done = transport.run(Command(("sh", "-c", 'echo "[$LEFT]"; pwd')))
    assert done.stdout.startswith("[]\n")
    assert "/usr\n" not in done.stdout


def test_a_program_that_is_missing_is_a_result(transport: Transport) -> None:
    done = transport.run(Command(("no-such-program",)))
    assert done.exit_code == 127
    assert "not found" in done.stderr


def test_a_flood_of_output_is_cut_with_a_note_and_in_good_time(transport: Transport) -> None:
    started = time.monotonic()
    done = transport.run(Command(("sh", "-c", "head -c 30000000 /dev/zero | tr '\\0' x; echo late >&2")))
    assert done.exit_code == 0
    assert len(done.stdout) < 1_100_000
    assert done.stdout.endswith("more bytes were not kept]\n")
    assert done.stderr == "late\n"
    assert time.monotonic() - started < 10


def test_a_command_that_takes_too_long_is_ended_on_its_host(transport: Transport, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    with pytest.raises(HostError, match=r"did not end within 0\.5 s") as raised:
        transport.run(Command(("sh", "-c", f"echo $$ >'{pid_file}'; exec sleep 77")), timeout_s=0.5)
    assert raised.value.hint
    status = Path(f"/proc/{pid_file.read_text().strip()}/status")
    until(lambda: "State:\tZ" in status.read_text() if status.exists() else True, 5)


def test_a_secret_reaches_the_command_but_no_message_about_it(transport: Transport) -> None:
    done = transport.run(
        Command(("sh", "-c", 'test "$PW" = hunter2 && echo "pw $PW" && echo "$PW" >&2'), env={"PW": Secret("hunter2")})
    )
    assert (done.exit_code, done.stdout, done.stderr) == (0, "pw ***\n", "***\n")


def test_no_process_list_shows_a_secret_or_the_input(transport: Transport) -> None:
    done = transport.run(
        Command(("sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"), env={"PW": Secret("hunter2")}),
        stdin="input-of-mine",
    )
    assert "cmdline" in done.stdout  # the list was seen at all
    assert "hunter2" not in done.stdout
    assert "***" not in done.stdout
    assert "input-of-mine" not in done.stdout


def test_a_file_is_fetched_byte_for_byte(transport: Transport, host_dir: Path, tmp_path: Path) -> None:
    content = os.urandom(9_000_000)
    (host_dir / "data").write_bytes(content)
    transport.get(str(host_dir / "data"), tmp_path / "got" / "data")
    assert (tmp_path / "got" / "data").read_bytes() == content


def test_fetching_a_file_that_is_missing_says_so(transport: Transport, host_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(HostError, match=r"can't read .*/nothing: No such file"):
        transport.get(str(host_dir / "nothing"), tmp_path / "got")
    assert not (tmp_path / "got").exists()
