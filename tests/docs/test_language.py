"""The language's page names all that the checker knows, and its samples are right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchbrief.compiler import schema
from benchbrief.compiler.compile import check
from benchbrief.compiler.lookups import FUNCTIONS
from benchbrief.compiler.report import TEMPLATES
from benchbrief.compiler.workload_tables import DB_BENCH, YCSB

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
BLOCKS = [each for each in vars(schema).values() if isinstance(each, schema.BlockSchema)]


def samples(text: str) -> list[str]:
    return re.findall(r"^```(?:bench)?\n(hardware .*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("file", ["docs/language.md", "README.md"])
def test_every_sample_is_a_right_spec(file: str, tmp_path: Path) -> None:
    found = samples((ROOT / file).read_text(encoding="utf-8"))
    assert found
    for number, text in enumerate(found):
        path = tmp_path / f"sample{number}.bench"
        path.write_text(text, encoding="utf-8")
        assert check(path).plan is not None, check(path).diagnostics


def test_every_attribute_has_its_row() -> None:
    keys = {key for block in BLOCKS for key in block.keys}
    keys |= {*schema.DATABASE_OPTIONS, *schema.METERS}
    assert len(keys) > 50
    assert {key for key in keys if f"| `{key}` |" not in PAGE} == set()


def test_every_workload_function_and_template_is_named() -> None:
    words = {f"`{name}`" for name in (*DB_BENCH, *FUNCTIONS, *TEMPLATES)} | {f"`ycsb.{name}`" for name in YCSB}
    assert {word for word in words if word not in PAGE} == set()
