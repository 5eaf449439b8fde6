"""Tests that texts are cut and folded by columns. Japanese characters take two columns each."""

from __future__ import annotations

import click
import pytest

from benchbrief.cli.terminal import ASCII, UNICODE, Marks, fold, pad, shorten
from benchbrief.dsl.source import display_width

JAPANESE = "警告: 負荷生成器が1つの測定で遅れ、その後に追いつきました（実行中の全負荷の103 %）。結果は残ります。"
ENGLISH = "warning: bench-out/20261122-205632-brief/reports/brief.pdf could not be made, and the results are kept"


@pytest.mark.parametrize("text", [JAPANESE, ENGLISH])
@pytest.mark.parametrize("width", [30, 41, 80])
def test_lines_fit_a_terminal_and_lose_nothing(text: str, width: int) -> None:
    lines = fold(text, width, 4)
    assert all(display_width(line) <= width or " " not in line.strip() for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert [line.startswith("    ") for line in lines] == [False, *[True] * (len(lines) - 1)]
    if text is JAPANESE:
        assert len(lines) <= 1 + display_width(text) // (width - 8), "lines are filled"
        assert not any(line.strip()[0] in "、。）" or line[-1] == "（" for line in lines)


def test_paths_stay_whole_and_colours_take_no_columns() -> None:
    path = "bench-out/20261122-205632-brief/reports/brief.pdf"
    assert any(path in line for line in fold(ENGLISH, 30, 4))
    painted = f"{click.style('warning:', fg='yellow')} {'word ' * 4}end"
    assert fold(painted, display_width(click.unstyle(painted)), 4) == [painted]
    assert fold(JAPANESE, None, 4) == [JAPANESE]


@pytest.mark.parametrize("marks", [UNICODE, ASCII])
@pytest.mark.parametrize("width", [1, 2, 3, 9, 12, 13])
def test_names_are_cut_and_padded_to_columns(marks: Marks, width: int) -> None:
    for name in ("測定/高速なディスク/読み取り/threads=1", "ramp/disk/rww/threads=1/r1"):
        short = shorten(name, width, marks)
        assert width - 2 <= display_width(short) <= width
        assert display_width(pad(short, width)) == width
