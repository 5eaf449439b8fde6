"""Tests that a spec has only references to secrets, and that only processes that need the values get them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.faults.specs import MONGO
from tests.support.bench import Bench
from tests.support.mongo import running_stand_in
from tests.support.tools import built_tool, tools_dir

SECRET = "s3cr:t/P@ss word%"
USER = "benchuser"


@contextmanager
def watched_process_list() -> Iterator[set[bytes]]:
    """Yield all command lines that any user of this machine could have seen during the block."""
    seen: set[bytes] = set()
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.02):
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    seen.add(path.read_bytes())
                except OSError:
                    continue

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        over.set()
        watcher.join()


def forms(secret: str) -> set[bytes]:
    """Return the forms in which a secret may be written."""
    return {form.encode() for form in (secret, quote(secret, safe=""), quote(secret))}


def holding(secret: str, folder: Path) -> list[Path]:
    return [
        path
        for path in folder.rglob("*")
        if path.is_file() and any(form in path.read_bytes() for form in forms(secret))
    ]


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, int]]:
    built_tool("mongo-stand-in")
    built_tool("ycsb")
    with running_stand_in(tools_dir()) as address:
        yield address


# The stand-in knows no users: what is secret here is an option of the connection that it does not look at.
def test_a_secret_of_a_good_run_is_nowhere_but_in_its_processes(bench: Bench, server: tuple[str, int]) -> None:
    secret = "hunter2%2Fhunter2%21"
    uri = "mongodb://{}:{}/ycsb?appName={{secret(APP_KEY)}}".format(*server)
    report = 'report r "R" { figure "f" { line = throughput by threads }  disclosure = automatic }\n'
    bench.spec(MONGO.replace("[1, 2]", "[1]") + report, TOOL="ycsb", SERVER=f'uri = "{uri}"', SECONDS=1)
    with watched_process_list() as command_lines:
        ended = bench("run", "brief.bench", env={"APP_KEY": secret})
    assert ended.code == 0, ended.text
    assert not any(form in line for form in forms(secret) for line in command_lines)
    assert any(b"site.ycsb.Client" in line for line in command_lines), "the process list was watched"
    assert holding(secret, bench.folder) == []
    assert not any(form.decode() in ended.text for form in forms(secret))
    plan = bench("plan", "brief.bench", "--json", env={"APP_KEY": secret})
    assert secret not in plan.out
    assert "APP_KEY" in plan.out
    assert secret not in bench("doctor", "brief.bench", env={"APP_KEY": secret}).text


@pytest.mark.long
def test_what_go_ycsb_prints_of_its_properties_holds_no_secret(bench: Bench, server: tuple[str, int]) -> None:
    secret = "ba\\ck\\\\slash-7-pä5s€-wörd-quo'te\"-and$HOME"
    uri = "mongodb://{}:{}/ycsb?appName={{secret(APP_KEY)}}".format(*server)
    bench.spec(
        MONGO.replace("[1, 2]", "[1]"), TOOL="go_ycsb", SERVER=f'uri = "{uri}"  reset = drop_and_load', SECONDS=1
    )
    ended = bench("run", "brief.bench", "--no-report", env={"APP_KEY": secret})
    assert ended.code == 0, ended.text
    printed = [path.read_text() for path in bench.run_dir.glob("raw/**/stdout") if "mongodb.url" in path.read_text()]
    assert len(printed) >= 2, "of the load and of the measurement"
    assert all('"mongodb.url"="***"' in text for text in printed)
    for form in (secret, repr(secret)[1:-1], ascii(secret)[1:-1], secret.replace("\\", "\\\\")):
        assert holding(form, bench.folder) == []


def test_a_password_that_is_refused_is_not_shown(bench: Bench, server: tuple[str, int]) -> None:
    host, port = server
    uri = f"mongodb://{USER}:{{secret(MONGO_PASSWORD)}}@{host}:{port}/ycsb"
    bench.spec(MONGO.replace("[1, 2]", "[1]"), TOOL="ycsb", SERVER=f'uri = "{uri}"', SECONDS=1)
    password = quote(SECRET, safe="")
    with watched_process_list() as command_lines:
        ended = bench("run", "brief.bench", env={"MONGO_PASSWORD": SECRET})
    assert ended.code == 3, ended.text
    assert "mongo" in ended.out
    for form in forms(SECRET) | forms(password):
        assert form.decode() not in ended.text
        assert not any(form in line for line in command_lines)
    assert holding(SECRET, bench.folder) == []
    assert holding(password, bench.folder) == []


def test_a_secret_that_is_not_set_is_named_before_any_host_is_reached(bench: Bench) -> None:
    uri = "mongodb://{env(MONGO_USER)}:{secret(MONGO_PASSWORD)}@127.0.0.1:1/ycsb"
    bench.spec(MONGO.replace("[1, 2]", "[1]"), TOOL="ycsb", SERVER=f'uri = "{uri}"', SECONDS=1)
    ended = bench("run", "brief.bench", env={"MONGO_USER": "me"})
    assert ended.code == 2, ended.text
    assert "the uri of database mongo (brief.bench:3:1) needs the secret MONGO_PASSWORD, which is not set" in ended.err
    assert "export MONGO_PASSWORD=..." in ended.err
    assert bench.run_dirs() == [], "nothing was begun"
    both = bench("run", "brief.bench").err
    assert "export MONGO_USER=... MONGO_PASSWORD=..." in both
    doctor = bench("doctor", "brief.bench", env={"MONGO_USER": "me"})
    assert doctor.code == 3
    assert "secret MONGO_PASSWORD" in doctor.out
    assert "is not set, and the uri of database mongo (brief.bench:3:1) needs it" in doctor.out
    assert "MONGO_USER" not in doctor.out
    assert bench("check", "brief.bench").code == 0, "checking needs no secret"
    assert bench("run", "brief.bench", "--simulate", "--no-report").code == 0, "nor does a simulation"


PARTS = {
    "compressors": "mongodb://{host}:{port}/ycsb?compressors={{secret(PART)}}",
    "read preference": "mongodb://{host}:{port}/ycsb?readPreference={{secret(PART)}}",
    "CA file": "mongodb://{host}:{port}/ycsb?tls=true&tlsCAFile={{secret(PART)}}",
    "host": "mongodb://{{secret(PART)}}:{port}/ycsb",
    "database": "mongodb://{host}:{port}/{{secret(PART)}}",
    "option": "mongodb://{host}:{port}/ycsb?{{secret(PART)}}=1",
    "mechanism": "mongodb://u:p@{host}:{port}/ycsb?authMechanism={{secret(PART)}}",
    "replica set": "mongodb://{host}:{port}/ycsb?replicaSet={{secret(PART)}}&serverSelectionTimeoutMS=500",
    "whole": "{{secret(PART)}}",
}
WHOLE = "mongodb://{part}:pa%24%24-{part}@{part}.invalid:{port}/ycsb?compressors={part}"


@pytest.mark.parametrize(
    "part", [each if each == "whole" else pytest.param(each, marks=pytest.mark.long) for each in PARTS]
)
@pytest.mark.parametrize("secret", [pytest.param("Hunter2Hunter", marks=pytest.mark.long), "pä5s\\w%5C-örd. $x"])
def test_an_error_about_a_uri_does_not_show_its_secret_part(
    bench: Bench, server: tuple[str, int], part: str, secret: str
) -> None:
    host, port = server
    uri = PARTS[part].format(host=host, port=port)
    bench.spec(MONGO.replace("[1, 2]", "[1]"), TOOL="ycsb", SERVER=f'uri = "{uri}"', SECONDS=1)
    value = WHOLE.format(part=quote(secret, safe=""), port=port) if part == "whole" else secret
    env = {"PART": value}
    said = bench("doctor", "brief.bench", env=env).text
    ended = bench("run", "brief.bench", env=env)
    said += ended.text
    if ended.code == 3:
        said += bench("status", env=env).text
        said += bench("stop", bench.run_dir.name, env=env).text
        said += bench("resume", bench.run_dir.name, "--no-report", env=env).text
    for form in forms(secret) | forms(secret.lower()) | {repr(secret)[1:-1].encode()}:
        assert form.decode() not in said
    assert holding(secret, bench.folder) == []
    assert holding(secret.lower(), bench.folder) == []
