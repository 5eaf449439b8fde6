"""Tests the capsule of a brief. It has everything needed to measure again, and its bytes are the same each time. A
hostile capsule is refused before use, with a clear message."""

from __future__ import annotations

import hashlib
import io
import json
import stat
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pypdf.generic import NameObject

from benchbrief.model.plan import Asset
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.capsule import capsule_file as c
from benchbrief.reports.capsule.capsule_file import Capsule, OutputsManifest, open_capsule, why_not_safe, write_capsule
from benchbrief.reports.capsule.find_capsule import capsule_of
from benchbrief.reports.capsule.pack_capsule import _files
from benchbrief.reports.render.page_pdf import to_pdf
from benchbrief.reports.render.render_report import render
from benchbrief.reports.verify_brief import read_brief
from tests.reports import briefs
from tests.support.tools import built_tool

ABOUT = Capsule(
    benchbrief="0.1.0",
    report="brief",
    title="A brief",
    language="en",
    run="20260301-101500-brief",
    kind="measured",
    spec="lab/brief.bench",
    raw_outputs=OutputsManifest(files=1, sha256="0" * 64),
    parts={},
)
PARTS = {
    "spec/lab/brief.bench": b"hardware box { hosts = local }\n",
    "spec/lab/base.bench": b"",
    **dict.fromkeys((c.PLAN, c.NUMBERS, c.STATED, c.FACTS, c.VERSIONS), b"[]\n"),
}
GOOD = write_capsule(ABOUT, PARTS)


def zipped(parts: dict[str, bytes], change: Callable[[zipfile.ZipInfo], None] = lambda _: None) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in parts.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            if name not in ("capsule.json", *PARTS):
                change(info)
            archive.writestr(info, content)
    return made.getvalue()


def listed(**changes: Any) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(GOOD)) as archive:
        return {**json.loads(archive.read("capsule.json")), **changes}


def part(content: bytes) -> dict[str, object]:
    return {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}


def with_list(content: bytes | dict[str, Any]) -> bytes:
    return zipped({"capsule.json": content if isinstance(content, bytes) else json.dumps(content).encode(), **PARTS})


def with_part(name: str, content: bytes = b"x", change: Callable[[zipfile.ZipInfo], None] = lambda _: None) -> bytes:
    """Return a capsule with an additional part, which is in the capsule's list."""
    own = listed()
    own["parts"][name] = part(content)
    return zipped({"capsule.json": json.dumps(own).encode(), **PARTS, name: content}, change)


def as_kind(kind: int) -> Callable[[zipfile.ZipInfo], None]:
    def change(info: zipfile.ZipInfo) -> None:
        info.create_system, info.external_attr = 3, (kind | 0o777) << 16

    return change


def without(field: str) -> bytes:
    return with_list({key: value for key, value in listed().items() if key != field})


def twice() -> bytes:
    return with_part("plan.jso2", b"other").replace(b"plan.jso2", b"plan.json")


def flagged(bit: int) -> bytes:
    """Return a capsule whose entries have one of zip's flags set, such as the flag for encryption."""
    content = bytearray(GOOD)
    at = content.find(b"PK\x01\x02")
    while at >= 0:
        content[at + 8] |= bit
        at = content.find(b"PK\x01\x02", at + 4)
    return bytes(content)


def packed_by(way: int) -> bytes:
    """Return a capsule whose parts claim a kind of compression that differs from their real one."""
    content = GOOD
    for start, at in ((b"PK\x01\x02", 10), (b"PK\x03\x04", 8)):
        pieces = content.split(start)
        content = start.join((pieces[0], *(each[: at - 4] + bytes([way]) + each[at - 3 :] for each in pieces[1:])))
    return content


NAMES = {
    "up": "spec/../../etc/passwd",
    "up_alone": "..",
    "up_first": "../brief.bench",
    "absolute": "/etc/cron.d/bench",
    "newline": "spec/\r\nx",
    "backslash": "spec\\..\\x.bench",
    "drive": "C:x.bench",
    "control": "spec/a\nb",
    "escape": "spec/\x1b[2Jx",
    "right_to_left": "spec/x\u202ehcneb",
    "twice_slash": "spec//x",
    "dot": "spec/./x",
    "hidden": "spec/.bashrc",
    "git_hook": "spec/.git/hooks/post-checkout",
    "blank_at_end": "spec/x ",
    "too_long": "spec/" + "x" * 300,
    "too_deep": "spec/" + "d/" * 30 + "x",
    "stream": "spec/x:y",
    "wildcard": "spec/*",
    "quote": 'spec/"x"',
    "pipe": "spec/|x",
}
HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    **{f"name_{key}": (lambda name=name: with_part(name), "a part whose name") for key, name in NAMES.items()},  # type: ignore[misc]
    "folder": (lambda: with_part("spec/folder/", b""), "no plain file"),
    "link": (lambda: with_part("spec/x", b"/etc/passwd", as_kind(stat.S_IFLNK)), "no plain file"),
    "device": (lambda: with_part("spec/x", b"", as_kind(stat.S_IFBLK)), "no plain file"),
    "terminal": (lambda: with_part("spec/x", b"", as_kind(stat.S_IFCHR)), "no plain file"),
    "fifo": (lambda: with_part("spec/x", b"", as_kind(stat.S_IFIFO)), "no plain file"),
    "socket": (lambda: with_part("spec/x", b"", as_kind(stat.S_IFSOCK)), "no plain file"),
    "bomb": (lambda: with_part("spec/x", bytes(70 << 20)), "larger, unpacked, than any brief"),
    "bomb_of_many": (
        lambda: zipped({"capsule.json": b"{}", **{f"spec/{n}": b"" for n in range(1100)}}),
        "1,101 parts, and at most 1,000 are read",
    ),
    "too_large": (lambda: GOOD + bytes(33 << 20), "and at most 33,554,432 are read"),
    "two_of_one_name": (twice, "two parts of one name"),
    "encrypted": (lambda: flagged(1), "encrypted"),
    "cut": (lambda: GOOD[:-30], "can't be read"),
    "no_zip": (lambda: b"%PDF-1.7 not a zip", "can't be read"),
    "empty": (lambda: b"", "can't be read"),
    "damaged": (lambda: GOOD.replace(GOOD[60:70], bytes(10), 1), "capsule"),
    "changed_spec": (
        lambda: zipped({"capsule.json": json.dumps(listed()).encode(), **PARTS, "spec/lab/brief.bench": b"use x"}),
        "was changed since it was made: spec/lab/brief.bench",
    ),
    "changed_plan": (
        lambda: zipped({"capsule.json": json.dumps(listed()).encode(), **PARTS, "plan.json": b"[]"}),
        "was changed since it was made: plan.json",
    ),
    "changed_numbers": (
        lambda: zipped({"capsule.json": json.dumps(listed()).encode(), **PARTS, "numbers.json": b"{}\n"}),
        "was changed since it was made: numbers.json",
    ),
    "unlisted": (
        lambda: zipped({"capsule.json": json.dumps(listed()).encode(), **PARTS, "spec/more": b""}),
        "does not list: spec/more",
    ),
    "lost": (
        lambda: zipped({"capsule.json": json.dumps(listed()).encode(), **dict(list(PARTS.items())[:-1])}),
        "lacks a part that it lists: versions.json",
    ),
    "lost_with_escapes": (
        lambda: with_list(listed(parts={**listed()["parts"], f"spec/\x1b[2J{'é' * 9999}": part(b"")})),
        "lacks a part that it lists: spec/\\x1b[2J\\xe9",
    ),
    "spec_with_escapes": (
        lambda: with_list(listed(spec="\x1b[2J" + "x" * 9999)),
        "lacks its spec, \\x1b[2Jxxx",
    ),
    "unknown_field_with_escapes": (lambda: with_list(listed(**{"\x1b[2J": 1})), "can't be read: \\x1b[2J"),
    "size": (
        lambda: with_list(listed(parts={**listed()["parts"], "plan.json": {**part(b"[]\n"), "size": 2}})),
        "plan.json is not what its list says",
    ),
    "damaged_lzma": (lambda: packed_by(zipfile.ZIP_LZMA), "is packed in another way"),
    "bzip2": (lambda: packed_by(zipfile.ZIP_BZIP2), "is packed in another way"),
    "no_list": (lambda: zipped(dict(PARTS)), "is no capsule of a brief"),
    "list_no_json": (lambda: with_list(b"not JSON"), "can't be read"),
    "list_nested": (lambda: with_list(b"[" * 200_000), "can't be read"),
    "list_an_array": (lambda: with_list(b"[]"), "is no capsule"),
    "list_not_utf8": (lambda: with_list(b'{"format": "\xff"}'), "can't be read"),
    "other_format": (lambda: with_list(listed(format="other")), "is no capsule"),
    "newer": (
        lambda: with_list({**listed(version=2, benchbrief="3.1.0"), "later": {}}),
        "of version 2, and this benchbrief reads version 1",
    ),
    "newer_with_escape": (lambda: with_list(listed(version=9, benchbrief="\x1b[2J")), "of version 9"),
    "newer_with_a_point": (lambda: with_list(listed(version=2.0)), "of version 2, and this benchbrief reads version 1"),
    "version_a_text": (lambda: with_list(listed(version="1; rm -rf /")), "can't be read: version"),
    "unknown_field": (lambda: with_list(listed(run_this="rm -rf /")), "can't be read: run_this"),
    "no_spec": (lambda: without("spec"), "can't be read: spec"),
    "spec_outside": (lambda: with_list(listed(spec="../../etc/passwd")), "lacks its spec"),
    "spec_absolute": (lambda: with_list(listed(spec="/etc/passwd")), "lacks its spec"),
    "spec_not_there": (lambda: with_list(listed(spec="lab/none.bench")), "lacks its spec"),
    "params_a_list": (lambda: with_list(listed(params=["x"])), "can't be read: params"),
    "param_no_text": (lambda: with_list(listed(params={"x": {"y": 1}})), "can't be read: params.x"),
    "kind": (lambda: with_list(listed(kind="proved")), "can't be read: kind"),
    "parts_a_list": (lambda: with_list(listed(parts=[])), "can't be read: parts"),
    "digest_a_number": (
        lambda: with_list(listed(parts={"plan.json": {"sha256": 1, "size": 3}})),
        "can't be read: parts.plan.json.sha256",
    ),
    "extensions": (lambda: with_list(listed(extensions="x")), "can't be read: extensions"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_capsule_is_refused_with_a_clear_message(name: str, tmp_path: Path) -> None:
    make, said = HOSTILE[name]
    with pytest.raises(ReportError) as refused:
        open_capsule(make(), "brief-capsule.zip")
    assert said in refused.value.message
    assert refused.value.hint
    assert refused.value.message.isprintable()
    assert len(refused.value.message) < 400
    assert not list(tmp_path.iterdir())


def test_there_are_sixty_hostile_capsules() -> None:
    assert len(HOSTILE) >= 60


def test_a_capsule_is_read_as_it_was_written_and_always_in_the_same_bytes() -> None:
    found = open_capsule(GOOD, "x")
    assert found.parts == PARTS
    assert found.files == {"lab/brief.bench": PARTS["spec/lab/brief.bench"], "lab/base.bench": b""}
    assert write_capsule(ABOUT, dict(reversed(PARTS.items()))) == GOOD
    assert not why_not_safe("spec/lab/名前 1.bench")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the brief of a run that keeps its spec."""
    folder = tmp_path_factory.mktemp("made")
    world, report = briefs.quickstart()
    plan, store = world.plan(report), world.store()
    content = b"# the spec\n"
    digest = hashlib.sha256(content).hexdigest()
    plan = plan.model_copy(update={"spec": plan.spec.model_copy(update={"files": {plan.spec.name: digest}})})
    kept = store.run_dir / "spec" / f"0-{Path(plan.spec.name).name}"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(content)
    render(plan, store, report.name, folder, formats=("pdf", "html"))
    return folder


def test_a_brief_has_its_capsule_inside_and_beside_it(made: Path) -> None:
    pdf = capsule_of(made / "brief.pdf")
    assert pdf == capsule_of(made / "brief.html") == capsule_of(made / "brief-capsule.zip")
    assert [*pdf.files.values()] == [b"# the spec\n"]
    assert pdf.about.parts.keys() == pdf.parts.keys()
    assert {each["id"] for each in json.loads(pdf.parts["numbers.json"])}
    assert (made / "brief-capsule.zip").stat().st_size < 200_000


@pytest.mark.long
def test_the_capsule_is_an_associated_file_of_a_valid_pdf(made: Path) -> None:
    from pypdf import PdfReader

    root: Any = PdfReader(made / "brief.pdf").trailer["/Root"]
    kinds = {str(each.get_object()["/UF"]): each.get_object()["/AFRelationship"] for each in root["/AF"]}
    assert kinds["brief-capsule.zip"] == "/Source"
    command = (built_tool("verapdf/bin/pdf-check"), made / "brief.pdf")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == f"ok {made / 'brief.pdf'}\n", done.stdout + done.stderr


def test_a_pdf_without_a_capsule_says_so(tmp_path: Path) -> None:
    (tmp_path / "brief.pdf").write_bytes(to_pdf("<html lang=en><title>x</title><p>x</html>"))
    with pytest.raises(ReportError, match="has no capsule in it"):
        capsule_of(tmp_path / "brief.pdf")


def with_files(path: Path, files: dict[str, list[bytes]], change: Callable[[Any], None] = lambda _: None) -> Path:
    """Write a PDF with these attachments. `change` may alter the object of each embedded file."""
    from pypdf import PdfWriter

    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    for name, contents in files.items():
        for content in contents:
            added: Any = writer.add_attachment(name, content).pdf_object
            change(added["/EF"]["/F"].get_object())
    writer.write(path)
    return path


def test_a_pdf_with_two_capsules_is_refused_and_other_files_in_it_are_not_unpacked(tmp_path: Path) -> None:
    twice = with_files(tmp_path / "twice.pdf", {"brief-capsule.zip": [GOOD, GOOD]})
    with pytest.raises(ReportError, match=r"has 2 files that end in -capsule\.zip"):
        capsule_of(twice)

    def damage(file: Any) -> None:
        if file.get_data() == b"bomb":
            file[NameObject("/Filter")] = NameObject("/Unknown")

    beside = {"other.bin": [b"bomb"], "brief-capsule.zip": [GOOD]}
    assert capsule_of(with_files(tmp_path / "beside.pdf", beside, damage)).parts == PARTS


def test_a_pdf_whose_capsule_is_packed_in_an_unknown_way_is_an_unreadable_brief(tmp_path: Path) -> None:
    def damage(file: Any) -> None:
        file[NameObject("/Filter")] = NameObject("/Unknown")

    path = with_files(tmp_path / "x.pdf", {"brief-capsule.zip": [GOOD]}, damage)
    with pytest.raises(ReportError, match="can't be read as a PDF"):
        capsule_of(path)
    with pytest.raises(ReportError, match=r"can't be read as a PDF|which has the numbers of"):
        read_brief(path)


def test_a_brief_whose_style_sheet_was_changed_or_lost_has_no_capsule(tmp_path: Path) -> None:
    world, report = briefs.quickstart()
    plan, store = world.plan(report), world.store()
    kept = store.run_dir / "spec" / f"0-{Path(plan.spec.name).name}"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(b"# the spec\n")
    digests = {plan.spec.name: hashlib.sha256(b"# the spec\n").hexdigest()}
    plan = plan.model_copy(update={"spec": plan.spec.model_copy(update={"files": digests})})
    asset = tmp_path / "house.css"
    own = report.model_copy(
        update={"theme": report.theme.model_copy(update={"css": Asset(file=str(asset), sha256="0" * 64)})}
    )
    plan = plan.model_copy(update={"reports": (own,)})
    for content in (None, b"body { }"):
        if content is not None:
            asset.write_bytes(content)
        assert _files(plan, store.run_dir, None, None) is None
