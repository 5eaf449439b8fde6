"""Runs the mutants: `python -m tests.mutation [--only TEXT] [--json FILE] [-j N]`. See CONTRIBUTING.md."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from tests.mutation.mutants import read_mutants
from tests.mutation.run_mutants import REQUIRED, Result, passes, run_mutants, score

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description="Try the mutants on the tests.")
    parser.add_argument(
        "--only", action="append", metavar="TEXT", help="mutants with this in their module's path or name"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to a file; - for standard output")
    parser.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="how many to try at the same time")
    parser.add_argument("--list", action="store_true", help="print the mutants, and try none")
    asked = parser.parse_args()
    mutants = [each for each in read_mutants() if not asked.only or any(text in each.name for text in asked.only)]
    if not mutants:
        parser.error("no mutant has that in its name: see --list")
    if asked.list:
        for each in mutants:
            print(f"{each.name}: {each.old!r} -> {each.new!r}{' (equivalent)' if each.equivalent else ''}")
        return 0
    told = 0

    def tell(result: Result) -> None:
        nonlocal told
        told += 1
        of = f"{told}/{sum(not each.equivalent for each in mutants)}"
        detail = f"  {result.detail}" if result.detail else ""
        print(f"{of} {result.state} {result.mutant.name} {result.seconds:.1f} s{detail}", file=sys.stderr, flush=True)

    results = run_mutants(ROOT, mutants, max(1, asked.jobs), tell)
    if asked.json:
        text = json.dumps(_report(results), indent=1) + "\n"
        if str(asked.json) == "-":
            sys.stdout.write(text)
        else:
            asked.json.write_text(text, encoding="utf-8")
    for result in results:
        if result.state == "survived":
            of = result.mutant
            print(f"survived: {of.name}\n  - {of.old}\n  + {of.new}", file=sys.stderr)
    counts = Counter(result.state for result in results)
    summary = ", ".join(f"{number} {state}" for state, number in counts.most_common())
    print(f"{summary}: {score(results):.1%} killed, {REQUIRED:.0%} asked for", file=sys.stderr)
    return 0 if passes(results) else 1


def _report(results: list[Result]) -> dict[str, object]:
    return {
        "score": score(results),
        "required": REQUIRED,
        "passes": passes(results),
        "mutants": [
            {
                "name": each.mutant.name,
                "file": each.mutant.file,
                "old": each.mutant.old,
                "new": each.mutant.new,
                "tests": each.mutant.tests,
                "state": each.state,
                "seconds": round(each.seconds, 2),
                "detail": each.detail,
            }
            for each in results
        ],
    }


if __name__ == "__main__":
    sys.exit(main())
