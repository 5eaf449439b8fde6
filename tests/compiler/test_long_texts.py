"""Tests that each kind of text has a maximum length. `bench check` applies it, and the tables of blocks and keys state
it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.compiler.compile import examine
from benchbrief.compiler.schemas import BLOCKS, ELEMENTS
from benchbrief.model.value_shapes import Text

SCHEMAS = {**BLOCKS, **ELEMENTS}
HEADS = {"each": "each workload", "formula": "formula m for a"}
LABELLED = [kind for kind in SCHEMAS if kind not in ("each", "formula", "ssh", "theme", "palette")]
TEXTS = [
    (kind, name) for kind, block in SCHEMAS.items() for name, key in block.keys.items() if isinstance(key.shape, Text)
]
INNER = {"variant": "hardware box", "ssh": "hardware box", "theme": "report r"} | {
    kind: "report r" for kind in ELEMENTS if kind != "report"
}


def told(tmp_path: Path, text: str) -> list[str]:
    """Return the messages about texts that are too long."""
    path = tmp_path / "spec.bench"
    path.write_text(text, encoding="utf-8")
    return [each.summary for each in examine(path).diagnostics if each.code == "E0418"]


def block(kind: str, label: str, body: str) -> str:
    name = " b" if SCHEMAS[kind].named else ""
    inner = f"{HEADS.get(kind, kind + name)} {label} {{ {body} }}"
    return f"{INNER[kind]} {{ {inner} }}" if kind in INNER else inner


@pytest.mark.parametrize("kind", LABELLED)
def test_the_label_of_each_kind_of_block_has_a_limit(tmp_path: Path, kind: str) -> None:
    most = SCHEMAS[kind].label
    assert told(tmp_path, block(kind, f'"{"x" * most}"', "")) == []
    (one,) = told(tmp_path, block(kind, f'"{"x" * (most + 1)}"', ""))
    assert one.endswith(f"has {most + 1} characters; the limit is {most}")


@pytest.mark.parametrize(("kind", "key"), TEXTS)
def test_each_text_of_the_tables_has_a_limit(tmp_path: Path, kind: str, key: str) -> None:
    shape = SCHEMAS[kind].keys[key].shape
    assert isinstance(shape, Text)
    assert told(tmp_path, block(kind, "", f'{key} = "{"/" * shape.longest}"')) == []
    (one,) = told(tmp_path, block(kind, "", f'{key} = "{"/" * (shape.longest + 1)}"'))
    assert one == f"`{key}` has {shape.longest + 1:,} characters; the limit is {shape.longest:,}"


@pytest.mark.parametrize(
    "text",
    [
        'hardware box { hosts = local  model = "LONG" }',
        'hardware box { variant a { model = "LONG" } }',
        'param p = "LONG"\nhardware box { model = p }',
        'hardware box { hosts = ["LONG"] }',
        'hardware box { prepare = command("LONG") }',
        'database d { options { comment = "LONG" } }',
        'profile p { override workload { description = "LONG" } }',
        'metric m "LONG" = throughput',
        'expect "LONG" throughput > 1 ops/s',
        'report r { figure "x" { line = throughput by threads, label "LONG" } }',
        'report r { table "x" { column "LONG" = throughput } }',
        "metric LONG = throughput",
        "param LONG = 1",
        "hardware LONG { hosts = local }",
        "hardware box { LONG = 1 }",
    ],
)
def test_texts_without_a_key_in_the_tables_have_one_too(tmp_path: Path, text: str) -> None:
    assert len(told(tmp_path, text.replace("LONG", "x" * 4001))) == 1
    assert told(tmp_path, text.replace("LONG", "x" * 80)) == []


def test_a_parameter_of_the_command_line_is_held_to_the_limit_of_what_it_is_for(tmp_path: Path) -> None:
    path = tmp_path / "spec.bench"
    path.write_text('param model = "short"\nhardware box { hosts = local  model = model }')
    found = examine(path, params={"model": f'"{"x" * 400}"'}).diagnostics
    assert [(each.code, each.summary) for each in found if each.code == "E0418"] == [
        ("E0418", "`model` has 400 characters; the limit is 300")
    ]
