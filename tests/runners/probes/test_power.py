"""The power probe, with real meters if there are any (a BMC read by ipmitool, commands), and with a made-up tree of
counters."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path

import pytest

from benchbrief.extensions.meters.rapl import rapl_meter
from benchbrief.model.extension_spec import Boundary
from benchbrief.model.measurement import Sample
from benchbrief.model.plan import PowerMeter, Probe, Reference
from benchbrief.runners.errors import BadOutput, RunnerError
from benchbrief.runners.jobs.tasks import JobOutput
from benchbrief.runners.meters.power_probe import Power, try_meter
from benchbrief.runners.seams import Node, Transport
from tests.support import cells
from tests.support.bmc import PASSWORD, USER, bmc
from tests.support.longer import longer
from tests.support.waiting import until

PROBE = Probe(name="power", every_s=0.2, hosts=("local",), origin=cells.ORIGIN)


def meter(
    kind: str, *addresses: str, boundary: Boundary = "node", **options: str | float | bool | Reference
) -> PowerMeter:
    return PowerMeter(
        kind=kind, boundary=boundary, on="node", addresses=addresses, options=options, origin=cells.ORIGIN
    )


def sampled(transport: Transport, node: Node, into: Path, readings: int = 6) -> tuple[tuple[Sample, ...], JobOutput]:
    """Return the samples of this many readings, all inside the window."""
    running = transport.start(Power().job(PROBE, node))
    started = time.time()
    until(lambda: running.tail(20_000).count("\n.") >= readings)
    ended = time.time()
    running.stop()
    output = running.collect(into)
    return Power().parse(PROBE, output, (started, ended)), output


def output(directory: Path, stdout: str, stderr: str = "") -> JobOutput:
    (directory / "stdout").write_text(stdout)
    (directory / "stderr").write_text(stderr)
    return JobOutput(directory, None, 0.0, 0.0, "node1")


def printed(header: str, *readings: tuple[float, str]) -> str:
    return f"{header}\n" + "".join(f"= {at:.9f}\n{text}\n.\n" for at, text in readings)


# --- by a BMC ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("common", ["212", *longer("Watts", "1", "power", ".")])
def test_a_password_that_is_a_common_word_does_not_change_what_is_read(
    here: Transport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, common: str
) -> None:
    monkeypatch.setenv("BMC_PASSWORD", common)
    with bmc(tmp_path, "212") as found:
        node = by_ipmi(found.address)
        assert try_meter(node, here) == 212
        samples, kept = sampled(here, node, tmp_path / "kept", 3)
        assert {sample.value for sample in samples} == {212.0}
    other = [line for line in kept.stdout.read_text().splitlines() if "Average" in line]
    assert other
    assert not any(common in line.replace("***", "") for line in other), "what is not read of it is masked"


def by_ipmi(address: str) -> Node:
    return cells.node(meter("ipmi", address, user=USER, password=Reference(kind="secret", name="BMC_PASSWORD")))


@pytest.mark.usefixtures("password")
def test_a_bmc_is_asked_for_its_watts(here: Transport, tmp_path: Path) -> None:
    with bmc(tmp_path, "212") as found:
        node = by_ipmi(found.address)
        assert try_meter(node, here) == 212
        samples, kept = sampled(here, node, tmp_path / "kept")
    assert len(samples) >= 4
    assert {(sample.measure, sample.node, sample.value, sample.unit) for sample in samples} == {
        ("power", "local", 212.0, "W")
    }
    everything = b"".join(path.read_bytes() for path in kept.directory.iterdir())
    assert PASSWORD.encode() not in everything


@pytest.mark.usefixtures("password")
def test_the_password_is_no_argument_of_any_process(here: Transport, tmp_path: Path) -> None:
    with bmc(tmp_path, "212") as found:
        running = here.start(Power().job(PROBE, by_ipmi(found.address)))
        seen: set[bytes] = set()

        def look() -> bool:
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    seen.add(path.read_bytes())
                except OSError:  # it has ended
                    continue
            return any(b"dcmi" in line and b"-E" in line for line in seen)

        until(look)
        running.stop()
        running.collect(tmp_path / "kept")
    assert not any(PASSWORD.encode() in line for line in seen)


@pytest.mark.long
@pytest.mark.usefixtures("password")
def test_a_bmc_that_is_not_metering_for_a_while_leaves_a_gap_and_no_zero(here: Transport, tmp_path: Path) -> None:
    with bmc(tmp_path, "100") as found:
        running = here.start(Power().job(PROBE, by_ipmi(found.address)))
        started = time.time()
        until(lambda: running.tail(20_000).count("100 Watts") > 4)
        found.says("off")
        until(lambda: running.tail(20_000).count("deactivated") > 1)
        found.says("300")
        until(lambda: running.tail(20_000).count("300 Watts") > 4)
        ended = time.time()
        running.stop()
        samples = Power().parse(PROBE, running.collect(tmp_path / "kept"), (started, ended))
    values = [sample.value for sample in samples]
    assert set(values) == {100.0, 300.0}
    assert values == sorted(values)


@pytest.mark.long
@pytest.mark.usefixtures("password")
def test_a_bmc_that_refuses_is_reported_before_anything_is_measured(
    here: Transport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with bmc(tmp_path, "off") as found:
        node = by_ipmi(found.address)
        with pytest.raises(RunnerError, match=r"power of local can't be read by ipmi.*deactivated"):
            try_meter(node, here)
        found.says("absent")
        with pytest.raises(RunnerError, match="power of local can't be read by ipmi"):
            try_meter(node, here)
        found.says("200")
        monkeypatch.setenv("BMC_PASSWORD", "wrong")
        with pytest.raises(RunnerError, match="Unable to establish") as caught:
            try_meter(node, here)
        assert "wrong" not in str(caught.value)


def test_a_secret_that_is_not_set_is_named(here: Transport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BMC_PASSWORD", raising=False)
    with pytest.raises(RunnerError, match=r"power meter at brief.bench:1:1 needs the secret BMC_PASSWORD"):
        try_meter(by_ipmi("127.0.0.1:9"), here)


# --- by a command ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "watts"),
    [
        ("echo 312.5", 312.5),
        ("echo '87 W'", 87.0),
        *longer(("echo 90Watts", 90.0), ("echo 2.5e2", 250.0), ("printf 100", 100.0)),
    ],
)
def test_a_command_prints_watts(line: str, watts: float, here: Transport, tmp_path: Path) -> None:
    node = cells.node(meter("command", command=line))
    assert try_meter(node, here) == watts
    samples, _ = sampled(here, node, tmp_path / "kept", readings=3)
    assert {sample.value for sample in samples} == {watts}


def test_a_command_gets_the_name_of_the_host(here: Transport) -> None:
    assert try_meter(cells.node(meter("command", command='[ "$BENCH_HOST" = 127.0.0.1 ] && echo 1')), here) == 1


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("echo -5", "it says -5 W, and no power is below zero"),
        *longer(("echo nothing", "nothing"), ("echo nan", "nan"), ("echo 1 2", "1 2"), ("echo 5 kW", "5 kW")),
        ("true", "it printed nothing, and ended with code 0"),
        ("false", "it printed nothing, and ended with code 1"),
        ("echo no meter >&2; exit 3", "no meter"),
    ],
)
def test_what_is_no_number_of_watts_is_refused(line: str, why: str, here: Transport) -> None:
    with pytest.raises(RunnerError, match=rf"power of local can't be read by command: {why}") as refused:
        try_meter(cells.node(meter("command", command=line)), here)
    assert "one number, the watts" in refused.value.hint


@pytest.mark.long
def test_a_reading_that_fails_is_a_gap(here: Transport, tmp_path: Path) -> None:
    flag, began = tmp_path / "flag", time.time()
    node = cells.node(meter("command", command=f"[ -e {flag} ] && echo 50 || echo broken"))
    toggling = threading.Event()

    def toggle() -> None:
        while not toggling.wait(0.3):
            flag.unlink() if flag.exists() else flag.touch()

    thread = threading.Thread(target=toggle)
    thread.start()
    try:
        samples, kept = sampled(here, node, tmp_path / "kept", readings=12)
    finally:
        toggling.set()
        thread.join()
    good, bad = (kept.stdout.read_text().count(text) for text in ("\n50\n", "\nbroken\n"))
    assert bad > 0
    assert 0 < len(samples) <= good
    assert {sample.value for sample in samples} == {50.0}
    assert re.match(
        r"[1-9]\d* of \d+ readings of power of local failed: ", Power().gaps(PROBE, kept, (began, time.time()))
    )


def test_only_failed_readings_are_no_measurement(tmp_path: Path) -> None:
    text = printed("meter command", *((float(at), "broken") for at in range(10)))
    with pytest.raises(BadOutput, match=r"none of 7 readings of power of node1 is a number of watts: out of order"):
        Power().parse(PROBE, output(tmp_path, text, "out of order\n"), (1.0, 7.0))


def test_only_readings_inside_the_window_count(tmp_path: Path) -> None:
    text = printed("meter command", *((float(at), f"{100 + at}") for at in range(10)))
    samples = Power().parse(PROBE, output(tmp_path, text), (2.5, 8.5))
    assert [(sample.time, sample.value) for sample in samples] == [
        (0.5, 103.0), (1.5, 104.0), (2.5, 105.0), (3.5, 106.0), (4.5, 107.0), (5.5, 108.0),
    ]  # fmt: skip


# --- by the counters of CPU packages -----------------------------------------------------------------------------

RANGE = 262_143_328_850


def package(root: Path, number: int, energy: int, name: str | None = None) -> Path:
    directory = root / f"intel-rapl:{number}"
    directory.mkdir(parents=True)
    (directory / "name").write_text(f"{name or f'package-{number}'}\n")
    (directory / "max_energy_range_uj").write_text(f"{RANGE}\n")
    (directory / "energy_uj").write_text(f"{energy}\n")
    core = root / f"intel-rapl:{number}:0"
    core.mkdir()
    (core / "name").write_text("core\n")
    (core / "energy_uj").write_text("7\n")
    return directory / "energy_uj"


@pytest.fixture
def powercap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "powercap"
    monkeypatch.setattr(rapl_meter, "POWERCAP", str(root))
    return root


def test_two_packages_are_added_up_over_the_wrap_around_of_one(powercap: Path, here: Transport, tmp_path: Path) -> None:
    """The made-up tree has 40 W and 60 W. The second counter restarts after half a second."""
    first, second = package(powercap, 0, 1_000_000), package(powercap, 1, RANGE - 30_000_000)
    package(powercap, 2, 5, name="psys")
    node = cells.node(meter("rapl"))
    over = threading.Event()
    began = time.time()

    def count() -> None:
        while not over.wait(0.005):
            microseconds = int((time.time() - began) * 1e6)
            for file, energy in (
                (first, 1_000_000 + 40 * microseconds),
                (second, (RANGE - 30_000_000 + 60 * microseconds) % (RANGE + 1)),
            ):
                new = file.with_suffix(".new")
                new.write_text(f"{energy}\n")
                new.replace(file)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        samples, kept = sampled(here, node, tmp_path / "kept", readings=10)
    finally:
        over.set()
        thread.join()
    text = kept.stdout.read_text()
    counted = [int(match) for match in re.findall(r"intel-rapl:1 (\d+)", text)][1:]
    assert counted != sorted(counted), "it wrapped around meanwhile"
    values = [sample.value for sample in samples]
    assert len(values) >= 7
    # On a busy machine the tree stands still for a while and catches up: its watts are what was read of one package.
    read = re.findall(r"^= (\S+) .*\nintel-rapl:0 (\d+)$", text, re.MULTILINE)
    (began_at, first_count), (ended_at, last_count) = ((float(at), int(count)) for at, count in (read[0], read[-1]))
    watts = (last_count - first_count) / 1e6 / (ended_at - began_at) * 100 / 40
    assert sum(values) / len(values) == pytest.approx(watts, rel=0.25)
    assert 0 <= min(values) <= max(values) < 10_000, "the wrap-around is no burst"


def test_a_package_that_can_t_be_read_leaves_a_gap(tmp_path: Path) -> None:
    header = f"meter rapl\npackage intel-rapl:0 {RANGE}\npackage intel-rapl:1 {RANGE}"
    text = printed(
        header,
        (10.0, "intel-rapl:0 1000000\nintel-rapl:1 1000000"),
        (11.0, "intel-rapl:0 51000000\nintel-rapl:1 21000000"),
        (12.0, "intel-rapl:0 99000000\nintel-rapl:1 "),
        (13.0, "intel-rapl:0 150000000\nintel-rapl:1 90000000"),
        (14.0, "intel-rapl:0 200000000\nintel-rapl:1 120000000"),
    )
    samples = Power().parse(PROBE, output(tmp_path, text), (10.0, 14.0))
    assert [(sample.time, sample.value) for sample in samples] == [(1.0, 70.0), (4.0, 80.0)]


def test_without_packages_the_meter_says_so(powercap: Path, here: Transport) -> None:
    powercap.mkdir()
    with pytest.raises(RunnerError, match=r"read by rapl: there is no CPU package in .*powercap"):
        try_meter(cells.node(meter("rapl")), here)


@pytest.mark.parametrize(
    ("header", "good", "bad"),
    [
        (
            "meter ipmi",
            "Instantaneous power reading:    200 Watts\nPower reading state is:   activated",
            "Instantaneous power reading:   -200 Watts\nPower reading state is:   activated",
        ),
        ("meter ipmi", "Sensor Reading  : 200 (+/- 0) Watts", "Sensor Reading  : -200 (+/- 0) Watts"),
        ("meter snmp", "x 0.1\n2000", "x 0.1\n-2000"),
        ("meter command", "200", "-200 W"),
        ("meter redfish", "@ 0\n100.0\n@ 1\n100.0", "@ 0\n400.0\n@ 1\n-200.0"),
        ("meter csv", "200.000000", "-200.000000"),
    ],
)
def test_power_below_zero_is_a_gap_with_its_reason_and_is_never_taken_for_more_than_zero(
    header: str, good: str, bad: str, tmp_path: Path
) -> None:
    text = f"{header}\n= 100.0\n{good}\n.\n= 101.0\n{bad}\n.\n= 102.0\n{good}\n.\n"
    kept = output(tmp_path, text)
    samples = Power().parse(PROBE, kept, (100.0, 103.0))
    assert [(sample.time, sample.value) for sample in samples] == [(0.0, 200.0), (2.0, 200.0)]
    gaps = Power().gaps(PROBE, kept, (100.0, 103.0))
    assert gaps == "1 of 3 readings of power of node1 failed: it says -200 W, and no power is below zero"
    with pytest.raises(BadOutput, match=r"none of 1 readings .* is a number of watts: it says -200 W"):
        Power().parse(PROBE, kept, (100.5, 101.5))
    assert Power().now(PROBE, text[: text.rindex("= 102")]) == {}
