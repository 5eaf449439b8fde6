"""Makes the brief of each published example on this machine, as the example's README describes, with real engines and
tools.

Only times and the numbers of points and workloads are reduced, and only where the profile sets them. The hardware and
everything computed are as in the example.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pypdf import PdfReader

from tests.support import paging
from tests.support.bench import Bench, fresh_bench
from tests.support.plans import compile_spec
from tests.support.tools import REPOSITORY, built_tool, system_tool

EXAMPLES = REPOSITORY / "examples"
DATA = ("/var/tmp/benchbrief", "/dev/shm/benchbrief")
MONGO_STAND_IN = "Stand-in server, not MongoDB"


@dataclass(frozen=True)
class Example:
    name: str
    cells: int
    """The number of cells, except those of a search, because a search ends at its knee."""
    pages: range
    cuts: tuple[tuple[str, str], ...]
    """Texts of the profile, each with its replacement in the test."""
    says: tuple[str, ...]
    """Texts that the brief must contain, as regular expressions."""
    numbers: int = 21
    """How many numbers the brief's texts and tables must have at least."""
    seconds: int = 165
    """The longest time that its smoke profile may take, by a generous estimate."""
    may_miss: tuple[str, ...] = ()
    """Places whose numbers may be missing. A number that is missing elsewhere is a failure."""


SMOKES = (
    Example(
        "compression",
        cells=12,
        pages=range(2, 4),
        cuts=(("threads = 2", "threads = 1  workloads = [rr, rrw]"),),
        says=(
            r"less ?space than ?uncompressed, with ?Zstandard",
            r"How much a codec costs: no ?finding in 3 s",
            r"values of 100 B and 1 kB",
        ),
        numbers=9,  # of the headline and the one table; its figures have the others
    ),
    Example(
        "cluster_shrink",
        cells=4,
        pages=range(2, 4),
        cuts=(
            ("warm_up = 4 s", "warm_up = 0 s"),
            ("measure = 5 s", "measure = 1 s"),
            ("threads = [96]", "threads = [96]  workloads = [a, d]"),
        ),
        says=(
            r"Operations per second on ?RAM ?disk and ?Local ?disk",
            r"a thread made \d[\d,]* to ?\d[\d,]* ?operations",
            r"A rehearsal on one ?machine, with a RAM ?disk in place of ?SSDs",
            MONGO_STAND_IN,
        ),
        numbers=5,  # of two workloads and no nodes; its figure has the others
    ),
    Example(
        "flash_cache",
        cells=2,
        pages=range(2, 5),
        # One operation in twenty is an update: on a busy machine, a phase of one second may have none.
        cuts=(("phases = 6 x 3 s", "phases = 3 x 2 s  workloads = [b]"),),
        says=(
            r"A rehearsal with a ?RAM ?disk in place of ?a ?cache",
            r"a RAM disk in place of a cache",
            MONGO_STAND_IN,
        ),
        numbers=7,  # of one workload; its figures have the others
    ),
    Example(
        "power_efficiency",
        cells=4,
        pages=range(2, 5),
        cuts=(
            ("threads    = [1, 4]", "threads = [1]  workloads = [d, f]"),
            ("warm_up    = 1 s", "warm_up = 0 s"),
            ("measure    = 4 s", "measure = 1 s"),
        ),
        says=(
            r"ahead at \d of 2 points",
            r"Recent statistics \(D\) [\d,]+",
            r"a folder in this machine's memory",
            MONGO_STAND_IN,
        ),
        numbers=12,
        seconds=180,
    ),
    Example(
        "price_performance",
        cells=8,
        pages=range(2, 4),
        cuts=(
            ("target  = [250 ops/s, 10k ops/s]", "target  = [200 ops/s]"),
            ("warm_up = 5 s", "warm_up = 0 s"),
            ("measure = 8 s", "measure = 1 s"),
            ("measure = 2 s", "measure = 1 s"),
            # So many short runs of YCSB are starts of Java; the other examples run it.
            ("override database", "override client load { tool = go_ycsb }\n  override database"),
        ),
        says=(
            r"R6g stand-in costs 20\s?% less an hour",
            r"A rehearsal on one ?machine, priced as two",
            MONGO_STAND_IN,
        ),
        numbers=2,  # its figures have most of them
        seconds=410,  # YCSB is warmed up for each, and the best values are measured again
    ),
    Example(
        "rocksdb_ssds",
        cells=6,
        pages=range(2, 4),
        cuts=(
            ("threads = [8, 32, 96]", "threads = [96]  workloads = [rww, rr]"),
            ("measure = 2 s", "measure = 1 s  timeout = 5 min"),  # opening a database may wait long for a busy disk
        ),
        says=(
            r"差は ?同じ ?ディスク ?での ?ばらつき",
            r"同一ディスク上の ?3フォルダーを",
            r"試 ?行 ?用",
        ),
        numbers=2,  # its figures have most of them
    ),
)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    for tool in ("db_bench", "pdftotext"):
        system_tool(tool)
    for tool in ("ycsb", "go-ycsb", "mongo-stand-in"):
        built_tool(tool)
    with fresh_bench(tmp_path, paper=True) as fresh:
        yield fresh


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Yield the folders for data in the profiles, each with its replacement for this test."""
    own = {folder: f"{folder}-{tmp_path.parent.name}-{tmp_path.name}" for folder in DATA}
    yield own
    for folder in own.values():
        shutil.rmtree(folder, ignore_errors=True)


def cut_short(example: Example, folders: dict[str, str], into: Path) -> Path:
    """Make a copy of the example's folder, and replace the profile's values in it."""
    shutil.copytree(EXAMPLES / example.name, into)
    spec = into / f"{example.name}.bench"
    before, profile, smoke = spec.read_text(encoding="utf-8").partition("profile smoke")
    for more, less in example.cuts:
        assert more in smoke
        smoke = smoke.replace(more, less)
    for folder, own in folders.items():
        smoke = smoke.replace(f'"{folder}', f'"{own}')
    spec.write_text(before + profile + smoke, encoding="utf-8")
    return spec


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("example", SMOKES, ids=lambda example: example.name)
def test_the_smoke_profile_ends_in_a_whole_brief(example: Example, bench: Bench, folders: dict[str, str]) -> None:
    spec = cut_short(example, folders, bench.folder / "examples" / example.name)
    if "knee(" in spec.read_text(encoding="utf-8"):
        bench.at_full_speed()
    ended = bench("run", spec.relative_to(bench.folder), "--profile", "smoke", "--quiet", timeout=560)
    assert ended.code == 0, ended.text
    verdicts = bench.verdicts()
    assert {status for status, _ in verdicts.values()} == {"ok"}
    assert len([cell for cell in verdicts if not cell.startswith("find_threads/")]) == example.cells

    pdf, _ = sorted((bench.run_dir / "reports").glob("*.pdf"), key=lambda file: "disclosure" in file.stem)
    assert len(PdfReader(pdf).pages) in example.pages
    assert [share for share in paging.blank_shares(pdf)[:-1] if share > 0.5] == []
    assert [mark for mark in paging.marks(pdf) if mark.page != mark.note_page] == []
    shown = subprocess.run(["pdftotext", "-raw", pdf, "-"], capture_output=True, check=True, timeout=60).stdout.decode()
    text = re.sub(r"\s+", " ", shown)
    for said in example.says:
        assert re.search(said, text), (said, text)

    verified = bench("verify", pdf)
    assert verified.code == 0, verified.text
    numbers = json.loads(pdf.with_suffix(".json").read_text(encoding="utf-8"))["numbers"]
    missing = {number["place"] for number in numbers if "–" in number["shown"].split(" ")}
    assert len(numbers) >= example.numbers
    assert missing <= set(example.may_miss)


def test_every_folder_of_the_examples_is_tried_out() -> None:
    assert {path.parent.name for path in EXAMPLES.glob("*/*.bench")} == {example.name for example in SMOKES}


@pytest.mark.parametrize("example", SMOKES, ids=lambda example: example.name)
def test_the_smoke_profile_takes_some_minutes(example: Example) -> None:
    plan = compile_spec(EXAMPLES / example.name / f"{example.name}.bench", profile="smoke")
    assert plan.estimate_s <= example.seconds
