"""A host whose clock is wrong, and is set while a cell is measured: nothing of its samples is lost or misplaced."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from benchbrief.runners.clock import read_clock
from benchbrief.runners.transports import open_transport
from tests.support import wrapped
from tests.support.bench import Bench
from tests.support.sshd import sshd
from tests.support.tools import system_tool
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
database rocks { engine = rocksdb  path = "@DATA@/clock"  tool = @TOOL@  options { compression = "none" } }
workload read from db_bench.readrandom { records = 10k }
experiment e { hardware = box  workloads = [read]  threads = [1]  measure = 4 s  probes = [cpu every 0.25 s] }
"""


@pytest.fixture
def lying(tmp_path: Path) -> Path:
    """A folder for the PATH, with a `date` that is as many seconds ahead as the file `ahead` beside it says."""
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
    bench.spec(SPEC, TOOL=f'db_bench("{wrapped.db_bench(bench.folder / "tool")}")')
    with sshd(config=server_config(lying, bench.tmp)) as server:
        bench.env["HOME"] = str(server.home)
        setting = threading.Thread(target=set_clock_while_sampled, args=(bench.tmp, lying / "ahead"))
        setting.start()
        ended = bench("run", "brief.bench", "--no-report")
        setting.join()
    assert ended.code == 0, ended.text
    text = "the clock of box was set forward by 3,600.0 s during the measurement"
    assert any(record["text"].startswith(text) for record in bench.journal("remark"))
    read = {(record["host"], record["when"]): record for record in bench.journal("clock_read")}
    assert read["box", "before"]["offset_s"] == pytest.approx(100, abs=0.5)
    assert read["box", "after"]["offset_s"] == pytest.approx(3700, abs=0.5)
    assert read["local", "before"]["offset_s"] == 0
    (measured,) = [record for record in bench.journal("job_collected") if record["job"] == "measure"]
    assert measured["ended_at"] - measured["started_at"] < 60
    rows = bench("query", "SELECT t_s FROM samples WHERE measure = 'cpu' ORDER BY t_s", "--json").json
    times = [row["t_s"] for row in rows]
    assert len(times) >= 10
    assert times[0] >= 0
    assert times[-1] <= 4.5
    notes = [row["text"] for row in bench("query", "SELECT text FROM notes", "--json").json]
    assert any(note.startswith("the clock of box was 100 s ahead of the controller's") for note in notes)


def set_clock_while_sampled(tmp: Path, ahead: Path) -> None:
    """By an hour, once the probe has taken some readings of the measured time."""

    def readings() -> int:
        outputs = [path.read_text() for path in tmp.rglob("stdout") if path.parent.name != "work"]
        return max((text.count("\n.\n") for text in outputs if text.startswith("processors ")), default=0)

    until(lambda: readings() >= 8, within_s=60)
    ahead.write_text("3700")
