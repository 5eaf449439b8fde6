"""Verdicts as JUnit XML, in the form that Jenkins, GitLab and GitHub actions read.

One `testsuites`, with a `testsuite` for each group and a `testcase` for each verdict: nothing in it for one that holds,
`failure` for one that does not, `skipped` for what can't be known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree as ET

State = Literal["ok", "failure", "skipped"]
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no way to write."""


@dataclass(frozen=True)
class Case:
    """`group` is shown as the class; `seconds` are 0 where a verdict takes no time of its own."""

    group: str
    name: str
    state: State = "ok"
    detail: str = ""
    seconds: float = 0.0


def junit(suite: str, cases: Sequence[Case]) -> bytes:
    root = ET.Element("testsuites")
    element = ET.SubElement(root, "testsuite", _counts(suite, cases))
    for each in (root, element):
        each.attrib.update(_counts(suite, cases))
    for case in cases:
        told = ET.SubElement(
            element, "testcase", classname=_text(case.group), name=_text(case.name), time=f"{case.seconds:.3f}"
        )
        if case.state != "ok":
            said = ET.SubElement(told, case.state, message=_text(case.detail))
            said.text = _text(case.detail)
    ET.indent(root, " ")
    body: bytes = ET.tostring(root, encoding="utf-8")
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + body + b"\n"


def _counts(suite: str, cases: Sequence[Case]) -> dict[str, str]:
    return {
        "name": _text(suite),
        "tests": str(len(cases)),
        "failures": str(sum(case.state == "failure" for case in cases)),
        "errors": "0",
        "skipped": str(sum(case.state == "skipped" for case in cases)),
        "time": f"{sum(case.seconds for case in cases):.3f}",
    }


def _text(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)
