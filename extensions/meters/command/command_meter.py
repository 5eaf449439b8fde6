"""A power meter that runs the user's own command and reads the number of watts that it prints."""

from __future__ import annotations

from benchbrief.extend.common import Node, quote
from benchbrief.extend.meters import ANSWER_S, Meter, MeterPoint, MeterReader, given


class CommandMeter(Meter):
    hints = (("", "it has to print one number, the watts, and nothing else"),)

    def reader(self, points: tuple[MeterPoint, ...], node: Node) -> MeterReader:
        """Return a reader that runs the command of each point. After a command that failed, it adds a line with the
        exit code."""
        ran = "</dev/null; c=$?; echo; [ $c = 0 ] || echo code $c"
        reads = (f"timeout {ANSWER_S} sh -c {quote(given(each.meter, 'command'))} {ran}" for each in points)
        return MeterReader("echo meter command", tuple(reads), {"BENCH_HOST": node.host.name})
