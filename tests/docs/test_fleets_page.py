"""Tests the samples for build servers and schedulers on the page about fleets: the files are valid, and the codes
exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml  # type: ignore[import-untyped,unused-ignore]  # its types are no package of ours

from benchbrief.commands.running.lane import command
from benchbrief.dsl.bench_error import ExitCode
from tests.docs.samples import ROOT, samples

PAGE = "docs/fleets.md"
TEXT = (ROOT / PAGE).read_text(encoding="utf-8")
BUILDKITE, JOB = (yaml.safe_load(sample.text) for sample in samples(PAGE) if sample.language == "yaml")
KILLED = {137, -1}
"""Exit codes that `bench` does not use: those of killed processes and lost agents."""


def codes_of_the_table() -> set[int]:
    _, _, table = TEXT.partition("| exit code |")
    return {int(code) for code in re.findall(r"^\| (\d+)", table.partition("\n\n")[0], re.MULTILINE)}


def within(part: Any, key: str) -> Iterator[Any]:
    """Yield every value under a key, at any depth."""
    if isinstance(part, dict):
        for name, each in part.items():
            yield from [each] if name == key else within(each, key)
    elif isinstance(part, list):
        for each in part:
            yield from within(each, key)


def test_the_codes_of_a_lane_are_those_that_its_help_names() -> None:
    _, _, named = (command.epilog or "").partition("Exit codes")
    assert codes_of_the_table() - KILLED == {int(code) for code in re.findall(r"^\s*`?(\d+)\b", named, re.MULTILINE)}


def test_a_build_server_tries_again_what_a_lane_goes_on_with_and_nothing_else() -> None:
    retried = {rule["exit_status"] for rules in within(BUILDKITE, "automatic") for rule in rules}
    assert retried == {ExitCode.INTERRUPTED, -1}
    assert retried - KILLED <= codes_of_the_table()


def test_a_kubernetes_job_gives_up_a_lane_that_needs_somebody_to_look() -> None:
    (codes,) = within(JOB, "onExitCodes")
    assert set(codes["values"]) == {ExitCode.USAGE, ExitCode.CELL_FAILED}
    assert (JOB["kind"], JOB["spec"]["completionMode"]) == ("Job", "Indexed")
    (container,) = JOB["spec"]["template"]["spec"]["containers"]
    assert codes["containerName"] == container["name"]
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    assert mounted == {volume["name"] for volume in JOB["spec"]["template"]["spec"]["volumes"]}
    assert all("exec bench lane" in line for line in container["args"])


def test_the_brackets_and_quotes_of_the_pipeline_of_jenkins_close() -> None:
    (pipeline,) = (sample.text for sample in samples(PAGE) if sample.language == "groovy")
    bare = re.sub(r"'[^'\n]*'|\"[^\"\n]*\"", "", pipeline)
    assert "'" not in bare
    assert '"' not in bare
    while (shorter := re.sub(r"\([^(){}\[\]]*\)|\[[^(){}\[\]]*\]|\{[^(){}\[\]]*\}", "", bare)) != bare:
        bare = shorter
    assert bare.strip() == "pipeline"
