"""Tests that no input causes a traceback, takes more than two seconds of CPU time, or needs more than 300 MiB.

The inputs are the same in each run. A separate process checks and formats them, and its memory is measured.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.support import generated_specs
from tests.support.longer import longer

ROOT = Path(__file__).parents[2]
SPECS = [*sorted((ROOT / "examples").rglob("*.bench")), *sorted((ROOT / "tests" / "compiler").rglob("*.bench"))]
SECONDS, MEBIBYTES = 2, 300
PIECES = [
    b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b'"', b'"""', b"{", b"}", b"[" * 100, b"]", b"(" * 5000,
    b"#", b"9" * 400, b"1e999", b" x ", b"..", b"1..1000000000", b"a." * 200, b"- " * 3000, b"x" * 50_000,
    b"\n" * 20_000, b"each workload {", b" from ", b" over ", b"local", b"[1-9999]", "日本".encode(),
]  # fmt: skip


def _drawn(strategy: st.SearchStrategy[str], count: int) -> list[bytes]:
    """Draw examples, the same ones each time."""
    texts: list[bytes] = []

    @settings(
        max_examples=count, derandomize=True, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(strategy)
    def keep(text: str) -> None:
        texts.append(text.encode("utf-8", "surrogatepass"))

    keep()
    return texts


def _mutated(data: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """Return the data with up to four places cut, doubled, flipped, or filled with something else."""
    for _ in range(chance.randint(1, 4)):
        at, length = chance.randrange(len(data) + 1), chance.choice([0, 1, 5, 40, 400])
        before, here, after = data[:at], data[at : at + length], data[at + length :]
        match chance.randrange(5):
            case 0:
                here = b""
            case 1:
                here *= chance.choice([2, 3, 30])
            case 2:
                here = bytes(byte ^ 1 << chance.randrange(8) for byte in here[:3]) + here[3:]
            case 3:
                other = chance.choice(others)
                start = chance.randrange(len(other) + 1)
                here = other[start : start + chance.choice([10, 100, 1000])]
            case _:
                here = chance.choice(PIECES)
        data = before + here + after
    return data


def by_the_grammar(count: int) -> list[bytes]:
    return _drawn(generated_specs.texts(), count)


def by_the_tables(count: int) -> list[bytes]:
    return _drawn(generated_specs.specs(), count)


def generated_and_mutated(count: int) -> list[bytes]:
    chance = random.Random(1)  # noqa: S311  # the same each time
    right = _drawn(generated_specs.specs(), count // 2)
    return [_mutated(chance.choice(right), right, chance) for _ in range(count)]


def written_and_mutated(count: int) -> list[bytes]:
    chance = random.Random(2)  # noqa: S311  # the same each time
    written = [path.read_bytes() for path in SPECS]
    return [_mutated(chance.choice(written), written, chance) for _ in range(count)]


@pytest.mark.parametrize("share", [4, *longer(1)])
@pytest.mark.parametrize(
    ("make", "count"),
    [*longer((by_the_grammar, 32), (by_the_tables, 32)), (generated_and_mutated, 80), (written_and_mutated, 120)],
)
def test_any_input_is_checked_and_formatted_soon_in_little_memory(
    make: Callable[[int], list[bytes]], count: int, share: int, tmp_path: Path
) -> None:
    inputs = make(count // share)
    for number, data in enumerate(inputs):
        (tmp_path / f"{number:03}.bench").write_bytes(data)
    program = [sys.executable, "-m", "tests.support.checked_in_bulk", str(tmp_path)]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) == len(inputs) >= 8
    assert [each for each in found if each["traceback"]] == []
    assert [each for each in found if each["seconds"] > SECONDS] == []
    assert found[-1]["grown"] < MEBIBYTES
