"""Tests what a load generator's spec must not contain."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bench_redis.spec import TOOL

from benchbrief.model.tool_spec import CHANGES


def test_a_spec_with_words_that_no_one_reads_says_so() -> None:
    assert TOOL.mistake("redis_benchmark") == ""
    workload = replace(TOOL.workloads["set"], changes="in_place")  # type: ignore[arg-type]
    assert ", ".join(CHANGES) in replace(TOOL, workloads={"set": workload}).mistake("redis_benchmark")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{value} の値", "KeyError: 'value'"),
        ("{} values", "IndexError"),
        ("{records:{x}}", "KeyError: 'x'"),
        ("{records!z}", "ValueError"),
        ("{records:d}", "ValueError"),
        ("{records", "ValueError"),
    ],
)
def test_a_text_that_can_not_be_filled_in_is_refused_with_what_it_raises(text: str, said: str) -> None:
    assert f"`data` has `{text}`" in (wrong := replace(TOOL, data={"en": "{records}", "ja": text}).mistake(TOOL.name))
    assert said in wrong


@pytest.mark.parametrize(("text", "said"), [("{name} of {value}", "KeyError: 'name'"), ("{}", "IndexError")])
def test_what_a_plan_prints_of_an_attribute_has_its_value_alone(text: str, said: str) -> None:
    attribute = replace(TOOL.attributes["pipeline"], briefly=text)
    wrong = replace(TOOL, attributes={**TOOL.attributes, "pipeline": attribute}).mistake(TOOL.name)
    assert wrong.startswith(f"`briefly` of the attribute `pipeline` has `{text}`, where `{{value}}` alone may stand: ")
    assert said in wrong
