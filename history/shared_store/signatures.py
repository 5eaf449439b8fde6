"""Signs lists of files, and checks runs, briefs and capsules against the signed lists."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.history.object_stores.object_store import SharedStoreError
from benchbrief.history.shared_store.run_manifest import read_pushed
from benchbrief.results.result_messages import changed_text
from benchbrief.runners.journal.atomic_files import sha256_of

NAMESPACE = "benchbrief"
"""The purpose of our signatures. Signatures for other purposes are invalid."""
_TIMEOUT_S = 120.0
_KEY = re.compile(r"with (\S+ key SHA256:\S+)")


@dataclass(frozen=True)
class SignatureState:
    """What a signature proves:

    - `holds`: `signer` signed these bytes.
    - `unknown`: a key that is not allowed signed these bytes.
    - `unchecked`: a key signed these bytes, and no list of allowed keys was given.
    - `wrong`: other bytes were signed.
    - `absent`: there is no signature.
    """

    state: Literal["holds", "unknown", "unchecked", "wrong", "absent"]
    signer: str = ""
    key: str = ""

    @property
    def text(self) -> str:
        """Return a phrase that describes something with this signature (`signed by ...`)."""
        key = f" ({self.key})" if self.key else ""
        return {
            "holds": f"signed by {self.signer}{key}",
            "unknown": f"signed by a key that is not among the allowed signers{key}",
            "unchecked": f"signed by somebody{key}; --allowed-signers FILE tells whether you know the key",
            "wrong": "signed, but its signature does not fit: it is of something else, or what was signed was changed",
            "absent": "not signed: nobody vouches for it",
        }[self.state]


def sign(content: bytes, key: Path) -> bytes:
    """Return a signature of the content. Raises SharedStoreError if the key can't be used."""
    if not key.is_file():
        raise SharedStoreError(f"there is no key {key}", "make one: ssh-keygen -t ed25519 -f " + str(key))
    done = _ssh_keygen(["-Y", "sign", "-f", str(key), "-n", NAMESPACE], content)
    if done.returncode != 0 or not done.stdout:
        why = _last_line(done.stderr)
        hint = "its owner alone may read a private key; one with a passphrase wants a terminal or ssh-agent"
        raise SharedStoreError(f"{key} does not sign: {why}", hint)
    return done.stdout


def check(content: bytes, signature: bytes | None, allowed: Path | None) -> SignatureState:
    """Check a signature against its content and, if given, the file of allowed signers. Raises SharedStoreError if that
    file or ssh-keygen is missing."""
    if allowed and not allowed.is_file():
        raise SharedStoreError(f"there is no file of allowed signers {allowed}", "each line: NAME KEYTYPE KEY")
    if signature is None:
        return SignatureState("absent")
    with tempfile.TemporaryDirectory(prefix="benchbrief-") as folder:
        file = Path(folder) / "signature"
        file.write_bytes(signature)
        of = ["-n", NAMESPACE, "-s", str(file)]
        plain = _ssh_keygen(["-Y", "check-novalidate", *of], content)
        if plain.returncode != 0:
            return SignatureState("wrong")
        found = _KEY.search(plain.stdout.decode(errors="replace"))
        key = found[1] if found else ""
        if allowed is None:
            return SignatureState("unchecked", key=key)
        names = _ssh_keygen(["-Y", "find-principals", "-s", str(file), "-f", str(allowed)], b"")
        for name in names.stdout.decode(errors="replace").splitlines() if names.returncode == 0 else ():
            verified = _ssh_keygen(["-Y", "verify", "-f", str(allowed), "-I", name, *of], content)
            if verified.returncode == 0:
                return SignatureState("holds", name, key)
        return SignatureState("unknown", key=key)


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


@dataclass(frozen=True)
class SignedCheck:
    """The verdict on the manifest's signature, and the differences between the files and the signed list."""

    verdict: SignatureState
    differing: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return self.verdict.state == "holds" and not self.differing


def check_signed(run_dir: Path, documents: Iterable[Path], allowed: Path, *, raw: bool) -> SignedCheck:
    """Check a run's files, and documents outside its folder, against the signed list. Raw outputs are checked only with
    `raw`.

    Raises SharedStoreError, OSError.
    """
    record = read_pushed(run_dir)
    if record is None:
        return SignedCheck(SignatureState("absent"), ())
    verdict = check(record.content, record.signature, allowed)
    if verdict.state != "holds":
        return SignedCheck(verdict, ())
    differing = []
    for path, file in record.files.items():
        if raw or not path.startswith("raw/"):
            differing += _changed(path, run_dir / path, {file.sha256}, run_dir)
    signed = {file.sha256 for path, file in record.files.items() if path.startswith("reports/")}
    inside = {(run_dir / path).resolve() for path in record.files}
    for document in documents:
        if document.resolve() not in inside:
            differing += _changed(document.name, document, signed)
    return SignedCheck(verdict, tuple(differing))


def _changed(name: str, path: Path, signed: set[str], inside: Path | None = None) -> list[str]:
    try:
        found = sha256_of(path, inside)
    except OSError as error:
        return [f"{name}, which was signed, can't be read: {error.strerror}"]
    if found in signed:
        return []
    one = next(iter(signed)) if len(signed) == 1 else ""
    return [f"{name} is not what was signed" + (f" ({changed_text(found, one)})" if one else "")]
