"""Draws the pages of the examples' briefs: those with published figures, and those of a smoke profile's run.

    python -m tools.example_pages                          all: runs each smoke profile here (two minutes each)
    python -m tools.example_pages NAME...                  those of the named folders in examples/
    python -m tools.example_pages NAME --smoke RUN         with the folder of an earlier smoke run, not a new run
    python -m tools.example_pages [NAME...] --published    only those of the published figures, without a run

The pages become examples/NAME/pages/published-1.png, smoke-1.png and so on, in place of earlier ones. Nothing else
is changed. A run with failed measurements changes nothing.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from PIL import Image

from tools.pictures import REPOSITORY, save

EXAMPLES = REPOSITORY / "examples"
_DPI = 80
_SHOWN = 4
"""The exit code if an `expect` does not hold. The pages are still drawn, since the brief shows that it does not hold.
"""


class NotDrawnError(Exception):
    pass


def names() -> list[str]:
    return sorted(path.parent.name for path in EXAMPLES.glob("*/*.bench") if path.stem == path.parent.name)


def bench(*words: str | Path) -> None:
    done = subprocess.run([Path(sys.executable).with_name("bench"), *words], check=False)
    if done.returncode not in (0, _SHOWN):
        raise NotDrawnError(f"`bench {' '.join(map(str, words))}` ended with {done.returncode}")


def draw(name: str, kind: str, run: str | Path, runs: Path) -> None:
    """Make the brief of a run by the example's current spec, and draw the brief's pages."""
    folder = EXAMPLES / name / "pages"
    with tempfile.TemporaryDirectory() as made:
        spec = EXAMPLES / name / f"{name}.bench"
        bench("report", run, "--out", runs, "--spec", spec, "--format", "pdf", "--to", made)
        (brief,) = (path for path in Path(made).glob("*.pdf") if "disclosure" not in path.stem)
        pages = pages_of(brief)
    folder.mkdir(exist_ok=True)
    for old in folder.glob(f"{kind}-*.png"):
        old.unlink()
    for number, page in enumerate(pages, 1):
        save(page, folder / f"{kind}-{number}.png", colours=256)
    print(f"examples/{name}/pages: {len(pages)} of {kind}", flush=True)


def pages_of(pdf: Path) -> list[Image.Image]:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["pdftoppm", "-r", str(_DPI), "-png", pdf, f"{folder}/page"], check=True, timeout=100)
        contents = [path.read_bytes() for path in sorted(Path(folder).glob("page-*.png"))]
    return [Image.open(BytesIO(content)).convert("RGB") for content in contents]


def draw_example(name: str, smoke: Path | None, *, published_only: bool) -> None:
    spec, table = EXAMPLES / name / f"{name}.bench", EXAMPLES / name / "published.csv"
    with tempfile.TemporaryDirectory() as folder:
        runs = Path(folder)
        if not published_only:
            if smoke is None:
                bench("run", spec, "--profile", "smoke", "--out", runs, "--quiet")
                (smoke,) = runs.glob(f"*-{name}")
            draw(name, "smoke", smoke, runs)
        if table.exists():
            bench("import", "table", table, "--spec", spec, "--out", runs)
            draw(name, "published", "imported", runs)


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*names(), []], metavar="NAME")
    parser.add_argument("--smoke", type=Path, metavar="RUN")
    parser.add_argument("--published", action="store_true")
    given = parser.parse_args(words)
    if given.smoke and len(given.names) != 1:
        parser.error("--smoke is the run of one example: name it")
    failed = False
    for name in given.names or names():
        try:
            draw_example(name, given.smoke, published_only=given.published)
        except NotDrawnError as error:
            failed = True
            print(f"{name}: {error}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
