"""Finds secrets in text, in every form that a tool may write, and replaces them by ***.

A character of a secret may be written plainly, percent-encoded in upper or lower case, as an escape of Go, Java, JSON,
Python or C, as an HTML entity, or, beyond ASCII, as a wrong character set decodes it. Each character may have a
different form. The whole secret may be in base64 or in hexadecimal digits. The patterns are POSIX extended regular
expressions over bytes. Python reads them in the same way, so `sed` on a host masks exactly the same texts as the
controller.
"""

from __future__ import annotations

import base64
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import lru_cache
from itertools import groupby
from urllib.parse import unquote as percent_decode
from urllib.parse import urlsplit

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.message import mapped

MASK = "***"
_SHORTEST_PART = 4
"""A part of a secret, such as the password in a URI, is masked alone only if it is at least this long. Masking shorter
parts would hide numbers."""
_SHORTEST_DIGITS = 8
"""A number with fewer digits than this is not masked in a message, since a number such as `1000` occurs in many
places."""
_SHORTEST_ALONE = 16
"""A secret of only letters and digits that is shorter than this is masked in messages only as a separate word."""
_SHORTEST_CODED = 6
"""A secret of at least this many bytes is also masked in base64 and in hexadecimal digits."""
_MOST_VARIED = 400
"""A secret longer than this, such as a key file, is masked only in its plain form and encoded as a whole."""
_LONGEST_LINE = 1 << 16
"""A line longer than this does not count as a tool's figure."""
_NAMED = {"\a": "a", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "\v": "v"}
_ENTITIES = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}
_SPECIAL = frozenset(b".[]{}()*+?|^$\\")


@dataclass(frozen=True)
class Secret:
    """A word that must never be shown or stored. If possible, it should not be a process argument either.

    `written` is the secret's form in a file that has its own escapes, such as a property file. `of` are the original
    secrets from which it was put together.
    """

    value: str = field(repr=False)
    name: str = "secret"
    written: str = field(default="", repr=False)
    of: tuple[str, ...] = field(default=(), repr=False)


class Masking:
    """Replaces secrets by ***, in text or in a stream of bytes that may be cut anywhere.

    `figures` are extended regular expressions for whole lines with a tool's measured numbers. These lines are left as
    they are, so that a secret such as `42` does not change the numbers.
    """

    def __init__(self, secrets: Iterable[Secret], figures: Sequence[str] = ()) -> None:
        self._forms = _forms_of(tuple(sorted({value for secret in secrets for value in _values(secret)})))
        self._figures = re.compile(f"(?:{'|'.join(figures)})\r?\n?".encode()) if figures else None

    def text(self, text: str) -> str:
        masked_bytes = b"".join(self.stream([text.encode("utf-8", "surrogateescape")]))
        return masked_bytes.decode("utf-8", "surrogateescape")

    def stream(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        if not self._forms.literals:
            yield from chunks
        elif self._figures is None:
            yield from self._masked(chunks)
        else:
            yield from self._but_figures(chunks, self._figures)

    def _but_figures(self, chunks: Iterable[bytes], figures: re.Pattern[bytes]) -> Iterator[bytes]:
        for is_figure, lines in groupby(_lines(chunks), lambda line: figures.fullmatch(line) is not None):
            if is_figure:
                yield from lines
            else:
                yield from self._masked(lines)

    def _masked(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        longest, rest = self._forms.longest, b""
        for chunk in chunks:
            rest += chunk
            # A match that begins before `settled` can't grow, and no longer one can replace it, when more bytes come.
            settled = len(rest) - longest + 1
            done = 0
            out = bytearray()
            for start, end in self._forms.found(rest) if settled > 0 else ():
                if start >= settled:
                    break
                out += rest[done:start] + MASK.encode()
                done = end
            out += rest[done : max(done, settled)]
            rest = rest[max(done, settled, 0) :]
            if out:
                yield bytes(out)
        done = 0
        for start, end in self._forms.found(rest):
            yield rest[done:start] + MASK.encode()
            done = end
        if rest[done:]:
            yield rest[done:]


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines with their line ends. A line that is too long for a figure is split into parts that do not count
    as figures."""
    rest = b""
    for chunk in chunks:
        first, *others = (rest + chunk).split(b"\n")
        for line in others:
            yield first + b"\n"
            first = line
        rest = first
        if len(rest) > _LONGEST_LINE:
            yield rest
            rest = b""
    if rest:
        yield rest


# --- patterns ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Forms:
    """The forms of secrets to look for. `literals` are searched for everywhere, and `varied` forms only near a mark of
    some encoding (`marks`).

    Patterns with alternatives for each character are slow, and most of an output has no such mark.
    """

    literals: tuple[bytes, ...]
    varied: tuple[re.Pattern[bytes], ...]
    marks: re.Pattern[bytes]
    longest: int

    def found(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Yield each offset at which a form occurs, from left to right, together with the end of the longest form that
        begins there."""
        spans = [(at, -len(literal)) for literal in self.literals for at in _places(literal, text)]
        for start, end in self._windows(text) if self.varied else ():
            for pattern in self.varied:
                spans += [(start + m.start(), m.start() - m.end()) for m in pattern.finditer(text[start:end])]
        done = 0
        for start, length in sorted(spans):
            if start >= done:
                done = start - length
                yield start, done

    def _windows(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Yield the separate parts of a text that may contain a varied form."""
        begin, end = 0, -1
        for mark in self.marks.finditer(text):
            if end < 0 or mark.start() - self.longest > end:
                if end >= 0:
                    yield begin, end
                begin = max(0, mark.start() - self.longest)
            end = min(len(text), mark.end() + self.longest)
        if end >= 0:
            yield begin, end


def _places(literal: bytes, text: bytes) -> Iterator[int]:
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + 1)


@lru_cache(64)
def _forms_of(values: tuple[str, ...]) -> _Forms:
    literals = {form for value in values for form in _literals(value)}
    patterns = [_varied(value) for value in values if len(value) <= _MOST_VARIED]
    beyond = any(not value.isascii() for value in values)
    marks = rb"%[0-9A-Fa-f]{2}|\\.|&[#a-z]" + (rb"|[?\x80-\xff]" if beyond else b"")
    return _Forms(
        tuple(sorted(literals)),
        tuple(re.compile(pattern) for _, pattern in patterns),
        re.compile(marks, re.DOTALL),
        max([*map(len, literals), *(longest for longest, _ in patterns)], default=0),
    )


def host_patterns(secrets: Iterable[Secret]) -> list[bytes]:
    """Return extended regular expressions for every masked form that fits on one line, the longest first."""
    values = {value for secret in secrets for value in _values(secret)}
    found = {(len(form), _escape(form)) for value in values for form in _literals(value)}
    found |= {_varied(value) for value in values if len(value) <= _MOST_VARIED}
    return [pattern for _, pattern in sorted(found, reverse=True) if b"\n" not in pattern]


def _values(secret: Secret) -> Iterator[str]:
    """Yield every text that must be masked: the secret, its form in a file, the secret parts of both, and all of these
    after percent-decoding."""
    whole = [value for value in (secret.value, secret.written) if value]
    parts = [*secret.of, *(password for value in whole for password in _passwords(value))]
    for value in (*whole, *(part for part in parts if len(part) >= _SHORTEST_PART)):
        yield value
        if decoded := percent_decode(value):
            yield decoded


def _passwords(secret: str) -> Iterator[str]:
    try:
        password = urlsplit(secret).password
    except ValueError:  # not a URI
        return
    if password:
        yield password


@lru_cache(256)
def _literals(value: str) -> frozenset[bytes]:
    data = _bytes(value)
    found = {data, _bytes(value.replace(" ", "+"))}
    if len(data) >= _SHORTEST_CODED:
        found |= {*_in_base64(data), data.hex().encode(), data.hex().upper().encode()}
    return frozenset(found)


def _varied(value: str) -> tuple[int, bytes]:
    lossy = sum(character.isascii() for character in value) >= _SHORTEST_PART
    each = [_ways(character, lossy) for character in value]
    return sum(longest for longest, _ in each), b"".join(pattern for _, pattern in each)


@lru_cache(512)
def _ways(character: str, lossy: bool) -> tuple[int, bytes]:
    """Return the length of a character's longest form, and a group with all its forms."""
    data = _bytes(character)
    code = ord(character)
    units = character.encode("utf-16-be", "surrogatepass")
    escaped = [
        b"".join(rb"\\{1,4}u" + _either_case(units[i : i + 2].hex()) for i in range(0, len(units), 2)),
        b"".join(rb"\\{1,4}x" + _either_case(f"{byte:02x}") for byte in data),
        b"".join(rb"\\{1,4}" + f"{byte:03o}".encode() for byte in data),
        rb"\\{1,4}U" + _either_case(f"{code:08x}"),
        rb"\\{1,4}u[{]0{0,4}" + _either_case(f"{code:x}") + b"[}]",
        b"".join(b"%(25)?" + _either_case(f"{byte:02x}") for byte in data),
        f"&#0{{0,3}}{code};".encode(),
        b"&#[xX]0{0,3}" + _either_case(f"{code:x}") + b";",
    ]
    forms: list[bytes] = [_escape(data), *escaped]
    if code < 256 and not character.isascii():
        forms += [_escape(bytes([code])), rb"\\{1,4}x" + _either_case(f"{code:02x}")]
    if not character.isascii():
        forms.append(_escape(data.decode("latin-1").encode()))  # UTF-8 that was decoded as Latin-1
        if lossy:
            forms += [rb"\?", b"\xef\xbf\xbd"]
    if character in _NAMED:
        forms.append(rb"\\{1,4}" + _NAMED[character].encode())
    if character in "\\\"'/$`":
        forms.append(rb"\\{1,8}" if character == "\\" else rb"\\{1,4}" + _escape(data))
    if character in _ENTITIES:
        forms.append(f"&{_ENTITIES[character]};".encode())
    if character == " ":
        forms.append(rb"\+")
    # The longest alternatives first, as POSIX prefers them: `\"` before `"`.
    each = b"|".join(form for _, form in sorted({(-len(form), form) for form in forms}))
    return 16 * max(len(units) // 2, len(data)), b"(" + each + b")"


def _either_case(digits: str) -> bytes:
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits).encode()


def _escape(data: bytes) -> bytes:
    return b"".join(b"\\" + bytes([byte]) if byte in _SPECIAL else bytes([byte]) for byte in data)


def _in_base64(data: bytes) -> Iterator[bytes]:
    """Yield the forms that the bytes can have within longer data in base64: three, as they may begin at any of three
    offsets in a group, in both alphabets. Digits that other bytes share are left out."""
    for before in range(3):
        bits = 8 * (before + len(data))
        start, end = -(-8 * before // 6), bits // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(bytes(before) + data + bytes(2))[start:end]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape" if "\udc80" <= max(text) <= "\udfff" else "surrogatepass")


# --- what people read --------------------------------------------------------------------------------------------


class Known:
    """The secrets that this process has read. They are masked in messages, which may quote parts of them."""

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        self._lock = threading.Lock()

    def add(self, value: str) -> None:
        with self._lock:
            if value not in self._values:
                self._values.add(value)
                words = sorted({word for each in self._values for word in _words(each)}, key=len, reverse=True)
                self._pattern = re.compile("|".join(map(_whole, words)), re.IGNORECASE) if words else None

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Forget all secrets during the block, and restore them afterwards."""
        before = self._values, self._pattern
        self._values, self._pattern = set(), None
        try:
            yield
        finally:
            self._values, self._pattern = before

    def hide(self, text: str) -> str:
        if self._pattern is None or not text:
            return text
        with self._lock:
            masking = Masking(Secret(each) for each in self._values if not _is_simple(each))
            pattern = self._pattern
        try:
            text = masking.text(text)
        except UnicodeError:  # half of a surrogate pair
            text = masking.text(text.encode("utf-8", "replace").decode())
        return pattern.sub(MASK, text)


def _is_simple(value: str) -> bool:
    """Return whether the value may occur by chance in other words or in numbers."""
    return len(value) < _SHORTEST_PART or (value.isalnum() and len(value) < _SHORTEST_ALONE) or value.isdecimal()


def _whole(word: str) -> str:
    """Return the pattern of a word. A word of only letters and digits matches only as a separate word, or encoded."""
    if not _is_simple(word):
        return re.escape(word)
    coded = (re.escape(form.decode("ascii")) for form in sorted(_literals(word) - {_bytes(word)}) if form.isascii())
    return "|".join([rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", *coded])


_PUBLIC = frozenset(
    (
        *(
            "mongodb",
            "localhost",
            "true",
            "false",
            "admin",
            "ycsb",
            "authsource",
            "tlscafile",
            "replicaset",
            "compressors",
        ),
        *("readpreference", "appname", "retrywrites", "directconnection", "primary", "secondary", "nearest", "zlib"),
        *("zstd", "snappy", "majority"),
    )
)
"""Words of connection strings that reveal nothing."""


def _words(value: str) -> Iterator[str]:
    """Yield the secret and its parts, since a library may have split it."""
    for part in dict.fromkeys([value, percent_decode(value), *re.split(r"[\s,;:/@&=?]+", percent_decode(value))]):
        least = _SHORTEST_DIGITS if part.isdecimal() else _SHORTEST_PART
        if len(part) >= least and part.lower() not in _PUBLIC and (part == value or not part.isdecimal()):
            yield part


KNOWN = Known()
"""The secrets of this process. They are module state because each error masks its own text when it is made. No code
that shows or keeps the text can then forget to mask it. Errors are made in all parts of benchbrief, in extensions and
in any thread, even before a run begins. Without module state, all of this code would have to pass an object along.
"""


def hide_throughout(text: str) -> str:
    """Mask secrets in a whole message, including its fixed wording, as earlier versions did. (`hide` masks only the
    values that are inserted into a message.)"""
    return KNOWN.hide(text)


def hide(text: str) -> str:
    """Return a text for people in which the secrets of this process are replaced by ***."""
    return mapped(text, KNOWN.hide)
