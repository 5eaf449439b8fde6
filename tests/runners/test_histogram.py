"""Tests merging histograms and reading percentiles from them, compared with exact percentiles of the same data."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections import Counter
from itertools import pairwise

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from benchbrief.model.histogram import US_PER_S, from_counts, mean, merge, percentile, scaled
from benchbrief.model.measurement import Bucket, Histogram
from benchbrief.runners.drivers.hdr_codec import decode_hdr

# Bucket limits of RocksDB's histogram, in microseconds.
SHORT = (0, 1, 2, 3, 4, 6, 10, 15, 22, 34, 51, 76, 110, 170, 250, 380, 580, 870)
LIMITS = (*SHORT, 1300, 1900, 2900, 4400, 6600, 9900, 14000)

latencies = st.lists(st.integers(1, 14_000), min_size=1, max_size=300)
percents = st.floats(0.1, 100)


def coarse(values: list[int]) -> Histogram:
    """Return a histogram as db_bench would print it, with counts in (lo, hi] microseconds."""
    counts: Counter[tuple[int, int]] = Counter()
    for value in values:
        hi = next(i for i, limit in enumerate(LIMITS) if value <= limit)
        counts[LIMITS[hi - 1], LIMITS[hi]] += 1
    return from_counts(counts.items(), US_PER_S)


def hdr(values: list[int]) -> Histogram:
    recorder = HdrHistogram(1, 3_600_000_000, 3)
    for value in values:
        recorder.record_value(value)
    return decode_hdr(recorder.encode().decode())


def exact(values: list[int], percent: float) -> float:
    """Return the nearest-rank percentile, in seconds."""
    return sorted(values)[max(1, math.ceil(percent / 100 * len(values))) - 1] / 1e6


def width_at(histogram: Histogram, value: float) -> float:
    return next(b.hi - b.lo for b in histogram.buckets if b.lo <= value <= b.hi)


@given(latencies, percents)
def test_a_percentile_is_within_one_bucket_of_the_exact_one(values: list[int], percent: float) -> None:
    for histogram in (coarse(values), hdr(values)):
        found = percentile(histogram, percent)
        wanted = exact(values, percent)
        assert abs(found - wanted) <= width_at(histogram, wanted) + 1e-12


@given(latencies, latencies, percents)
def test_the_percentile_of_merged_histograms_is_that_of_all_the_data(
    some: list[int], others: list[int], percent: float
) -> None:
    for make in (coarse, hdr):
        assert merge([make(some), make(others)]) == make(some + others)
        wanted = exact(some + others, percent)
        found = percentile(merge([make(some), make(others)]), percent)
        assert abs(found - wanted) <= width_at(make(some + others), wanted) + 1e-12


@given(latencies)
def test_percentiles_never_fall_as_the_percentage_rises(values: list[int]) -> None:
    read = [percentile(coarse(values), percent) for percent in (0, 1, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100)]
    assert read == sorted(read)


@given(latencies)
def test_counts_beyond_the_highest_value_of_the_header_are_read(values: list[int]) -> None:
    """A histogram has such counts if it grew while other threads recorded latencies in it."""
    recorder = HdrHistogram(1, 3_600_000_000, 3)
    for value in (*values, 155_000):
        recorder.record_value(value)
    packed = base64.b64decode(recorder.encode())
    plain = bytearray(zlib.decompress(packed[8:]))
    struct.pack_into(">q", plain, 24, 100_000)
    stream = zlib.compress(bytes(plain))
    grown = base64.b64encode(packed[:4] + struct.pack(">i", len(stream)) + stream).decode()
    with pytest.raises(IndexError):
        HdrHistogram.decode(grown)
    assert decode_hdr(grown) == hdr([*values, 155_000])


@given(latencies)
def test_a_decoded_hdr_histogram_keeps_count_and_mean(values: list[int]) -> None:
    histogram = hdr(values)
    assert histogram.count == len(values)
    assert mean(histogram) == pytest.approx(sum(values) / len(values) / 1e6, abs=1e-6, rel=1e-3)


def test_the_percentile_of_merged_histograms_is_not_the_mean_of_percentiles() -> None:
    fast = coarse([1] * 900)
    slow = coarse([9000] * 100)
    average = (percentile(fast, 95) + percentile(slow, 95)) / 2
    merged = percentile(merge([fast, slow]), 95)
    assert merged > 0.0066
    assert average < 0.006


def test_interpolation_inside_a_bucket_is_rocksdb_s() -> None:
    # Printed by db_bench 7.8.3: "Percentiles: P50: 3.68 P75: 4.65 P99: 9.49" for these buckets and 200,000 operations.
    printed = ((1, 2, 523), (2, 3, 35863), (3, 4, 93919), (4, 6, 60860), (6, 10, 7829), (10, 13381, 1006))
    histogram = from_counts((((lo, hi), count) for lo, hi, count in printed), US_PER_S)
    assert [round(percentile(histogram, p) * 1e6, 2) for p in (50, 75, 99)] == [3.68, 4.65, 9.49]


def test_merging_nothing_gives_an_empty_histogram_without_percentiles() -> None:
    empty = merge([])
    assert empty == Histogram(())
    with pytest.raises(ValueError, match="no percentiles"):
        percentile(empty, 99)
    with pytest.raises(ValueError, match="no mean"):
        mean(empty)


def test_overlapping_buckets_of_different_tools_do_not_merge() -> None:
    with pytest.raises(ValueError, match="overlap"):
        merge([Histogram((Bucket(0.001, 0.003, 1),)), Histogram((Bucket(0.002, 0.004, 1),))])


@pytest.mark.parametrize("percent", [-1, 100.1])
def test_a_percentage_outside_0_to_100_is_refused(percent: float) -> None:
    with pytest.raises(ValueError, match="from 0 to 100"):
        percentile(coarse([1]), percent)


@pytest.mark.parametrize("payload", ["", "x", "HISTFAAA", "HISTFAAAACV42pNpmSzMwMDAwQABzFCaEULJ", "AAAA" * 10])
def test_a_damaged_payload_is_one_error(payload: str) -> None:
    with pytest.raises(ValueError, match="not a compressed histogram"):
        decode_hdr(payload)


def test_a_percentile_at_the_end_of_a_bucket_is_that_end_and_not_the_next_bucket() -> None:
    apart = Histogram((Bucket(0.0, 1.0, 50), Bucket(10.0, 11.0, 50)))
    assert percentile(apart, 50) == 1.0


@pytest.mark.parametrize(("limits", "count"), [((1, 1), 1), ((2, 1), 1), ((-1, 1), 1), ((1, 2), -1)], ids=str)
def test_a_bucket_without_width_or_below_zero_is_refused(limits: tuple[int, int], count: int) -> None:
    with pytest.raises(ValueError, match="not a bucket"):
        from_counts([(limits, count)], US_PER_S)


@pytest.mark.parametrize("per_s", [1000, US_PER_S, 1_000_000_000])
def test_buckets_that_follow_each_other_never_overlap_whatever_their_unit(per_s: int) -> None:
    histogram = from_counts((((number, number + 1), 1) for number in range(2000)), per_s)
    assert all(left.hi == right.lo for left, right in pairwise(histogram.buckets))


def test_a_mean_takes_each_latency_at_the_middle_of_its_bucket() -> None:
    assert mean(Histogram((Bucket(0.0, 2.0, 3), Bucket(4.0, 8.0, 1)))) == (3 * 1.0 + 6.0) / 4


def test_another_unit_moves_both_ends_of_a_bucket() -> None:
    assert scaled(Histogram((Bucket(1.0, 2.0, 3),)), 1000.0) == Histogram((Bucket(1000.0, 2000.0, 3),))
