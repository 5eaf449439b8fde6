"""Decodes HdrHistogram's compressed base-64 form (V0 to V2)."""

from __future__ import annotations

import binascii
import struct
import zlib
from collections.abc import Iterator
from itertools import compress
from typing import Any

from benchbrief.model.histogram import US_PER_S, from_counts
from benchbrief.model.measurement import Histogram

_COMPRESSED = {0x1C849309: 0, 0x1C849302: 1, 0x1C849304: 2}
_PLAIN = {0x1C849308: 0, 0x1C849301: 1}
_HEADERS = {0: struct.Struct(">iqqq"), 1: struct.Struct(">iiiqqd")}
_WORDS = {2: "h", 4: "i", 8: "q"}
_HIGHEST_AT = 24
"""The offset of the highest value in a V2 payload. The payload begins with a cookie, and V1's header follows."""
_HIGHEST = 1 << 61
_MOST_BYTES = 16 << 20
"""The most bytes to decompress, which is enough for more than two million counts. An hour's histogram in nanoseconds
needs a tenth of that."""


def decode(payload: str) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield ((lowest value, next bucket's lowest value), count) for each bucket that has a count, in the histogram's
    own unit.

    Raises ValueError if the payload is damaged.
    """
    histogram, counts = _decoded(payload)
    edge = histogram.get_value_from_index
    # Few of a histogram's many thousand buckets hold a count: no Python code looks at the others.
    return (((edge(index), edge(index + 1)), counts[index]) for index in compress(range(len(counts)), counts))


def _decoded(payload: str) -> tuple[Any, Any]:
    from hdrh.codec import HdrCookieException, HdrHistogramSettingsException, HdrLengthException
    from hdrh.histogram import HdrHistogram

    try:
        data = binascii.a2b_base64(payload)
        version = _COMPRESSED.get(_cookie(data) & ~0xF0)
        if version in _HEADERS:
            return _old(data, version)
        try:
            decoded = HdrHistogram.decode(payload)
        except IndexError:
            decoded = HdrHistogram.decode(_with_room(data))
    except (
        IndexError,
        binascii.Error,
        struct.error,
        zlib.error,
        HdrCookieException,
        HdrLengthException,
        HdrHistogramSettingsException,
    ) as error:
        raise ValueError(f"not a compressed histogram: {payload[:40]}...") from error
    return decoded, decoded.counts[:]


def _with_room(data: bytes) -> bytes:
    """Return the same V2 histogram, with the largest possible highest value in its header.

    A histogram that grows while threads record in it may be written with counts above the highest value in its header.
    YCSB's logs have such lines if one operation takes far longer than all earlier ones. The change does not move the
    buckets, which depend only on the lowest value and the number of digits. Raises zlib.error or struct.error.
    """
    plain = bytearray(zlib.decompressobj().decompress(data[8:], _MOST_BYTES))
    struct.pack_into(">q", plain, _HIGHEST_AT, _HIGHEST)
    stream = zlib.compress(bytes(plain))
    return binascii.b2a_base64(data[:4] + struct.pack(">i", len(stream)) + stream, newline=False)


def _cookie(data: bytes) -> int:
    return int(struct.unpack_from(">I", data)[0])


def _old(data: bytes, version: int) -> tuple[Any, Any]:
    """Decode a V0 or V1 histogram. Raises ValueError, struct.error or zlib.error."""
    from hdrh.histogram import HdrHistogram

    (length,) = struct.unpack_from(">i", data, 4)
    if length != len(data) - 8:
        raise ValueError(f"a compressed histogram of {len(data) - 8} bytes that says it has {length}")
    stream = zlib.decompressobj()
    plain = stream.decompress(data[8:], _MOST_BYTES)
    if not stream.eof:
        raise ValueError("a compressed histogram that is cut, or too long")
    cookie, header = _cookie(plain), _HEADERS[version]
    # Later versions set the lowest bit of the word's size to mark another form of it.
    word = (cookie & 0xE0) >> 4
    if _PLAIN.get(cookie & ~0xF0) != version or word not in _WORDS:
        raise ValueError(f"a histogram with the cookie {cookie:#x}, which no version writes")
    fields = header.unpack_from(plain, 4)
    body = plain[4 + header.size :]
    if version == 0:
        digits, lowest, highest, _ = fields
    else:
        size, shift, digits, lowest, highest, _ = fields
        if shift or size != len(body):
            raise ValueError(f"a histogram with {len(body)} bytes of counts that says it has {size}")
    if not (1 <= digits <= 5 and 1 <= lowest < highest < 1 << 62):
        raise ValueError(f"a histogram from {lowest} to {highest} with {digits} digits")
    histogram = HdrHistogram(lowest, highest, digits)
    counts = struct.unpack(f">{len(body) // word}{_WORDS[word]}", body[: len(body) // word * word])
    if any(count < 0 for count in counts) or any(counts[histogram.counts_len :]):
        raise ValueError("a histogram with counts below 0, or beyond its highest value")
    return histogram, counts[: histogram.counts_len]


def decode_hdr(payload: str) -> Histogram:
    """Decode a histogram of microseconds from HdrHistogram's compressed base-64 form. Raises ValueError if the
    histogram is damaged.

    A bucket extends from its lowest value to the next bucket's lowest value, as a recorded value v means [v, v + 1) us.
    """
    return from_counts(decode(payload), US_PER_S)
