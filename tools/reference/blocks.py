"""Makes the page of blocks and their attributes."""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.compiler import word_meanings
from benchbrief.compiler.registry import ENGINE_SPECS, TOOL_SPECS
from benchbrief.compiler.schemas import BLOCKS
from benchbrief.model.value_shapes import BlockSchema
from tools.reference.attributes import attributes, exclusive, heading
from tools.reference.markdown import code, joined, page_of, table, text


def page() -> str:
    return joined(["# Blocks and their attributes", text("blocks"), _contents(), *_blocks()])


def _contents() -> str:
    rows = [(f"[`{name}`](#{name})", _places(name), block.doc) for name, block in BLOCKS.items()]
    rows.insert(
        list(BLOCKS).index("database") + 1, ("[`options`](#options)", "in `database`", "Options of the engine.")
    )
    rows += [
        (f"[`{name}`](#{name})", "by itself", doc)
        for name, doc in {
            "metric": "A derived metric.",
            "expect": "A condition that must hold.",
            "param": "A value that the command line may set.",
            "use": "Brings the declarations of another file in.",
        }.items()
    ]
    rows.append(("[`report`](reports.md)", "by itself", "What the brief says."))
    return table(("block", "where", "what it is"), rows)


def _places(name: str) -> str:
    within = [other for other, block in BLOCKS.items() if name in block.blocks]
    return f"in {code(*within)}" if within else "by itself"


def elsewhere() -> frozenset[str]:
    """Return the attributes that the pages of engines and load generators explain."""
    of_engines = {name for each in ENGINE_SPECS.own.values() for name in each.attributes}
    return frozenset(of_engines | {name for each in TOOL_SPECS.own.values() for name in each.attributes})


def _blocks() -> Iterator[str]:
    for name, block in BLOCKS.items():
        yield heading(name, block, 2)
        yield text(f"blocks/{name}")
        yield attributes({key: each for key, each in block.keys.items() if not each.only or key not in elsewhere()})
        yield exclusive(block)
        yield _rules(name, block)
        if name == "experiment":
            yield from _calls()
        if name == "database":
            yield from _options()
    for statement in ("metric", "expect", "param", "use"):
        yield f"## `{statement}`"
        yield text(f"blocks/{statement}")


def _rules(name: str, block: BlockSchema) -> str:
    """Describe what a block may contain, and what may be made from it."""
    said = []
    if block.blocks:
        said.append(f"Blocks in it: {code(*block.blocks)}.")
    if block.inherits and name != "workload":
        said.append(f"`{name} b from a {{ }}` begins with all that `a` says.")
    if block.overridable:
        said.append(f"A profile may change it: `override {name} {{ }}`.")
    if block.open_keys is not None:
        said.append(f"Any other attribute is a fact: {block.open_keys.wanted}.")
    return " ".join(said)


def _calls() -> Iterator[str]:
    """Describe the arguments of calls in an experiment, such as `knee(...)`."""
    calls = {"range": "a ramp", "knee": "a search", "confident": "`repeats`", "random": "an order of `repeats`"}
    for call, where in calls.items():
        yield f"The arguments of `{call}(...)`, {where}:"
        rows = [(code(f"{name}:"), doc) for name, doc in word_meanings.ARGUMENTS[call].items()]
        yield table(("argument", "what it says"), rows)
    yield "The orders of `repeats`:"
    yield table(("order", "what is measured when"), [(code(name), doc) for name, doc in word_meanings.ORDERS.items()])


def _options() -> Iterator[str]:
    yield "## `options`"
    yield text("blocks/options")
    pages = (
        f"[{spec.label}]({page_of('engines', name)}#options)" for name, spec in ENGINE_SPECS.own.items() if spec.options
    )
    yield f"Each engine has its own: {', '.join(pages)}."
