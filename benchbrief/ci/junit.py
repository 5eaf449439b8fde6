"""Verdicts as JUnit XML, in the form that Jenkins, GitLab and GitHub actions read.

One `testsuites`, with a `testsuite` for each group and a `testcase` for each verdict: nothing in it for one that holds,
`failure` for one that does not, `error` for what can't be known and was to be, `skipped` for what does not count. A
remark on one that holds is its `system-out`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree as ET

from benchbrief.reports.text.writable_text import writable

State = Literal["ok", "failure", "error", "skipped"]


@dataclass(frozen=True)
class Case:
    """`group` is shown as the class; `seconds` are 0 where a verdict takes no time of its own."""

    group: str
    name: str
    state: State = "ok"
    detail: str = ""
    seconds: float = 0.0
    remark: str = ""


def junit(suite: str, cases: Sequence[Case]) -> bytes:
    root = ET.Element("testsuites")
    element = ET.SubElement(root, "testsuite", _counts(suite, cases))
    for each in (root, element):
        each.attrib.update(_counts(suite, cases))
    for case in cases:
        testcase = ET.SubElement(
            element, "testcase", classname=writable(case.group), name=writable(case.name), time=f"{case.seconds:.3f}"
        )
        if case.state != "ok":
            outcome = ET.SubElement(testcase, case.state, message=writable(case.detail))
            outcome.text = writable(case.detail)
        elif case.remark:
            ET.SubElement(testcase, "system-out").text = writable(case.remark)
    ET.indent(root, " ")
    body: bytes = ET.tostring(root, encoding="utf-8")
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + body + b"\n"


def _counts(suite: str, cases: Sequence[Case]) -> dict[str, str]:
    return {
        "name": writable(suite),
        "tests": str(len(cases)),
        "failures": str(sum(case.state == "failure" for case in cases)),
        "errors": str(sum(case.state == "error" for case in cases)),
        "skipped": str(sum(case.state == "skipped" for case in cases)),
        "time": f"{sum(case.seconds for case in cases):.3f}",
    }
