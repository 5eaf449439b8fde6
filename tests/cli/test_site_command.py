"""Tests `bench site` on the command line: its output and its refusals."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.bench import Bench, fresh_bench
from tests.support.ports import free_port
from tests.support.s3_servers import BUCKET, gofakes3, make_bucket, settings

SPEC = """
hardware one { hosts = "one.lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload a "Half & half" from ycsb.a { records = 100k }
experiment ramp { hardware = one  workloads = a  threads = 4  measure = 10 s  repeats = 2 }
report brief "Nightly" { table { rows = workload  columns = throughput by hardware } }
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with fresh_bench(tmp_path_factory.mktemp("site")) as bench:
        bench.spec(SPEC)
        assert bench("run", "brief.bench", "--simulate", "--quiet").code == 0
        yield bench


def test_a_site_has_the_runs_with_their_briefs_and_says_what_was_made(bench: Bench) -> None:
    done = bench("site", "--to", "made", "--title", "Lab")
    assert done.code == 0, done.text
    assert "1 runs, 1 of them read" in done.out
    (run,) = bench.run_dirs()
    page = (bench.folder / "made" / "runs" / f"{run.name}.html").read_text()
    assert "Nightly" in page
    assert "queueing model" in page, "a simulated run is named as one"
    assert list((bench.folder / "made" / "briefs" / run.name).glob("*.pdf"))
    again = bench("site", "--to", "made", "--title", "Lab", "--json").json
    assert (again["runs"], again["read"], again["written"], again["broken"]) == (1, 0, 0, [])


@pytest.mark.parametrize("changed", ["brief", "disclosure"])
def test_a_brief_that_was_changed_is_not_shown_and_no_page_leads_to_it(bench: Bench, changed: str) -> None:
    (run,) = bench.run_dirs()
    brief, other = sorted((run / "reports").glob("*.html"), key=lambda page: len(page.name))
    if changed == "disclosure":
        brief, other = other, brief
    whole = brief.read_bytes()
    brief.write_bytes(whole + b"<script>alert(1)</script>")
    try:
        assert bench("site", "--to", changed).code == 0
        page = (bench.folder / changed / "runs" / f"{run.name}.html").read_text()
        assert f"reports/{brief.name} is not the file that the run&#39;s journal names" in page
        assert f"reports/{other.name} is not shown either" in page
        shown = {path.suffix for path in (bench.folder / changed / "briefs" / run.name).iterdir()}
        assert shown == {".pdf"}, "the pair that was not changed"
    finally:
        brief.write_bytes(whole)


@pytest.mark.long
def test_a_site_of_a_store_in_s3_is_that_of_the_folder(bench: Bench) -> None:
    (run,) = bench.run_dirs()
    place = f"s3://{BUCKET}/nightly"
    with gofakes3() as endpoint:
        make_bucket(endpoint)
        env = settings(endpoint)
        assert bench("push", "simulated", "--to", place, env=env).code == 0
        made = bench("site", "--from", place, "--to", "from-s3", "--json", env=env).json
        assert (made["runs"], made["read"], made["broken"], made["problems"]) == (1, 1, [], [])
        again = bench("site", "--from", place, "--to", "from-s3", "--json", env=env).json
        assert (again["read"], again["written"]) == (0, 0)
    assert bench("site", "--to", "from-folder").code == 0
    name = f"runs/{run.name}.html"
    pages = [(bench.folder / folder / name).read_text() for folder in ("from-s3", "from-folder")]
    values = [page[page.index("<h2>Values") :] for page in pages]
    assert values[0] == values[1]
    assert "Half &amp; half" in values[0]
    shown, made_here = (
        {path.name: path.read_bytes() for path in folder.glob("*.pdf")}
        for folder in (bench.folder / "from-s3" / "briefs" / run.name, run / "reports")
    )
    assert len(shown) == 2, "the brief and its disclosure"
    assert shown == made_here


@pytest.mark.long
def test_a_store_that_is_away_is_one_clear_error_and_makes_no_folder(bench: Bench) -> None:
    env = settings(f"http://127.0.0.1:{free_port()}")
    done = bench("site", "--from", f"s3://{BUCKET}/nightly", "--to", "away", env=env)
    assert done.code not in (0, 1)
    assert "Traceback" not in done.err
    assert BUCKET in done.err
    assert not (bench.folder / "away").exists()


def test_a_wrong_file_of_verdicts_is_named_before_a_folder_is_made(bench: Bench) -> None:
    (bench.folder / "wrong.toml").write_text("[[change]]\nverdict = 'maybe'\n")
    done = bench("site", "--to", "judged", "--verdicts", "wrong.toml")
    assert done.code == 2
    assert "wrong.toml: [[change]] number 1" in done.err
    assert not (bench.folder / "judged").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--from", "nowhere", "--to", "x"), "there is no folder nowhere"),
        (("--from", "ftp://a/b", "--to", "x"), "ftp"),
        (("--to", "."), "is not empty, and is no site"),
        (("--to", "bench-out/site"), "whose runs the site shows"),
        (("--to", "/dev/null/site"), "can't be written"),
    ],
)
def test_what_can_not_be_made_is_one_clear_error(bench: Bench, words: tuple[str, ...], message: str) -> None:
    done = bench("site", *words)
    assert done.code not in (0, 1)
    assert message in done.err
    assert "Traceback" not in done.err
    assert not (bench.folder / "x").exists()
