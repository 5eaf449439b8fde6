"""Tests the static site: the contents of its pages, what can't get into them, what is rebuilt, and which files it
leaves alone."""

from __future__ import annotations

import errno
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from benchbrief.history import many_runs
from benchbrief.history.many_runs import FolderOfRuns, SiteRun, run_place
from benchbrief.history.series_rows import write_series
from benchbrief.history.shared_store.push_and_pull import Push, push_run
from benchbrief.history.shared_store.shared_store import open_store
from benchbrief.history.site.render_site import MadeSite, render_site
from benchbrief.history.site.site_folder import MANIFEST, open_site
from benchbrief.history.site.site_pages import suite_href
from benchbrief.history.site.site_texts import slug
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.runners.errors import RunnerError
from tests.reports.test_interactive import judged_by_axe, script_answer
from tests.reports.test_narrow_screens import WIDTH, on_phone
from tests.support.longer import one_in
from tests.support.nights import night, nights, plain_tools

HOSTILE = 'x"><script>window.hit=1</script><img src=x onerror=hit()>\n javascript:hit()'
NIGHTS = 14


def make(runs: Path, to: Path, language: str = "en") -> MadeSite:
    return render_site(FolderOfRuns(runs), open_site(to, str(runs)), "Lab <b>1</b>", CATALOGUES[language])


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make nightly runs with a step, one with a hostile spec, and one that lost its plan."""
    folder = tmp_path_factory.mktemp("runs")
    with plain_tools():
        nights(folder, NIGHTS, step_at=8)
        night(folder, 99, lambda _, __: 1000.0, name="run <i> 'x' &", spec=HOSTILE.replace("/", "\u2215"))
        broken = night(folder, 98, lambda _, __: 1000.0, name="broken")
        (broken / "plan.json").unlink()
    return folder


@pytest.fixture(scope="module")
def site(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "site"
    made = make(runs, folder)
    assert made.runs == NIGHTS + 2
    assert [run.id for run in made.broken] == ["broken"]
    return folder


@pytest.fixture(autouse=True)
def _read_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read runs in this process, because other processes take two seconds to start. Only `site` is made with other
    processes."""
    monkeypatch.setattr(many_runs, "_ALONE", 100)


class Page(HTMLParser):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def pages(site: Path) -> list[Path]:
    return sorted(path for path in site.rglob("*.html"))


def test_the_overview_has_suites_the_last_runs_and_those_that_cannot_be_read(site: Path) -> None:
    text = (site / "index.html").read_text()
    assert "<h1>Lab &lt;b&gt;1&lt;/b&gt;</h1>" in text
    assert f"{NIGHTS} runs" in text
    assert re.search(r'runs/broken\.html">broken</a>: .*plan\.json', text), "named, and never hidden"


def test_a_suite_shows_where_a_trend_changed_and_the_last_run_against_the_one_before(site: Path) -> None:
    text = (site / "suites" / "nightly.bench.html").read_text()
    assert re.search(r'<figure class="trend worse">\s*<figcaption><b>FLASH, a, 4 threads</b>', text)
    assert re.search(r"last change −[56]\.\d % on 2023-11-22", text)
    assert "night-0013 against night-0012" in text
    assert "Hardware of night-0013" in text
    assert re.search(r'<b class="letters">A</b>', text)


def test_every_link_leads_to_a_page_of_the_site_and_no_page_asks_for_anything_else(site: Path) -> None:
    for path in pages(site):
        for tag, attrs in Page(path).tags:
            assert tag not in ("img", "iframe", "object", "form", "base"), path
            for name in ("href", "src"):
                if target := attrs.get(name):
                    assert not re.match(r"[a-z]+:|//", target), f"{path}: {target}"
                    assert target.startswith("#") or (path.parent / target).is_file(), f"{path}: {target}"


def test_names_of_runs_and_specs_are_texts_and_never_markup(site: Path) -> None:
    for path in pages(site):
        found = Page(path).tags
        assert [attrs.get("src") for tag, attrs in found if tag == "script"] == [
            "../" * (len(path.relative_to(site).parts) - 1) + f"assets/{name}"
            for name in ("search-index.js", "site.js")
        ], path
        assert not [name for _, attrs in found for name in attrs if name.startswith("on")], path
    index = (site / "assets" / "search-index.js").read_text()
    assert "<" not in index
    rows = json.loads(index.removeprefix("window.benchSite = ").rstrip(";\n"))
    assert "run <i> 'x' &" in [row[0] for row in rows]
    assert all((site / row[1]).is_file() for row in rows)


def test_names_of_files_are_safe_and_differ_for_all_names() -> None:
    names = ["a", "a/b", "a\nb", "../../etc/passwd", "", ".", "javascript:x", "a" * 300, "日本", "日光", "-", "A b"]
    names += [slug("a/b"), slug(slug("a/b"))]
    found = [slug(name) for name in names]
    assert len(set(found)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,80}", each) for each in found), found


def test_no_two_suites_share_a_page() -> None:
    suites = [
        ("a-b", "c", "measured"), ("a", "b-c", "measured"), ("a", "simulated", "measured"), ("a", "", "simulated"),
        ("a-b-c", "", "measured"), ("a", "b", "simulated"),
    ]  # fmt: skip
    assert len({suite_href(suite) for suite in suites}) == len(suites)
    assert suite_href(("a", "", "measured")) == "suites/a.html"


@pytest.mark.long
def test_a_second_time_writes_only_what_is_new(runs: Path, tmp_path: Path) -> None:
    own, made_before = tmp_path / "runs", tmp_path / "site"
    shutil.copytree(runs, own)
    assert make(own, made_before).written > NIGHTS
    again = make(own, made_before)
    assert (again.read, again.written) == (0, 0)
    with (own / "night-0003" / "journal.jsonl").open("a") as journal:
        journal.write(json.dumps({"type": "remark", "at": 1.0, "severity": "warning", "text": "x"}) + "\n")
    assert make(own, made_before).read == 1
    shutil.rmtree(own / "night-0000")
    (made_before / "mine.txt").write_text("kept")
    page = made_before / "runs" / "night-0000.html"
    data = made_before / "data" / "night-0000.json"
    page.write_text("somebody's words")
    less = make(own, made_before)
    assert less.runs == NIGHTS + 1
    assert less.kept == ("runs/night-0000.html",)
    assert page.read_text() == "somebody's words"
    assert not data.exists()
    assert (made_before / "mine.txt").read_text() == "kept"


@pytest.mark.long
def test_a_japanese_site_has_japanese_words(runs: Path, tmp_path: Path) -> None:
    make(runs, tmp_path / "site", "ja")
    text = (tmp_path / "site" / "suites" / "nightly.bench.html").read_text()
    assert '<html lang="ja">' in text
    assert "推移" in text
    assert "最後の変化" in text


def test_a_making_that_was_cut_off_goes_on_with_what_it_has(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = iter(range(9))

    def full(path: Path, content: bytes) -> int:
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")
        with path.open("wb") as file:
            return file.write(content)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(ReportError, match="No space left on device"):
            make(runs, tmp_path / "site")
    made = make(runs, tmp_path / "site")
    assert made.read == NIGHTS + 2 - 9
    assert not [path for path in (tmp_path / "site").rglob(".*") if path.name != MANIFEST]


def test_a_folder_that_is_no_site_is_refused_and_left_as_it_is(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(ReportError, match="is not empty, and is no site"):
        make(runs, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]
    with pytest.raises(ReportError, match="is a file, and a site is a folder"):
        make(runs, tmp_path / "letter.txt")
    with pytest.raises(ReportError, match=r"is inside .*, whose runs the site shows"):
        make(runs, runs / "site")
    assert not (runs / "site").exists()


def test_a_foreign_file_in_the_place_of_a_page_is_not_overwritten(runs: Path, site: Path, tmp_path: Path) -> None:
    shutil.copytree(site, tmp_path / "site")
    manifest = json.loads((tmp_path / "site" / MANIFEST).read_text())
    manifest["files"].pop("hardware.html")
    (tmp_path / "site" / MANIFEST).write_text(json.dumps(manifest))
    (tmp_path / "site" / "hardware.html").write_text("mine")
    with pytest.raises(ReportError, match="is not of this site, and would be overwritten"):
        make(runs, tmp_path / "site")
    assert (tmp_path / "site" / "hardware.html").read_text() == "mine"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "benchbrief-site", "version": 1, "files": {"../x": ""}}'])
def test_a_manifest_that_is_none_is_refused(runs: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(ReportError, match=r"can't be read|names files outside"):
        make(runs, tmp_path)


def test_an_empty_folder_gives_a_site_that_says_so_and_a_missing_one_an_error(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    assert make(tmp_path / "none", tmp_path / "site").runs == 0
    assert "There are no runs here yet." in (tmp_path / "site" / "index.html").read_text()
    with pytest.raises(RunnerError, match="is no folder"):
        make(tmp_path / "gone", tmp_path / "other")


def whole(path: Path, site: Path) -> str:
    """Return the page with its style sheets and scripts written into it."""
    text = path.read_text()
    assets = site / "assets"
    text = re.sub(
        r'<link rel="stylesheet"[^>]*>', lambda _: f"<style>{(assets / 'site.css').read_text()}</style>", text
    )
    text = re.sub(r"<script src[^>]*></script>", "", text)
    scripts = "".join(f"<script>{(assets / name).read_text()}</script>" for name in ("search-index.js", "site.js"))
    return text.replace("</body>", f"{scripts}</body>")


SHOWN = (
    "index.html",
    "runs.html",
    "hardware.html",
    "suites/nightly.bench.html",
    "runs/night-0013.html",
    "runs/broken.html",
)


@pytest.mark.long
def test_no_page_scrolls_sideways_on_a_phone(site: Path, tmp_path: Path) -> None:
    for name, shown in zip(SHOWN, on_phone([whole(site / name, site) for name in SHOWN], tmp_path), strict=True):
        assert shown["width"] == WIDTH, name
        assert shown["beyond"] == [], name
        assert shown["page"] <= WIDTH, name


@pytest.mark.parametrize("name", one_in(len(SHOWN), SHOWN))
def test_axe_finds_nothing_against_wcag_a_and_aa(name: str, site: Path, tmp_path: Path) -> None:
    found = judged_by_axe(whole(site / name, site), tmp_path)
    assert found["violations"] == []
    assert found["passes"] > 12


def test_the_search_finds_by_parts_of_words_and_shows_texts_only(site: Path, tmp_path: Path) -> None:
    script = """
      const field = document.querySelector("#search");
      const ask = (text) => { field.value = text; field.dispatchEvent(new Event("input")); };
      const shown = (one) => [one.textContent, one.getAttribute("href")];
      const links = () => [...document.querySelectorAll("#found a")].map(shown);
      ask("night-0013"); const one = links();
      ask("run <i>"); const hostile = links();
      ask("nowhere at all"); const none = document.querySelector("#found-count").textContent;
      report({ one, hostile, none, hit: window.hit ?? null });
    """
    found = script_answer(whole(site / "index.html", site), script, tmp_path)
    assert found["one"] == [["night-0013", "runs/night-0013.html"]]
    assert [name for name, _ in found["hostile"]] == ["run <i> 'x' &"]
    assert found["none"] == "Nothing found"
    assert found["hit"] is None


def test_a_site_from_a_shared_store_shows_the_same_values_and_fetches_briefs(
    runs: Path, site: Path, tmp_path: Path
) -> None:
    store = open_store(f"file://{tmp_path}/store")
    for name in ("night-0001", "night-0002"):
        push_run(runs / name, store, Push(tags=("nightly",), more={"series": write_series}))
    place = run_place(f"file://{tmp_path}/store")
    made = render_site(place, open_site(tmp_path / "site", place.name), "Store", CATALOGUES["en"])
    assert (made.runs, made.read, made.broken) == (2, 2, ())
    kept, other = (
        SiteRun.model_validate_json((each / "data" / "night-0002.json").read_bytes())
        for each in (tmp_path / "site", site)
    )
    assert kept.values == other.values
    assert kept.tags == ("nightly",)
    assert (kept.hardware, kept.workloads) == (other.hardware, other.workloads)
    assert kept.hardware["flash"] == "FLASH", "labels come with the series"
    again = render_site(place, open_site(tmp_path / "site", place.name), "Store", CATALOGUES["en"])
    assert (again.read, again.written) == (0, 0)
