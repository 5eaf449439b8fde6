"""Hypothesis strategies that write specs.

`texts()` follows the grammar: anything that may be written, however little sense it makes, with comments and line ends
in any place. Few of these texts are right specs. Some can't be read, because a line end may separate words that belong
together. `specs()` follows the checker's tables: each of its specs passes `bench check`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from hypothesis import strategies as st

from benchbrief.compiler import schemas
from benchbrief.compiler.blocks.databases import TOGETHER
from benchbrief.compiler.registry import ENGINE_SPECS, TOOL_SPECS
from benchbrief.compiler.schemas import WORKLOAD
from benchbrief.model import value_shapes
from benchbrief.model.engine_spec import STARTED

Words: TypeAlias = tuple[str, ...]
"""A text in pieces. There may be any white space between two pieces, whereas a piece has blanks only where they are
required."""

# --- By the grammar ---------------------------------------------------------------------------------------------------

NAMES = st.sampled_from(
    [
        "a", "b_1", "hosts", "throughput", "nvme", "x", "by", "over", "when", "every", "on", "for", "from", "in", "is",
        "and", "or", "not", "metric", "each", "table", "variant", "color",
    ]
)  # fmt: skip
NUMBERS = st.from_regex(r"\A(0|[1-9][0-9]{0,3}|[1-9]_000|[0-9]\.[0-9]{1,3}|[1-9]e-?[0-9])[kMGT]?\Z")
UNITS = st.sampled_from(
    ["", "", "", " min", " s", "GiB", " ops/s", " %", "%", " USD/h", " µs", " x", " e3", "\u00a0h", " by"]
)
STRINGS = st.sampled_from(
    [
        '"text"', '""', '"{a:.1f}"', '"{max(a over b):+.0%} # no comment"', r'"\"{{"', '"日本"', '"a = 1 { }"',
        '"' + 90 * "long " + '"',
    ]
)  # fmt: skip
TEXTS = st.sampled_from(
    [
        '"""one"""', '"""\n  two\n  lines\n"""', '"""first\n    second\n  third"""', '"""\n\n  a  \n \n   b\n\n"""',
        '"""\r\n\ta\r\n\tb"""', '"""\n  {a +\n b:.1f} x\n"""',
    ]
)  # fmt: skip
OPERATORS = st.sampled_from(["+", "-", "*", "/", "x", "..", "<", "<=", ">", ">=", "==", "!=", "and", "or"])
COMMENTS = [" # beside\n", "\n# above\n", "\n\n  # apart\n\n", "#tight\n"]
WHEN = st.sampled_from([", when", "when", ",\nwhen"])
GAPS = st.sampled_from([*[" "] * 12, "  ", "\t", "\n", "\n", "\r\n", "\n\n\n", *COMMENTS])


def phrase(*parts: str | st.SearchStrategy[str] | st.SearchStrategy[Words]) -> st.SearchStrategy[Words]:
    """Return a strategy for the parts in sequence."""
    drawn = [st.just((part,)) if isinstance(part, str) else part.map(_as_words) for part in parts]
    return st.tuples(*drawn).map(lambda each: tuple(word for words in each for word in words))


def _as_words(part: str | Words) -> Words:
    return (part,) if isinstance(part, str) else part


def maybe(*parts: str | st.SearchStrategy[str] | st.SearchStrategy[Words]) -> st.SearchStrategy[Words]:
    return st.just(()) | phrase(*parts)


def listed(part: st.SearchStrategy[Words], least: int = 0, most: int = 3) -> st.SearchStrategy[Words]:
    """Return a strategy for parts separated by commas."""

    def with_commas(parts: Iterable[Words]) -> Words:
        return tuple(word for each in parts for word in (",", *each))[1:]

    return st.lists(part, min_size=least, max_size=most).map(with_commas)


def _deeper(expression: st.SearchStrategy[Words]) -> st.SearchStrategy[Words]:
    arguments = listed(phrase(maybe(NAMES, ":"), expression), 1)
    comma = maybe(",")
    return st.one_of(
        phrase(expression, OPERATORS, expression),
        phrase(expression, OPERATORS, expression),
        phrase(st.sampled_from(["-", "not"]), expression),
        phrase("(", expression, ")"),
        phrase("[", listed(expression | _values(expression), 1), comma, "]"),
        phrase("[", listed(NUMBERS.map(_as_words), 0, 40), "]"),
        phrase(NAMES, ".", NAMES),
        phrase(NAMES, "[", arguments, comma, "]"),
        phrase(NAMES, "(", arguments, comma, ")") | phrase(NAMES, "(", ")"),
        phrase(NAMES, "(", expression, "over", listed(NAMES.map(_as_words), 1), maybe(WHEN, expression), ")"),
        phrase(NAMES, "(", expression, WHEN, expression, ")"),
    )


def _values(expression: st.SearchStrategy[Words]) -> st.SearchStrategy[Words]:
    return phrase(expression, "every", expression, maybe("on", expression)) | phrase(
        expression, st.sampled_from(["by", "along"]), NAMES, maybe("and", NAMES)
    )


QUANTITIES = st.tuples(NUMBERS, UNITS).map("".join)
EXPRESSIONS = st.recursive((NAMES | QUANTITIES | STRINGS).map(_as_words), _deeper, max_leaves=8)
OPTIONS = st.tuples(NAMES, NAMES | STRINGS | QUANTITIES).map(" ".join).map(_as_words)
SERIES = phrase(EXPRESSIONS | _values(EXPRESSIONS), maybe(",", listed(OPTIONS | EXPRESSIONS, 1)))
KEYS = st.tuples(NAMES, st.sampled_from([" =", "=", ' "Label" ='])).map("".join)
ATTRIBUTES = phrase(KEYS, SERIES | TEXTS.map(_as_words), maybe(","))
LABELS = maybe(STRINGS)
BASES = phrase("from", NAMES, maybe(".", NAMES))
LEAVES = st.one_of(
    ATTRIBUTES,
    ATTRIBUTES,
    ATTRIBUTES,
    phrase("formula", NAMES, maybe("for", listed(phrase(maybe(NAMES, ":"), EXPRESSIONS), 1))),
    phrase(NAMES, NAMES, LABELS, BASES),
)


def _block(item: st.SearchStrategy[Words]) -> st.SearchStrategy[Words]:
    body = st.lists(item, max_size=5).map(lambda items: tuple(word for words in items for word in words))
    plain = phrase(NAMES, maybe(NAMES), LABELS, maybe(BASES))
    return phrase(plain | phrase("each", NAMES) | phrase("override", NAMES, maybe(NAMES)), "{", body, "}")


BLOCKS = _block(st.recursive(LEAVES, _block, max_leaves=8))
METRIC_UNITS = st.sampled_from(["ops/s", "%", "USD/Mop"])
BETTER = maybe(",", st.sampled_from(["higher", "lower"]), "is", "better")
DECLARATIONS = st.one_of(
    BLOCKS,
    BLOCKS,
    phrase("metric", NAMES, LABELS, maybe("in", METRIC_UNITS), "=", EXPRESSIONS, BETTER),
    phrase("param", NAMES, "=", EXPRESSIONS),
    phrase("expect", LABELS, EXPRESSIONS),
    phrase("use", STRINGS),
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Draw any text of the grammar."""
    words = [word for declaration in draw(st.lists(DECLARATIONS, max_size=4)) for word in declaration]
    gaps = draw(st.lists(GAPS, min_size=len(words) + 1, max_size=len(words) + 1))
    return "".join(part for pair in zip(gaps, [*words, ""], strict=True) for part in pair)


# --- By the tables of the checker -------------------------------------------------------------------------------------


def value(shape: value_shapes.Shape) -> st.SearchStrategy[str] | None:
    """Return a strategy for valid values of an attribute with this shape. Returns None for an attribute with its own
    reader."""
    match shape:
        case value_shapes.Text():
            return st.sampled_from(['"/data/one"', '"/mnt/x y"'] if shape.absolute else ['"plain"', '"日本, {{x}}"'])
        case value_shapes.Login():
            return st.sampled_from(['secret("WORD")'] if shape.secret else ['"bench"', 'env("WHO")'])
        case value_shapes.Word():
            return st.sampled_from(shape.choices).map('"{}"'.format if shape.quoted else str)
        case value_shapes.Flag():
            return st.sampled_from(["true", "false"])
        case value_shapes.Number():
            least = shape.minimum or (1 if shape.above else 0)
            most = min(shape.maximum or math.inf, max(1000, 2 * least))
            if shape.maximum == 1.0:
                return st.integers(0, 100).map("{} %".format)
            numbers = st.integers(max(1, int(least)), int(most)).map(str)
            return numbers.map(f"{{}} {shape.unit}".format) if not shape.plain else numbers
        case value_shapes.Fact():
            return st.sampled_from(['"a text"', "64 GiB", "3.5 USD/h", "true", "7", "25 Gbit/s"])
        case value_shapes.Login() | value_shapes.Special():
            return None


def attributes(
    keys: Mapping[str, value_shapes.Key], without: Iterable[str] = (), only: str = ""
) -> st.SearchStrategy[str]:
    """Return a strategy for some of a block's attributes, each at most once."""
    values = {
        name: found
        for name, key in keys.items()
        if name not in without and (not key.only or only in key.only) and (found := value(key.shape)) is not None
    }
    return st.fixed_dictionaries({}, optional=values).map(
        lambda drawn: "".join(f"  {name} = {text}\n" for name, text in drawn.items())
    )


RAMPS = st.one_of(
    st.integers(1, 512).map(str),
    st.lists(st.integers(1, 512), min_size=1, max_size=30, unique=True).map(str),
    st.tuples(st.integers(1, 4), st.integers(5, 12)).map("{0[0]}..{0[1]}".format),
    st.just("range(1, 64, factor: 2)"),
)
REPEATS = st.sampled_from(["1", "3, interleaved", "2, grouped", "5, random(seed: 7)"])
DATABASES = {
    "attached": '  engine = mongodb\n  uri = "mongodb://{hosts}/ycsb"\n',
    "started": '  engine = mongodb\n  server = start\n  path = "/data/db"\n',
    "rocksdb": '  engine = rocksdb\n  path = "/data/db"\n',
}
BASES_OF = {
    "mongodb": [f"ycsb.{name}" for name in TOOL_SPECS.own["ycsb"].workloads],
    "rocksdb": [f"db_bench.{name}" for name in ("readrandom", "readwhilewriting", "readrandomwriterandom")],
}
ROCKSDB = {name: each.key for name, each in ENGINE_SPECS.own["rocksdb"].options.items()}
FACTS = {"note": value_shapes.Key(value_shapes.Fact(), ""), "network": value_shapes.Key(value_shapes.Fact(), "")}
NEEDS_OTHERS = ("scan_length", "write_rate", "record_size", *TOOL_SPECS.own["ycsb"].shares)
"""Attributes of a workload that are valid only together with some of the others, or only for some benchmarks."""
A_FILE = "config"
"""The attribute of a database that names a file beside the spec."""


@st.composite
def started(draw: st.DrawFn) -> str:
    """Draw the attributes that only a started server has. Attributes that belong together are either all drawn, or none
    of them is."""
    parted = [draw(st.sampled_from([(), together])) for together in TOGETHER]
    keys = {key: schemas.DATABASE.keys[key] for together in parted for key in together}
    drawn = draw(
        st.fixed_dictionaries({name: found for name, key in keys.items() if (found := value(key.shape)) is not None})
    )
    alone = {key: schemas.DATABASE.keys[key] for key in STARTED if key not in {*sum(TOGETHER, ()), A_FILE}}
    return draw(attributes(alone, only="mongodb")) + "".join(f"  {name} = {text}\n" for name, text in drawn.items())


@st.composite
def specs(draw: st.DrawFn) -> str:
    """Draw a spec without errors: hardware, a database, workloads, an experiment, metrics and a report."""
    kind = draw(st.sampled_from(list(DATABASES)))
    engine, only = ("rocksdb", "db_bench") if kind == "rocksdb" else ("mongodb", "ycsb")
    parts = []
    for group in ("alpha", "beta"):
        hosts = draw(st.integers(1, 3)) if kind == "attached" else 1
        ssh = draw(attributes(schemas.SSH.keys, without=("jump",)))
        facts = draw(attributes(FACTS))
        parts.append(f'hardware {group} {{\n  hosts = "{group}-[1-{hosts}].lab"\n{facts}  ssh {{\n{ssh}  }}\n}}\n')
    if engine == "mongodb":
        parts.append('client load { hosts = "load.lab"  tool = ycsb("/opt/ycsb") }\n')
    keys = draw(attributes(schemas.DATABASE.keys, ("engine", "uri", "server", "path", *STARTED), engine))
    keys += draw(started()) if kind == "started" else ""
    options = f"  options {{\n{draw(attributes(ROCKSDB))}  }}\n" if engine == "rocksdb" else ""
    parts.append(f"database store {{\n{DATABASES[kind]}{keys}{options}}}\n")
    workloads = [f"w{number}" for number in range(draw(st.integers(1, 3)))]
    for name in workloads:
        keys = draw(attributes(WORKLOAD.keys, NEEDS_OTHERS, only))
        parts.append(f'workload {name} "Load {name}" from {draw(st.sampled_from(BASES_OF[engine]))} {{\n{keys}}}\n')
    repeats = draw(REPEATS)
    # A budget has repeats to give, and room for one pass over all points.
    budget = draw(st.sampled_from(["", "  budget = 9000 h\n"])) if repeats != "1" else ""
    parts.append(
        f"experiment ramp {{\n  hardware = [alpha, beta]\n  workloads = [{', '.join(workloads)}]\n"
        f"  threads = {draw(RAMPS)}\n  measure = 1 min\n  repeats = {repeats}\n  probes = [cpu every 1 s]\n"
        f"{budget}{draw(attributes(schemas.EXPERIMENT.keys, without=('measure', 'budget')))}}}\n"
    )
    return "\n".join([*parts, draw(st.sampled_from(REPORTS))])


REPORTS = (
    "",
    "metric gain in % = throughput[beta] / throughput[alpha] - 1, higher is better\n",
    """\
metric gain "Gain" in % = throughput[beta] / throughput[alpha] - 1, higher is better
metric efficiency in ops/s/core = throughput / mean(cpu over time)
expect "It gains" min(gain over threads, workload) > -5 %
report brief "What it is worth" {
  callout "Gain" { rows = workload  column "Throughput" = "{range(gain over threads):+.0%}" }
  each workload {
    section "{workload.label}" {
      text = \"\"\"
        {workload.description}
      \"\"\"
      figure "Throughput" { line = throughput by threads, color hardware }
    }
  }
  table "Test configuration" { rows = facts }
}
""",
)
