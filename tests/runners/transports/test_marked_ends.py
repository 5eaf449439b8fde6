"""Tests that the end of a command's output is found by its mark, however the output arrives."""

from __future__ import annotations

import pytest

from benchbrief.runners.transports.transport_base import MarkedEnd

MARK = "\n5f0c (\\d+)\n"
CONTENT = b"a\n5f0c 7\nb\n5f0c x\n" + bytes(range(256)) * 2 + b"\n5f0c "


@pytest.mark.parametrize("size", [1, 2, 5, 199, 200, 201, 10_000])
def test_a_mark_is_found_at_the_end_however_it_is_split_over_pieces_and_nowhere_before(size: int) -> None:
    stream = CONTENT + b"\n5f0c 13\n"
    end, given = MarkedEnd(MARK), b""
    for at in range(0, len(stream), size):
        given += end.settled(stream[at : at + size])
    assert end.code() == 13
    assert given + end.rest() == CONTENT


def test_a_stream_without_its_mark_has_no_code_and_is_given_whole() -> None:
    end = MarkedEnd(MARK)
    given = end.settled(CONTENT)
    assert end.code() is None
    assert given + end.rest() == CONTENT
