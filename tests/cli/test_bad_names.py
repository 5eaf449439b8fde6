"""Tests that each unusable name of a file or folder gives one message, before anything is measured."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import pytest

from benchbrief.cli.terminal import show_error
from benchbrief.compiler.registry import METER_SPECS
from benchbrief.compiler.schemas import BLOCKS, ELEMENTS, SSH
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.model.value_shapes import Key
from tests.cli.specs import SMALL
from tests.support.bench import PROGRAM, Bench, Ended

LONG = "x" * 300
MONGO = """
hardware box { hosts = local }
client load { hosts = local  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://127.0.0.1:1/ycsb?tls=true&@OPTION@" }
workload a from ycsb.a { records = 1k }
experiment e { hardware = box  workloads = a  threads = 1  measure = 1 s }
"""


def one_message(done: Ended) -> str:
    text = done.plainly().err
    assert sum(line.startswith("error") for line in text.splitlines()) == 1, text
    return text


@pytest.mark.parametrize(
    "line",
    [
        f'theme {{ logo = "{LONG}.svg" }}',
        f'theme {{ css = "{LONG}.css" }}',
        f'theme {{ font_files = "{LONG}.ttf" }}',
        f'parts = "{LONG}"',
        f"language = {LONG}",
    ],
)
def test_a_path_that_is_too_long_is_a_mistake_of_the_spec_with_its_place(bench: Bench, line: str) -> None:
    bench.spec(SMALL.replace("disclosure = automatic", f"disclosure = automatic\n  {line}"))
    done = bench("check", "brief.bench")
    assert done.code == 1
    assert "error[E07" in one_message(done)
    assert "brief.bench:" in done.err


@pytest.mark.parametrize(
    "words",
    [("run", LONG), ("status", "--out", LONG), ("run", "brief.bench", "--simulate", "--out", LONG), ("verify", LONG)],
)
def test_a_name_that_is_too_long_on_the_command_line_is_one_message(bench: Bench, words: tuple[str, ...]) -> None:
    bench.spec(SMALL)
    done = bench(*words)
    assert done.code in (1, 2)
    one_message(done)


@pytest.mark.parametrize("option", ["tlsCAFile=/no/such.pem", "tlsCertificateKeyFile=%2Fno%2Fsuch.pem"])
def test_a_file_that_a_uri_names_and_that_is_not_there_stops_the_run_before_it_begins(
    bench: Bench, option: str
) -> None:
    bench.spec(MONGO.replace("@OPTION@", option))
    done = bench("run", "brief.bench")
    assert done.code == 2
    assert one_message(done).startswith("error: /no/such.pem, which the uri of database mongo names, can't be used: No")
    assert not bench.run_dirs()


def test_a_home_folder_is_not_looked_up_for_a_uri_since_its_client_does_not_either(bench: Bench) -> None:
    (bench.folder / "ca.pem").write_text("a certificate")
    bench.env["HOME"] = str(bench.folder)
    bench.spec(MONGO.replace("@OPTION@", "tlsCAFile=~/ca.pem"))
    done = bench("run", "brief.bench")
    assert done.code == 2
    assert one_message(done).startswith("error: ~/ca.pem, which the uri of database mongo names, can't be used: No")


def test_a_pipe_that_a_uri_names_as_a_file_does_not_block_the_run(bench: Bench) -> None:
    pipe = bench.folder / "pipe"
    os.mkfifo(pipe)
    bench.spec(MONGO.replace("@OPTION@", f"tlsCAFile={pipe}"))
    done = bench("run", "brief.bench")
    assert done.code == 2
    expected = f"error: {pipe}, which the uri of database mongo names, can't be used: it is not a regular file"
    assert one_message(done).startswith(expected)


@pytest.mark.parametrize(
    "words",
    [
        ("run", b"sp\xffec.bench", "--simulate"),
        ("check", b"sp\xffec.bench"),
        ("run", "brief.bench", "--simulate", "--out", b"o\xffut"),
        ("report", "--to", b"t\xffo"),
    ],
)
def test_a_name_that_is_not_utf8_is_refused_before_anything_is_measured(
    bench: Bench, words: tuple[str | bytes, ...]
) -> None:
    spec = bench.spec(SMALL)
    (Path(os.fsdecode(os.fsencode(bench.folder) + b"/sp\xffec.bench"))).write_text(spec.read_text("utf-8"), "utf-8")
    done = bench(*map(os.fsdecode, words))
    assert done.code == 2
    assert one_message(done).startswith("error: a name on the command line is not UTF-8\n  help: rename the file")
    assert "\\xff" in done.err
    assert not bench.run_dirs()


METER = """
hardware box { hosts = local  power = redfish("https://127.0.0.1:1", user: "u", password: secret("P"), @ARGUMENT@) }
database rocks { engine = rocksdb  path = "/tmp/benchbrief-none" }
workload rr from db_bench.readrandom { records = 1k }
experiment e { hardware = box  workloads = rr  threads = 1  measure = 4 s  probes = power every 1 s }
"""
REACHED = """
hardware box { hosts = "127.0.0.1:1"  ssh { @ARGUMENT@ } }
database rocks { engine = rocksdb  path = "/tmp/benchbrief-none" }
workload rr from db_bench.readrandom { records = 1k }
experiment e { hardware = box  workloads = rr  threads = 1  measure = 4 s }
"""
CONTROLLER = [
    (METER, f'{key}: "@PATH@"') for key, each in METER_SPECS.own["redfish"].arguments.items() if each.file
] + [(REACHED, f'{key} = "@PATH@"') for key, each in SSH.keys.items() if each.file]
"""Every file that a spec makes the controller read. A test below checks that Redfish is the only meter with such files.
"""


@pytest.mark.parametrize(("spec", "argument"), CONTROLLER)
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("/no/such.pem", "No such file"),
        ("/" + LONG, "File name too long"),
        ("/tmp", "it is not a regular file"),
        ("/dev/null/x.pem", "Not a directory"),
    ],
)
def test_a_file_that_the_controller_reads_is_looked_at_before_a_host_is_touched(
    bench: Bench, spec: str, argument: str, name: str, why: str
) -> None:
    bench.env["P"] = "secret-of-nobody"
    bench.spec(spec.replace("@ARGUMENT@", argument.replace("@PATH@", name)))
    done = bench("run", "brief.bench")
    assert done.code == 2
    assert f"can't be used: {why}" in one_message(done)
    assert not bench.run_dirs()


@pytest.mark.parametrize(
    ("kind", "name", "key"),
    [
        (kind, name, key)
        for kind, keys in {
            **{k: b.keys for k, b in {**BLOCKS, **ELEMENTS}.items()},
            **{k: m.arguments for k, m in METER_SPECS.own.items()},
        }.items()
        for name, key in keys.items()
    ],
)
def test_each_attribute_that_names_a_file_says_where_the_file_lies(kind: str, name: str, key: Key) -> None:
    names_one = re.search(r"\b(?:file|files|folder|style sheet)\b", key.doc, re.IGNORECASE) is not None
    assert names_one == bool(key.file) or (kind, name) in NO_FILES, (kind, name, key.doc)
    assert key.file != "controller" or (kind, name) in (("ssh", "identity"), ("redfish", "ca_file")), (
        "add it to CONTROLLER"
    )


NO_FILES = {("report", "provenance"), ("report", "formats"), ("csv", "wait")}
"""The codes whose explanations mention a file without naming it."""
BESIDE = [(kind, name) for kind, block in ELEMENTS.items() for name, key in block.keys.items() if key.file == "spec"]


@pytest.mark.parametrize(("kind", "name"), BESIDE)
@pytest.mark.parametrize("path", ["none.bin", LONG, "folder", "latin1", "pipe", "/dev/null/x"])
def test_a_file_beside_the_spec_that_can_not_be_used_is_a_mistake_with_its_place(
    bench: Bench, kind: str, name: str, path: str
) -> None:
    (bench.folder / "folder").mkdir()
    (bench.folder / "folder" / "figure.html.j2").write_bytes(b"\xff\xfe")
    os.mkfifo(bench.folder / "pipe")
    (bench.folder / "latin1").write_bytes(b"\xe4\xf6\xfc")
    line = f'{name} = "{path}"'
    line = f"theme {{ {line} }}" if kind == "theme" else line
    if kind == "database":
        uri = 'uri = "mongodb://127.0.0.1:1/ycsb?tls=true&@OPTION@"'
        bench.spec(MONGO.replace(uri, f'server = start  path = "/tmp/x"  {line}'))
    else:
        bench.spec(SMALL.replace("disclosure = automatic", f"disclosure = automatic\n  {line}"))
    done = bench("check", "brief.bench")
    assert done.code == 1
    assert re.search(r"error\[E0(7|5)[0-9]{2}\]", one_message(done))
    assert f"| {line}" in " ".join(done.err.split()) or len(path) > 100
    assert f"{path[:20]}" in done.err.splitlines()[0]


def test_a_current_folder_whose_name_is_not_utf8_or_that_is_gone_is_reported(bench: Bench) -> None:
    import subprocess

    bench.spec(SMALL)
    folder = os.fsencode(bench.folder) + b"/d\xffir"
    Path(os.fsdecode(folder)).mkdir()
    for script, said in ((b"true", b"current folder is not UTF-8"), (b'rmdir "$PWD"', b"not there any more")):
        command = [b"sh", b"-c", script + b'; exec "$0" run ../brief.bench --simulate', os.fsencode(PROGRAM)]
        done = subprocess.run(command, cwd=folder, env=bench.env, capture_output=True, check=False)
        assert done.returncode == 2
        assert said in done.stderr
        assert b"internal error" not in done.stderr
    assert not bench.run_dirs()


def test_a_run_that_is_named_in_place_of_a_spec_points_to_resume(bench: Bench) -> None:
    bench.spec(SMALL)
    assert bench("run", "brief.bench", "--simulate", "--no-report").code == 0
    for named in (bench.run_dir.name, f"bench-out/{bench.run_dir.name}"):
        done = bench("run", named)
        assert done.code == 1
        said = one_message(done)
        assert f"`{named}` is a run, and no spec" in said
        assert f"`bench resume {bench.run_dir.name}`" in said
        assert "`bench run brief.bench`" in said


@pytest.mark.parametrize(
    ("number", "hint"),
    [(errno.EROFS, "mount it for writing"), (errno.EACCES, "check its permissions"), (errno.ENOSPC, "make room there")],
)
def test_a_file_that_can_not_be_written_comes_with_the_next_step(
    number: int, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert show_error(OSError(number, os.strerror(number), "journal.jsonl")).exit_code is not ExitCode.DONE
    assert hint in capsys.readouterr().err
