"""What a load generator's spec may not say."""

from __future__ import annotations

from dataclasses import replace

from bench_redis.spec import TOOL

from benchbrief.model.tool_spec import CHANGES


def test_a_spec_with_words_that_no_one_reads_says_so() -> None:
    assert TOOL.mistake("redis_benchmark") == ""
    workload = replace(TOOL.workloads["set"], changes="in_place")  # type: ignore[arg-type]
    assert ", ".join(CHANGES) in replace(TOOL, workloads={"set": workload}).mistake("redis_benchmark")
    data = {"en": "{records} values", "ja": "{value} の値"}
    assert "`{value}`" in replace(TOOL, data=data).mistake("redis_benchmark")
