"""Runs as a user names them, opened and judged: what `bench compare` and `bb.compare` share."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from benchbrief.comparing.judged_contenders import Judged, judge
from benchbrief.comparing.named_contenders import NotComparable, Reference, contender, resolve

if TYPE_CHECKING:
    from benchbrief.results.compare.contender import Contender

MOST = 26
"""Contenders, as each is called by a letter."""


def compare_named(
    named: Sequence[str],
    out: Path,
    metrics: Sequence[str] = (),
    threshold: float = 0.0,
    *,
    mixed: bool = False,
    other_load: bool = False,
) -> Judged:
    """Judge each run by the first one. `mixed` allows contenders of different origin, `other_load` judges also points
    of another load. Raises RunnerError, NotComparable."""
    if not 2 <= len(named) <= MOST:
        raise NotComparable(
            f"a comparison takes 2 to {MOST} contenders, and here is {len(named)}", "bench compare last~1 last"
        )
    references = [resolve(each, out) for each in named]
    _refuse_same(references)
    with ExitStack() as opened:
        contenders = [contender(reference, opened) for reference in references]
        _refuse_mixture(contenders, mixed)
        return judge(references, contenders, metrics, threshold, other_load=other_load)


def _refuse_same(references: list[Reference]) -> None:
    first = references[0]
    for place, second in enumerate(references):
        if bool(first.hardware) != bool(second.hardware):
            whole = second if first.hardware else first
            hint = f"name it on both sides, as in `{whole.text}:{first.hardware or second.hardware}`, or on none"
            raise NotComparable("one side is a hardware group, the other a whole run", hint)
        for other in references[:place]:
            if (other.run_dir.resolve(), other.hardware) == (second.run_dir.resolve(), second.hardware):
                hint = "name another run (`bench status --all` lists them), or hardware: `last:hdd last:nvme`"
                raise NotComparable(f"{other.text} and {second.text} are the same run, {second.run_dir.name}", hint)


def _refuse_mixture(contenders: list[Contender], mixed: bool) -> None:
    first = contenders[0]
    for second in contenders:
        if first.origin != second.origin and not mixed:
            hint = (
                "numbers of different origin differ for reasons of their own; say --mixed to compare them all the same"
            )
            raise NotComparable(f"{first.label} was {first.origin}, and {second.label} {second.origin}", hint)
