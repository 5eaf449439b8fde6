"""Tests that every form in which a tool may write a secret is masked, on the controller and on a host. Figures are not
masked."""

from __future__ import annotations

import base64
import html
import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchbrief.extensions.meters.ipmi.ipmi_meter import Ipmi
from benchbrief.extensions.tools.go_ycsb import go_ycsb_output
from benchbrief.extensions.tools.ycsb import ycsb_output
from benchbrief.extensions.tools.ycsb.ycsb_properties import escape
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.secret_masking import KNOWN, MASK, Masking, Secret, hide, host_patterns
from benchbrief.runners.meters.meter_points import figures

NASTY = ("hunter2", "back\\slash \"q'uote", "pä55wört€", "k€y\U0001f600/+&<a>", "50% off\t`id`$HOME", "Ünïcödeds")


def by_go(text: str) -> str:
    r"""Write non-ASCII characters as \u or \U, like Go's %+q."""
    return "".join(
        c
        if " " <= c <= "~" and c not in '"\\'
        else {'"': '\\"', "\\": "\\\\", "\t": "\\t"}.get(c)
        or (f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}")
        for c in text
    )


WAYS: Mapping[str, Callable[[str], str]] = {
    "as it is": str,
    "Go": by_go,
    "JSON in ASCII": lambda text: json.dumps(text)[1:-1],
    "JSON in UTF-8": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "JSON in JSON": lambda text: json.dumps(json.dumps(text)[1:-1])[1:-1],
    "a Java property file": escape,
    "Java in upper case": lambda text: re.sub(r"\\u[0-9a-f]{4}", lambda m: "\\u" + m[0][2:].upper(), escape(text)),
    "percent-encoded": lambda text: quote(text, safe=""),
    "percent-encoded in lower case": lambda text: re.sub("%..", lambda m: m[0].lower(), quote(text, safe="")),
    "percent-encoded but for some": lambda text: quote(text, safe="/+&!'()*"),
    "a form": quote_plus,
    "percent-encoded twice": lambda text: quote(quote(text, safe=""), safe=""),
    "Python": lambda text: ascii(text)[1:-1],
    "Python's bytes": lambda text: repr(text.encode())[2:-1],
    "octal": lambda text: "".join(f"\\{byte:03o}" for byte in text.encode()),
    "HTML": html.escape,
    "XML": lambda text: text.encode("ascii", "xmlcharrefreplace").decode(),
    "UTF-8 read as Latin-1": lambda text: text.encode().decode("latin-1"),
    "beyond its character set": lambda text: text.encode("ascii", "replace").decode(),
    "base64": lambda text: base64.b64encode(f"user:{text}".encode()).decode(),
    "base64 for URLs": lambda text: base64.urlsafe_b64encode(f"me:{text}:".encode()).decode(),
    "hexadecimal": lambda text: text.encode().hex(),
}


def on_a_host(secret: Secret, text: str, folder: Path) -> str:
    (folder / "by").write_bytes(b"".join(b"s\1" + each + b"\1***\1g\n" for each in host_patterns([secret])))
    env = {"LC_ALL": "C", "PATH": os.environ["PATH"]}
    done = subprocess.run(
        ["sed", "-E", "-f", "by"], cwd=folder, env=env, input=text.encode(), capture_output=True, check=True
    )
    return done.stdout.decode()


@pytest.mark.parametrize("secret", NASTY)
@pytest.mark.parametrize("way", WAYS)
def test_a_secret_is_masked_in_every_way_of_writing_it(way: str, secret: str, tmp_path: Path) -> None:
    written = WAYS[way](secret)
    printed = f'begin "k"="{written}" end'
    for shown in (Masking([Secret(secret)]).text(printed), on_a_host(Secret(secret), printed, tmp_path)):
        assert MASK in shown
        assert shown.startswith('begin "k"="')
        assert shown.endswith('" end')
        core = written.removesuffix("=")[8:-4] if way.startswith("base64") else written
        assert not core or core not in shown


def test_what_a_secret_was_put_together_from_is_masked_alone() -> None:
    masking = Masking([Secret("mongodb://u:p%5Cw@h/?appName=a%25b", written="x", of=("p\\w&q", "a%b/c"))])
    assert masking.text("p\\w&q or p\\\\w&q, a%b/c or a%25b%2fc") == "*** or ***, *** or ***"


def test_the_figures_of_tools_and_meters_are_left_as_they_are() -> None:
    meter = (
        "meter ipmi\n= 1795184780.123456789 812.54\n    Instantaneous power reading:                    42 Watts\n.\n"
    )
    masking = Masking([Secret("42"), Secret("Watts"), Secret("1"), Secret("ipmi")], (*figures(), *Ipmi.figures))
    assert masking.text(meter) == meter
    assert masking.text(f"{meter}42 Watts of ipmi\n") == f"{meter}*** *** of ***\n"
    ycsb = "[READ], Operations, 1000\n[READ], 99.9PercentileLatency(us), 5931\n[READ], Return=OK, 1000\n"
    masking = Masking([Secret("x", of=("1000", "READ", "Return"))], ycsb_output.FIGURES)
    assert masking.text(ycsb) == ycsb
    assert masking.text("READ 1000\n") == "*** ***\n"
    go = "READ   - Takes(s): 3.0, Count: 26834, OPS: 8995.2, Avg(us): 292, 99.9th(us): 6527\nRun finished, takes 3.1s\n"
    masking = Masking([Secret("x", of=("26834", "READ", "Takes"))], go_ycsb_output.FIGURES)
    assert masking.text(go) == go


@settings(max_examples=200, deadline=None)
@given(data=st.text("ab*%6\\1\n", max_size=60), cuts=st.lists(st.integers(0, 60), max_size=5))
def test_a_stream_with_figures_is_masked_alike_wherever_it_is_cut(data: str, cuts: list[int]) -> None:
    masking = Masking([Secret("ab"), Secret("1")], ("1+",))
    whole = data.encode()
    edges = [0, *sorted(cuts), len(whole)]
    pieces = [whole[a:b] for a, b in pairwise(edges)]
    assert b"".join(masking.stream(pieces)) == b"".join(masking.stream([whole]))


def test_what_a_library_says_of_a_part_of_a_secret_is_not_shown() -> None:
    KNOWN.add("SecretHost.Lab:27099,Second-Part")
    error = RunnerError("no address for secrethost.lab, nor SECOND-PART of 27099", "mend secrethost.lab")
    assert str(error) == "no address for ***, nor *** of 27099"
    assert error.hint == "mend ***"
    assert hide("half a pair \ud800 of secrethost.lab").endswith("of ***")


@pytest.mark.parametrize(
    ("secret", "text", "shown"),
    [
        ("1000", "YCSB counted 10000 operations of 1000 ms", None),
        ("standalone", "standalones of a standalone, a_standalone_one", "standalones of a ***, a_***_one"),
        ("48151623", "port 48151623, and 481516234 B", "port ***, and 481516234 B"),
        ("abc", "abc", None),
        (
            "hunter2",
            f"Basic {base64.b64encode(b'me:hunter2').decode()}, or {b'hunter2'.hex()}",
            "Basic bWU6***g==, or ***",
        ),
        ("correcthorsebatterystaple", "xcorrecthorsebatterystaplex", "x***x"),
        ("pa$$w", "xpa$$wx, or pa%24%24w", "x***x, or ***"),
    ],
)
def test_messages_keep_numbers_and_words_that_only_hold_a_secret(secret: str, text: str, shown: str | None) -> None:
    KNOWN.add(secret)
    assert hide(text) == (text if shown is None else shown)


def test_what_one_block_makes_known_is_not_known_after_it() -> None:
    KNOWN.add("outer-secret")
    with KNOWN.apart():
        KNOWN.add("inner-secret")
        assert hide("outer-secret inner-secret") == "outer-secret ***"
    assert hide("outer-secret inner-secret") == "*** inner-secret"


def test_a_long_output_is_masked_fast() -> None:
    """Masking takes at most twenty times as long as a plain `re.sub` over the same bytes."""
    line = b"2026-03-01 10:00:05:120 5 sec: 7512 operations; [READ: Count=712, 99=4321] 100% done\n"
    text = line * 50_000
    masking = Masking([Secret("mongodb://benchuser:pa%24%24w%C3%B6rd@db-1.lab:27017/ycsb", of=("pa$$wörd",))])
    pieces = [text[at : at + 65536] for at in range(0, len(text), 65536)]

    def seconds(work: Callable[[], object]) -> float:
        began = time.process_time()
        work()
        return time.process_time() - began

    plain = re.compile(b"[a-z]+@db-1")
    least = min(seconds(lambda: [plain.sub(b"", piece) for piece in pieces]) for _ in range(3))
    took = min(seconds(lambda: list(masking.stream(pieces))) for _ in range(3))
    assert took < 20 * least, (took, least)
    assert b"".join(masking.stream(pieces)) == text


@pytest.mark.parametrize("at", range(1, 22))
def test_a_secret_that_comes_in_two_pieces_is_masked(at: int) -> None:
    text = b"password=open-sesame!\n"
    pieces = (text[:at], text[at:])
    assert b"".join(Masking([Secret("open-sesame", name="uri")]).stream(pieces)) == b"password=***!\n"
