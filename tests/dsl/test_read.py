"""Tests reading a file as a spec, and the messages if that fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchbrief.dsl.diagnostics.diagnostic import SpecError
from benchbrief.dsl.diagnostics.render import render_all
from benchbrief.dsl.read_files import MAX_BYTES, decode, read_source


def said_of(path: Path, name: str | None = None) -> str:
    with pytest.raises(SpecError) as raised:
        read_source(path, name)
    return render_all(raised.value.diagnostics)


def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    spec = tmp_path / "a.bench"
    spec.write_bytes('hardware a "日本" { }\r\n'.encode())
    source = read_source(spec, "as typed")
    assert source.text == 'hardware a "日本" { }\r\n'
    assert source.name == "as typed"
    assert read_source(spec).name == str(spec)


def test_a_byte_order_mark_is_left_out() -> None:
    assert decode(b"\xef\xbb\xbfhardware", "a").text == "hardware"


def test_an_empty_file_is_an_empty_text(tmp_path: Path) -> None:
    (tmp_path / "a.bench").touch()
    assert read_source(tmp_path / "a.bench").text == ""


def test_a_file_of_the_largest_size_is_read(tmp_path: Path) -> None:
    spec = tmp_path / "a.bench"
    spec.write_bytes(b"#" * MAX_BYTES)
    assert len(read_source(spec).text) == MAX_BYTES
    spec.write_bytes(b"#" * (MAX_BYTES + 1))
    assert said_of(spec, "a.bench") == (
        "error[E0006]: `a.bench` is larger than 4 MiB, the limit for a spec\n"
        "  = help: check that this is a spec; split a long one into files with `use`"
    )


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("brif.bench", "brief.bench"),
        ("Brief.bench", "brief.bench"),
        ("brief", "brief.bench"),
        ("brief.bnech", "brief.bench"),
        ("exampels/ramp.bench", "examples/ramp.bench"),
        ("examples/rmap.bench", "examples/ramp.bench"),
    ],
)
def test_a_mistyped_name_is_guessed(typed: str, meant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").mkdir()
    (tmp_path / "brief.bench").touch()
    (tmp_path / "examples" / "ramp.bench").touch()
    monkeypatch.chdir(tmp_path)
    assert said_of(Path(typed)) == f"error[E0001]: there is no file `{typed}`\n  = help: did you mean `{meant}`?"


def test_a_name_like_no_other_is_not_guessed(tmp_path: Path) -> None:
    (tmp_path / "brief.bench").touch()
    assert said_of(tmp_path / "zzz", "zzz") == (
        "error[E0001]: there is no file `zzz`\n  = help: check the path; it starts at the current folder"
    )


def test_a_folder_names_its_specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "a.bench").touch()
    monkeypatch.chdir(tmp_path)
    assert said_of(Path("lab")) == (
        "error[E0002]: `lab` is a folder, not a file\n  = help: name one of its files: `lab/a.bench`"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    spec = tmp_path / "a.bench"
    spec.touch(0o000)
    assert said_of(spec, "a.bench") == (
        "error[E0003]: can't read `a.bench`: permission denied\n  = help: let this user read it: `chmod u+r`"
    )


@pytest.mark.parametrize(
    ("path", "why"),
    [("a\0b", "embedded null byte"), ("x" * 300, "file name too long"), ("loop", "too many levels of symbolic links")],
)
def test_a_path_that_leads_nowhere(path: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    said = said_of(Path(path))
    assert said.startswith("error[E0003]: can't read `")
    assert said.splitlines()[0].endswith(why)


def test_a_file_without_end_is_too_large() -> None:
    assert said_of(Path("/dev/zero")).startswith("error[E0006]")


@pytest.mark.parametrize(
    ("data", "offset", "line", "column"),
    [
        (b"a\xff", 1, 1, 2),
        (b"\xef\xbb\xbfa\xff", 4, 1, 2),
        ("日\nb".encode() + b"\xe9", 5, 2, 2),
        (b"a\n\xed\xa0\x80", 2, 2, 1),  # a surrogate, as some encoders write it
        (b"ab\xc3", 2, 1, 3),  # cut short
        (b"\xc0\x80", 0, 1, 1),  # NUL written too long
    ],
)
def test_the_byte_that_is_not_utf_8_is_named(data: bytes, offset: int, line: int, column: int) -> None:
    with pytest.raises(SpecError) as raised:
        decode(data, "a.bench")
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.code == "E0004"
    assert diagnostic.label == f"byte 0x{data[offset]:02x} at offset {offset} starts no character"
    assert diagnostic.span
    assert (diagnostic.span.line, diagnostic.span.column) == (line, column)
