"""The samples in explanations. They are excerpts, which a base spec completes to whole specs."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

from benchbrief.compiler.compile import CheckedSource, check
from benchbrief.compiler.schemas import BLOCKS
from benchbrief.dsl.diagnostics.diagnostic import SpecError
from benchbrief.dsl.source import Source
from benchbrief.dsl.syntax import ast
from benchbrief.dsl.syntax.parse import parse
from benchbrief.dsl.syntax.recover import PartlyRead, parse_with_gaps

BASES = Path(__file__).parent / "explanations"
_FENCE = re.compile(r"^```(bench|console)((?: \w+)*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Sample:
    """A fenced sample. `words` follow the language on the fence's line: `wrong` or `mended`, and the name of the base
    spec unless it is mongodb."""

    language: str
    words: tuple[str, ...]
    text: str


def samples(markdown: str) -> list[Sample]:
    return [Sample(match[1], tuple(match[2].split()), match[3]) for match in _FENCE.finditer(markdown)]


def outcome(all_samples: list[Sample], word: str, folder: Path) -> CheckedSource:
    """Check the sample marked `word`, together with the samples that are neither `wrong` nor `mended`."""
    (chosen,) = [each for each in all_samples if word in each.words]
    given = [each for each in all_samples if each.language == "bench" and not {"wrong", "mended"} & {*each.words}]
    bench = [*given, chosen] if chosen.language == "bench" else given
    words = {name for each in bench for name in each.words}
    text = "".join(each.text for each in bench)
    base = "rocksdb" if "rocksdb" in words else "mongodb"
    whole = text if "alone" in words else completed(text, (BASES / f"{base}.bench").read_text(encoding="utf-8"))
    (folder / "spec.bench").write_text(whole, encoding="utf-8")
    for name in ("lab.bench", "mongod.conf", "forked.conf", "arrivals.txt"):
        shutil.copy(BASES / name, folder)
    command = shlex.split(chosen.text) if chosen.language == "console" else ["bench", "check", "spec.bench"]
    assert command[:2] == ["bench", "check"]
    options = dict(zip(command[3::2], command[4::2], strict=True))
    params = dict([options["--param"].split("=", 1)]) if "--param" in options else {}
    with chdir(folder):
        return check(Path(os.fspath(command[2])), profile=options.get("--profile"), params=params)


def completed(sample: str, base: str) -> str:
    """Complete a sample from `base`. A block that both have gets the attributes that only the base has.

    If the sample has a syntax error, the part that can be read is completed. If nothing can be read, the sample is
    returned as it is.
    """
    try:
        tree = parse_with_gaps(Source("sample", sample))
    except PartlyRead as error:
        tree = error.tree
    except SpecError:
        return sample
    ours = {_key(node): node for node in tree.declarations}
    rest, edits = [], []
    for node in parse(Source("base", base)).declarations:
        same = ours.get(_key(node))
        if same is None:
            rest.append(node.span.text)
        elif isinstance(same, ast.Block) and isinstance(node, ast.Block):
            missing = [item.span.text for item in node.body if _wanted(item, same)]
            closed = sample[same.span.end - 1] == "}"
            edits.append((same.span.end - 1 if closed else same.span.end, closed, "\n  ".join(missing)))
    for place, closed, text in sorted(edits, reverse=True):
        added = f"\n  {text}\n" if closed else f" {{\n  {text}\n}}"
        sample = sample[:place].rstrip() + (added if text else "") + sample[place:]
    return sample + "\n" + "\n".join(rest) + "\n"


def _key(node: ast.Declaration | ast.Item) -> tuple[str, ...]:
    match node:
        case ast.Block(keyword=keyword, name=name):
            return (keyword.text, name.text if name else "")
        case ast.Attribute(key=key):
            return ("attribute", key.text)
        case ast.Metric(name=name) | ast.Param(name=name):
            return (type(node).__name__, name.text)
        case _:
            return (type(node).__name__, str(node.span.start), node.span.source.name)


def _wanted(item: ast.Item, block: ast.Block) -> bool:
    said = {_key(each) for each in block.body}
    rivals = [set(keys) for keys in BLOCKS[block.keyword.text].exclusive] if block.keyword.text in BLOCKS else []
    beside = {("attribute", key) for keys in rivals if _key(item)[-1] in keys for key in keys}
    return not said & {_key(item), *beside}
