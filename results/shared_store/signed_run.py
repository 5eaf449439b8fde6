"""Holding a run and its briefs against the signed manifest in the run's folder."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchbrief.results.shared_store.pushed_record import read_pushed
from benchbrief.results.shared_store.signatures import Verdict, check
from benchbrief.results.store.digests import changed_text, sha256_of


@dataclass(frozen=True)
class SignedCheck:
    """The verdict on the manifest's signature, and how files differ from what was signed."""

    verdict: Verdict
    differing: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return self.verdict.state == "holds" and not self.differing


def check_signed(run_dir: Path, documents: Iterable[Path], allowed: Path, *, raw: bool) -> SignedCheck:
    """Hold a run's files, and documents that may lie elsewhere, against what was signed; raw outputs only with `raw`.

    Raises SharedStoreError, OSError.
    """
    record = read_pushed(run_dir)
    if record is None:
        return SignedCheck(Verdict("absent"), ())
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
