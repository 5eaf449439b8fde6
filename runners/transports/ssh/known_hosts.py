"""Which host keys are known, by OpenSSH's rules: plain, pattern and hashed names, `[host]:port`, @revoked."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class KnownKey:
    """A line of a known_hosts file: `key` is the base64 text, `where` the file and line."""

    type: str
    key: str
    marker: str
    where: str


@dataclass(frozen=True)
class KnownHost:
    """What the files say of one host."""

    name: str
    keys: tuple[KnownKey, ...]

    @property
    def key_types(self) -> tuple[str, ...]:
        """The types of its trusted keys, in the files' order."""
        return tuple(dict.fromkeys(key.type for key in self.keys if not key.marker))

    def check(self, key_type: str, key: str) -> Literal["known", "unknown", "changed", "revoked"]:
        offered = [known for known in self.keys if (known.type, known.key) == (key_type, key)]
        if any(known.marker == "@revoked" for known in offered):
            return "revoked"
        if any(not known.marker for known in offered):
            return "known"
        return "changed" if self.key_types else "unknown"


def known_host(host: str, port: int, alias: str | None, files: Iterable[Path]) -> KnownHost:
    """Look a host up. Skips a file that can't be read. `alias` is OpenSSH's HostKeyAlias."""
    name = alias or (host if port == 22 else f"[{host}]:{port}")
    name = name.lower()
    keys: list[KnownKey] = []
    for file in files:
        try:
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        for number, line in enumerate(lines, start=1):
            words = line.split()
            marker = words.pop(0) if words and words[0].startswith("@") else ""
            if len(words) >= 3 and not words[0].startswith("#") and _matches(name, words[0]):
                keys.append(KnownKey(words[1], words[2], marker, f"{file}:{number}"))
    return KnownHost(name, tuple(keys))


def _matches(name: str, field: str) -> bool:
    if field.startswith("|1|"):
        return _matches_hash(name, field)
    found = False
    for pattern in field.lower().split(","):
        # OpenSSH's patterns have only * and ?. Brackets are literal, as in [host]:port.
        plain = pattern.removeprefix("!").replace("[", "[[]")
        if fnmatchcase(name, plain):
            if pattern.startswith("!"):
                return False
            found = True
    return found


def _matches_hash(name: str, field: str) -> bool:
    try:
        _, _, salt, digest = field.split("|")
        mine = hmac.digest(base64.b64decode(salt), name.encode(), "sha1")
        return hmac.compare_digest(mine, base64.b64decode(digest))
    except (ValueError, binascii.Error):
        return False
