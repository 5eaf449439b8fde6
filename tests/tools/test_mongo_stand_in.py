"""Tests that the MongoDB stand-in behaves as runs and tests need."""

import platform
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pymongo import MongoClient

from tests.support.mongo import running_stand_in
from tests.support.tools import built_tool, tools_dir

LAUNCHER = "mongo-stand-in/bin/mongo-stand-in"


@pytest.fixture(autouse=True)
def _built() -> None:
    built_tool(LAUNCHER)


@contextmanager
def connected(data: Path | None = None) -> Iterator[MongoClient[dict[str, object]]]:
    with (
        running_stand_in(tools_dir(), data) as (host, port),
        # Commands are counted: no heartbeat after the first, and no second connection that measures the round trip.
        MongoClient[dict[str, object]](host, port, heartbeatFrequencyMS=600_000, serverMonitoringMode="poll") as client,
    ):
        yield client


def test_a_server_in_memory_answers_and_counts_operations_as_mongodb_does() -> None:
    with connected() as client:
        assert client.admin.command("ping")["ok"] == 1.0
        info, status = client.admin.command("buildInfo"), client.admin.command("serverStatus")
        host, port = client.address or ("", 0)
        assert f"cannot listen on {host}:{port}: Address already in use" in refusal("--port", str(port))
        assert Path(f"/proc/{status['pid']}").exists()
        things = client.test.things
        before = client.admin.command("serverStatus")["opcounters"]
        things.insert_many({"_id": key} for key in range(10))
        things.insert_one({"_id": 10})
        list(things.find({"_id": {"$gt": 5}}, batch_size=2))
        things.update_one({"_id": 1}, {"$set": {"seen": True}})
        things.delete_one({"_id": 2})
        after = client.admin.command("serverStatus")["opcounters"]
    counted = {name: after[name] - before[name] for name in after}
    assert counted.pop("command") >= 1, "the reading itself; on a busy machine the driver greets the server once more"
    assert counted == {"insert": 11, "query": 1, "update": 1, "delete": 1, "getmore": 2}
    assert (info["version"], info["benchbriefStandIn"]) == ("4.4.0", "mongo-java-server 1.47.0 (memory)")
    assert status["host"] == platform.node()
    assert status["version"] == "4.4.0"
    assert 0 <= status["uptimeMillis"] < 60_000
    assert not Path(f"/proc/{status['pid']}").exists()  # it was the server's, which has ended


def test_documents_survive_a_restart_when_a_folder_is_given_which_one_server_uses_at_a_time(tmp_path: Path) -> None:
    data = tmp_path / "made" / "by the server"
    with connected(data) as client:
        assert client.admin.command("buildInfo")["benchbriefStandIn"] == "mongo-java-server 1.47.0 (H2 file)"
        assert f"cannot open the data in {data}" in refusal("--port", "0", "--data", str(data))
        client.test.things.insert_many({"_id": key} for key in range(100))
    with connected(data) as client:
        assert client.test.things.count_documents({}) == 100


def refusal(*arguments: str) -> str:
    """Return the launcher's only line of error. Checks that the exit code is 1 and that standard output is empty."""
    done = subprocess.run([built_tool(LAUNCHER), *arguments], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"mongo-stand-in: [^\n]+\n", done.stderr)
    return done.stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--port", "many"], "--port wants a number from 0 (any free port) to 65535, not 'many'"),
        (["--port", "70000"], "to 65535, not '70000'"),
        (["--port"], "--port wants a value"),
        (["--prot", "1"], "unknown option '--prot'; there are --bind, --data, --port"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(arguments: list[str], reason: str) -> None:
    assert reason in refusal(*arguments)


@pytest.mark.long
def test_a_dropped_collection_does_not_count_in_the_size_of_the_next(tmp_path: Path) -> None:
    with connected(tmp_path / "data") as client:

        def stored() -> float:
            return float(client.test.command("dbStats")["storageSize"])

        for _ in range(2):
            client.test.things.insert_many({"_id": key, "text": f"{key:01000d}"} for key in range(1500))
            loaded = stored()
            client.test.things.drop()
            assert stored() < loaded / 10
