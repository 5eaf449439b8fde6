"""Signatures of manifests by `ssh-keygen -Y`, whose keys and file of allowed signers git uses as well.

The file of allowed signers has lines such as `lab@example.org namespaces="benchbrief" ssh-ed25519 AAAA...`.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchbrief.results.object_stores.object_store import SharedStoreError

NAMESPACE = "benchbrief"
"""A signature that was made for another purpose does not hold here."""
_TIMEOUT_S = 120.0
_KEY = re.compile(r"with (\S+ key SHA256:\S+)")


@dataclass(frozen=True)
class Verdict:
    """What a signature proves. `holds`: the bytes are those that `signer` signed. `unknown`: they are those that some
    key signed, which is not allowed. `wrong`: they are others. `absent`: there is no signature."""

    state: Literal["holds", "unknown", "wrong", "absent"]
    signer: str = ""
    key: str = ""


def sign(content: bytes, key: Path) -> bytes:
    """Return a signature of the content. Raises SharedStoreError when the key can't be used."""
    if not key.is_file():
        raise SharedStoreError(f"there is no key {key}", "make one: ssh-keygen -t ed25519 -f " + str(key))
    done = _ssh_keygen(["-Y", "sign", "-f", str(key), "-n", NAMESPACE], content)
    if done.returncode != 0 or not done.stdout:
        why = _last_line(done.stderr)
        hint = "its owner alone may read a private key; one with a passphrase wants a terminal or ssh-agent"
        raise SharedStoreError(f"{key} does not sign: {why}", hint)
    return done.stdout


def check(content: bytes, signature: bytes | None, allowed: Path) -> Verdict:
    """Hold a signature against its content and the file of allowed signers. Raises SharedStoreError when that file, or
    ssh-keygen, is not there."""
    if not allowed.is_file():
        raise SharedStoreError(f"there is no file of allowed signers {allowed}", "each line: NAME KEYTYPE KEY")
    if signature is None:
        return Verdict("absent")
    with tempfile.TemporaryDirectory(prefix="benchbrief-") as folder:
        file = Path(folder) / "signature"
        file.write_bytes(signature)
        of = ["-n", NAMESPACE, "-s", str(file)]
        plain = _ssh_keygen(["-Y", "check-novalidate", *of], content)
        if plain.returncode != 0:
            return Verdict("wrong")
        found = _KEY.search(plain.stdout.decode(errors="replace"))
        key = found[1] if found else ""
        names = _ssh_keygen(["-Y", "find-principals", "-s", str(file), "-f", str(allowed)], b"")
        for name in names.stdout.decode(errors="replace").splitlines() if names.returncode == 0 else ():
            verified = _ssh_keygen(["-Y", "verify", "-f", str(allowed), "-I", name, *of], content)
            if verified.returncode == 0:
                return Verdict("holds", name, key)
        return Verdict("unknown", key=key)


def _ssh_keygen(words: list[str], content: bytes) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["ssh-keygen", *words], input=content, capture_output=True, timeout=_TIMEOUT_S, check=False
        )
    except FileNotFoundError as error:
        raise SharedStoreError("ssh-keygen is not installed", "install OpenSSH's client, 8.2 or later") from error
    except subprocess.TimeoutExpired as error:
        raise SharedStoreError(
            f"ssh-keygen did not end within {_TIMEOUT_S:.0f} s", "use ssh-agent for keys with a passphrase"
        ) from error


def _last_line(output: bytes) -> str:
    lines = output.decode(errors="replace").strip().splitlines()
    return lines[-1].strip() if lines else "ssh-keygen says nothing"
