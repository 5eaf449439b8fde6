"""Writes files for build servers: JUnit XML, and Markdown for a job's page."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree as ET

import click

from benchbrief.cli.run_options import F, with_options
from benchbrief.cli.terminal import fail, printable
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.text.html_markup import writable

State = Literal["ok", "failure", "error", "skipped"]


@dataclass(frozen=True)
class Case:
    """A case of a JUnit file. `group` is shown as its class. `seconds` is 0 for a verdict without a measurement of its
    own."""

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


_SUMMARY = "GITHUB_STEP_SUMMARY"
"""The environment variable that names the file of the summary page. GitHub shows all text that is appended to this
file."""
MARKS = {"ok": "✅", "failure": "❌", "error": "❗", "skipped": "⚪"}


def verdict_options(function: F) -> F:
    """Add `--junit FILE` and `--markdown FILE` to a command."""
    return with_options(
        function,
        click.option(
            "--junit",
            type=click.Path(path_type=Path, dir_okay=False),
            metavar="FILE",
            help="Write the verdicts to FILE as JUnit XML (Jenkins, GitLab).",
        ),
        click.option(
            "--markdown",
            type=click.Path(path_type=Path, dir_okay=False),
            metavar="FILE",
            help='Write a summary to FILE in Markdown, or append it to "$GITHUB_STEP_SUMMARY".',
        ),
    )


def require_writable(*files: Path | None) -> None:
    """Check that the files can be written, before hours of measuring. Raises Stop with a message if they can't.

    An existing file keeps its content, and no new file is left behind.
    """
    for file in files:
        there = file is not None and os.path.lexists(file)
        if file is not None and (not there or file.is_file()):  # not a pipe, which waits for its reader
            write_file(file, b"", append=True)
            if not there:
                file.unlink()


def write_verdicts(suite: str, cases: Sequence[Case], junit_file: Path | None) -> None:
    """Write the cases as JUnit XML, if a file is given. Raises Stop with a message if the file can't be written."""
    if junit_file is not None:
        write_file(junit_file, junit(suite, cases))


def write_markdown(text: str, file: Path | None) -> None:
    """Write Markdown to the file, if one is given, and append it to GitHub's summary page if there is one. Raises Stop
    as `write_file` does."""
    if file is not None:
        write_file(file, text.encode("utf-8", "replace"), append=str(file) == os.environ.get(_SUMMARY))


def write_file(path: Path, content: bytes, *, append: bool = False) -> None:
    """Write a file, and create its folders. Raises Stop with a message if the file can't be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab" if append else "wb") as file:
            file.write(content)
    except OSError as error:
        raise fail(f"{path} can't be written: {error.strerror}", "name a file that can be") from error


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(row if row == "---" else inline(row) for row in line) + " |" for line in lines]


def inline(text: str) -> str:
    """Escape a text for one line of Markdown, including inside a table."""
    return re.sub(r"([\\`*_|<>\[\]#~])", r"\\\1", " ".join(printable(text).split()))
