"""Tests a host with a wrong clock that is set while a cell is measured. No sample is lost or misplaced."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from benchbrief.runners.hosts.host_clocks import read_clock
from benchbrief.runners.hosts.host_connections import open_transport
from tests.faults.places import readings_of, start_of_window
from tests.support.bench import Bench
from tests.support.mongo import mortal_stand_in
from tests.support.sshd import sshd
from tests.support.tools import built_tool, system_tool, tools_dir
from tests.support.waiting import until

LYING_DATE = """\
#!/bin/sh
ahead=$(cat '{ahead}')
case $1 in
    +%s.%N) t=$(/bin/date +%s%N); t=$((t + ahead * 1000000000)); s=${{t%?????????}}; echo "$s.${{t#"$s"}}";;
    +%s%N) t=$(/bin/date +%s%N); echo $((t + ahead * 1000000000));;
    *) exec /bin/date "$@";;
esac
"""
SPEC = """\
hardware box { hosts = "box" }
client load { hosts = local  tool = go_ycsb }
database mongo { engine = mongodb  uri = "@URI@" }
workload a from ycsb.a { records = 200 }
experiment e { hardware = box  database = mongo  workloads = [a]  threads = [1]  measure = 4 s
  probes = [cpu every 0.25 s] }
"""
"""The wrong clock is not on the load generator's host, because a tool whose clock is set measures nothing."""


@pytest.fixture
def lying(tmp_path: Path) -> Path:
    """Return a folder for the PATH. Its `date` is ahead by the number of seconds in the file `ahead` beside it."""
    system_tool("sshd")
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "ahead").write_text("100")
    (programs / "date").write_text(LYING_DATE.format(ahead=programs / "ahead"))
    (programs / "date").chmod(0o755)
    return programs


def server_config(programs: Path, tmp: Path) -> str:
    return f'SetEnv "PATH={programs}:/usr/local/bin:/usr/bin:/bin" TMPDIR={tmp}'


def test_the_offset_of_a_clock_is_known_to_half_a_round_trip(lying: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with sshd(config=server_config(lying, lying)) as server:
        monkeypatch.setenv("HOME", str(server.home))
        transport = open_transport(server.host)
        try:
            first = read_clock(transport)
            (lying / "ahead").write_text("-5")
            second = read_clock(transport)
        finally:
            transport.close()
    assert first is not None
    assert second is not None
    for reading, ahead in ((first, 100.0), (second, -5.0)):
        assert 0 < reading.uncertainty_s < 0.5
        assert reading.offset_s == pytest.approx(ahead, abs=reading.uncertainty_s)
    assert first.booted is not None
    assert second.booted is not None
    assert second.booted - first.booted == pytest.approx(-105.0, abs=0.2)


@pytest.mark.timeout(120)
def test_samples_stay_in_place_when_a_wrong_clock_is_set_during_the_measurement(bench: Bench, lying: Path) -> None:
    built_tool("go-ycsb")
    with sshd(config=server_config(lying, bench.tmp)) as server, mortal_stand_in(tools_dir()) as (host, port, _):
        bench.spec(SPEC, URI=f"mongodb://{host}:{port}/ycsb")
        bench.env["HOME"] = str(server.home)
        setting = threading.Thread(target=set_clock_while_sampled, args=(bench.tmp, lying / "ahead"))
        setting.start()
        ended = bench("run", "brief.bench", "--no-report")
        setting.join()
    assert ended.code == 0, ended.text
    pattern = r"the clock of box was set forward by 3,(\d{3}\.\d) s during"
    said = [re.match(pattern, record["text"]) for record in bench.journal("remark")]
    (by,) = [float(match[1]) for match in said if match]
    assert by == pytest.approx(600.0, abs=1.0)
    read = {(record["host"], record["when"]): record for record in bench.journal("clock_read")}
    for when, ahead in (("before", 100), ("after", 3700)):
        reading = read["box", when]
        assert reading["offset_s"] == pytest.approx(ahead, abs=reading["uncertainty_s"] + 0.05)
    assert read["local", "before"]["offset_s"] == 0
    (measured,) = [record for record in bench.journal("job_collected") if record["job"] == "measure"]
    assert measured["ended_at"] - measured["started_at"] < 60
    query = "SELECT t_s FROM samples WHERE measure = 'cpu' ORDER BY t_s"
    times = [row["t_s"] for row in bench("query", query, "--json").json]
    start_of_window(readings_of(bench.run_dir, since_boot=True), times)
    query = "SELECT duration_s FROM throughput WHERE phase IS NULL AND operation = 'all'"
    (total,) = bench("query", query, "--json").json
    assert times[0] >= 0
    assert times[-1] <= total["duration_s"] + 0.01
    notes = [row["text"] for row in bench("query", "SELECT text FROM notes", "--json").json]
    assert any(note.startswith("the clock of box was 100 s ahead of the controller's") for note in notes)


def set_clock_while_sampled(tmp: Path, ahead: Path) -> None:
    """Set the clock an hour ahead, once the probe has taken some readings in the measured time."""

    def readings() -> int:
        outputs = [path.read_text() for path in tmp.rglob("stdout") if path.parent.name != "work"]
        return max((text.count("\n.\n") for text in outputs if text.startswith("processors ")), default=0)

    until(lambda: readings() >= 8, within_s=60)
    ahead.write_text("3700")
