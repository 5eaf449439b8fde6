"""What `bench verify` shows of a signature."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchbrief.cli.terminal import one_line, show, warn
from benchbrief.dsl.diagnostics.plain_amounts import plural

if TYPE_CHECKING:
    from benchbrief.results.shared_store.signed_run import SignedCheck

_MOST = 20


def show_signature(signed: SignedCheck) -> None:
    """Show the verdict on a signature, and what differs from what was signed."""
    verdict = signed.verdict
    key = f" ({verdict.key})" if verdict.key else ""
    match verdict.state:
        case "holds":
            count = len(signed.differing)
            are = "is" if count == 1 else "are"
            state = "as it was signed" if not count else f"{plural(count, 'file')} {are} not as signed"
            show(one_line(f"signed by {verdict.signer}{key}: {state}"))
        case "unknown":
            warn(one_line(f"the run is signed by a key that is not among the allowed signers{key}"))
        case "wrong":
            warn("the signature of the run does not fit: it is of something else, or its manifest was changed")
        case "absent":
            warn("the run is not signed: nobody vouches for it; `bench push --sign KEY` signs it")
    for text in signed.differing[:_MOST]:
        warn(one_line(text))
    if len(signed.differing) > _MOST:
        warn(f"and {len(signed.differing) - _MOST:,} more")
