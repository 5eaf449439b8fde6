"""Tests factors: the identity and the order of the cells at their levels, and how commands and knees use levels."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest

from benchbrief.compiler.compile import check
from benchbrief.compiler.estimates.factor_costs import factor_costs
from benchbrief.model.fingerprint import cell_hash, digest, identity
from benchbrief.model.plan import DimKey, Knee, Levels, Plan
from benchbrief.model.planned_cells import planned_cells
from tests.support.longer import longer
from tests.support.plans import compile_spec

SPEC = """
hardware box { hosts = local }
factor codec "Compression" { none "No compression" = "none"  lz4 "LZ4" = "lz4"  zstd "Zstandard" = "zstd" }
factor vsize "Value size"  { levels = [100 B, 1 kB] }
database rocks { engine = rocksdb  path = "/var/tmp/b/{codec}-{vsize}"  options { compression = codec  cache = 8 MiB } }
workload rr from db_bench.readrandom            { value_size = vsize }
workload rw from db_bench.readrandomwriterandom { value_size = vsize }
experiment matrix {
  hardware = box  workloads = [rr, rw]  threads = [1, 2]  vary = [codec, vsize]  measure = 10 s  repeats = 2
}
"""


def plan_of(tmp_path: Path, text: str = SPEC, *changes: tuple[str, str], profile: str | None = None) -> Plan:
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path = tmp_path / "spec.bench"
    path.write_text(text, encoding="utf-8")
    return compile_spec(path, profile=profile)


def hashes(plan: Plan) -> set[str]:
    return {cell.hash for cell in plan.cells}


def loads(plan: Plan) -> int:
    return sum(step.reset == "load" for cell in plan.cells for step in cell.steps)


# --- cells -------------------------------------------------------------------------------------------------------


def test_a_cell_is_named_by_its_levels_in_the_order_of_the_spec(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, SPEC, ("vary = [codec, vsize]", "vary = [vsize, codec]"))
    assert len(plan.cells) == 1 * 2 * 6 * 2 * 2
    cell = next(each for each in plan.cells if each.id == "matrix/box/rr/codec=lz4,vsize=1000/threads=2/r1")
    assert cell.levels.keys == {"codec": "lz4", "vsize": 1000.0}
    assert plan.databases[cell.database].path == "/var/tmp/b/lz4-1000"
    assert plan.databases[cell.database].options == {"compression": "lz4", "cache": 8 << 20}
    assert cell.database == "rocks@box?codec=lz4,vsize=1000"
    assert cell.workload_key == "rr?vsize=1000"
    assert plan.workload_of(cell).properties["value_size"] == 1000.0


def test_a_workload_at_its_default_levels_has_its_name(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    cell = next(each for each in plan.cells if each.levels == "codec=lz4,vsize=100" and each.workload == "rw")
    assert cell.workload_key == ""
    assert plan.workload_of(cell).properties["value_size"] == 100.0
    assert set(plan.workloads) == {"rr", "rr?vsize=1000", "rw", "rw?vsize=1000"}


def test_every_hash_is_that_of_the_identity_of_its_cell(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    for cell in plan.cells:
        parts = identity(plan, cell)
        own = [parts.pop(name) for name in ("threads", "target", "repeat")]
        assert cell.hash == cell_hash(digest(parts), *own)  # type: ignore[arg-type]  # numbers, without a search
    assert len(hashes(plan)) == len(plan.cells)


def test_an_experiment_that_does_not_vary_a_factor_measures_its_default(tmp_path: Path) -> None:
    text = SPEC + "experiment plain { hardware = box  workloads = rr  threads = 1  measure = 10 s }"
    plan = plan_of(tmp_path, text, ('"zstd" }', '"zstd"  default = lz4 }'))
    (cell,) = (each for each in plan.cells if each.experiment == "plain")
    assert cell.id == "plain/box/rr/threads=1/r1"
    assert cell.levels == ""
    assert cell.database == "rocks@box?codec=lz4,vsize=100"
    assert plan.databases[cell.database].path == "/var/tmp/b/lz4-100"
    assert plan.experiments["plain"].levels == ()


def test_subsets_and_conditions_leave_combinations_out(tmp_path: Path) -> None:
    vary = "vary = [vsize, codec[zstd, none]]  when = codec != none or vsize > 100 B"
    plan = plan_of(tmp_path, SPEC, ("vary = [codec, vsize]", vary))
    found = plan.experiments["matrix"].levels
    assert found == ("codec=none,vsize=1000", "codec=zstd,vsize=100", "codec=zstd,vsize=1000")
    assert {cell.levels for cell in plan.cells} == set(found)
    assert planned_cells(plan) == len(plan.cells) == 2 * 3 * 2 * 2


@pytest.mark.parametrize(
    ("when", "left"),
    [
        ("vsize == 1 kB", {"none,1000", "lz4,1000", "zstd,1000"}),
        ("1000 B <= vsize and not codec == lz4", {"none,1000", "zstd,1000"}),
        ("codec == lz4 and vsize < 1 kB or codec == zstd and vsize > 500 B", {"lz4,100", "zstd,1000"}),
        ("(codec == lz4 or codec == zstd) and vsize != 100 B", {"lz4,1000", "zstd,1000"}),
    ],
)
def test_a_condition_means_what_it_says(when: str, left: set[str], tmp_path: Path) -> None:
    plan = plan_of(tmp_path, SPEC, ("vary = [codec, vsize]", f"vary = [codec, vsize]  when = {when}"))
    keys = (levels.keys for levels in plan.experiments["matrix"].levels)
    assert {f"{each['codec']},{each['vsize']:g}" for each in keys} == left


def test_a_profile_varies_less(tmp_path: Path) -> None:
    text = SPEC + "profile smoke { override experiment matrix { vary = codec[none, lz4]  when = codec == lz4 } }"
    assert plan_of(tmp_path, text, profile="smoke").experiments["matrix"].levels == ("codec=lz4",)


def test_a_bundle_gives_each_of_its_settings(tmp_path: Path) -> None:
    bundle = (
        "factor tuning { level stock { cache = 8 MiB  size = 100 B } level tuned { cache = 1 GiB  size = 4 * 100 B } }"
    )
    plan = plan_of(
        tmp_path,
        SPEC + bundle,
        ("cache = 8 MiB }", "cache = tuning.cache / 2 }"),
        ("value_size = vsize", "value_size = tuning.size"),
        ("/{codec}-{vsize}", "/{codec}-{tuning.size}"),
        ('factor vsize "Value size"  { levels = [100 B, 1 kB] }', ""),
        ("vary = [codec, vsize]", "vary = [codec, tuning]"),
    )
    cell = next(each for each in plan.cells if each.levels == "codec=none,tuning=tuned" and each.workload == "rr")
    database = plan.databases[cell.database]
    assert (database.path, database.options["cache"]) == ("/var/tmp/b/none-400", 1 << 29)
    assert plan.workload_of(cell).properties["value_size"] == 400.0
    assert [level.attributes for level in plan.factors["tuning"].levels] == [
        {"cache": 8 << 20, "size": 100.0},
        {"cache": 1 << 30, "size": 400.0},
    ]


def test_a_range_has_a_level_for_each_of_its_numbers(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, SPEC, ("[100 B, 1 kB]", "range(8 MiB, 1 GiB, factor: 4)"))
    factor = plan.factors["vsize"]
    assert [level.label for level in factor.levels] == ["8 MiB", "32 MiB", "128 MiB", "512 MiB"]
    assert [level.key for level in factor.levels] == [8 << 20, 32 << 20, 128 << 20, 512 << 20]
    assert factor.unit == "MiB"


# --- identity ----------------------------------------------------------------------------------------------------

RENAMED = (
    ('factor codec "Compression" { none "No compression" = "none"  lz4 "LZ4" = "lz4"  zstd "Zstandard" = "zstd" }',
     'factor packed "Packing" { z "Z" = "zstd"  fast "Fast" = "lz4"  off "Off" = "none" }'),
    ('factor vsize "Value size"  { levels = [100 B, 1 kB] }', 'factor size { large = 1000 B  small "Small" = 100 B }'),
    ("{codec}-{vsize}", "{packed}-{size}"),
    ("compression = codec", "compression = packed"),
    ("value_size = vsize", "value_size = size"),
    ("vary = [codec, vsize]", "vary = [size, packed]"),
)  # fmt: skip


def test_renamed_relabelled_and_reordered_levels_are_the_same_cells(tmp_path: Path) -> None:
    before, after = plan_of(tmp_path), plan_of(tmp_path, SPEC, *RENAMED)
    assert hashes(before) == hashes(after)
    assert {cell.id for cell in before.cells}.isdisjoint(cell.id for cell in after.cells)


def test_variants_that_become_a_factor_are_the_same_cells(tmp_path: Path) -> None:
    variants = """
    hardware box {
      hosts = local
      variant none { codec = "none" } variant lz4 { codec = "lz4" } variant zstd { codec = "zstd" }
    }
    database rocks { engine = rocksdb  path = "/var/tmp/b/{codec}"  options { compression = "{codec}" } }
    workload rr from db_bench.readrandom
    experiment matrix { hardware = box.variants  workloads = rr  threads = [1, 2]  measure = 10 s  repeats = 2 }
    """
    factor = """
    hardware box { hosts = local }
    factor codec { levels = ["none", "lz4", "zstd"] }
    database rocks { engine = rocksdb  path = "/var/tmp/b/{codec}"  options { compression = codec } }
    workload rr from db_bench.readrandom
    experiment matrix { hardware = box  workloads = rr  threads = [1, 2]  vary = codec  measure = 10 s  repeats = 2 }
    """
    assert hashes(plan_of(tmp_path, variants)) == hashes(plan_of(tmp_path, factor))


def test_another_value_is_another_cell(tmp_path: Path) -> None:
    before, after = plan_of(tmp_path), plan_of(tmp_path, SPEC, ('lz4 "LZ4" = "lz4"', 'lz4 "LZ4" = "lz4hc"'))
    assert len(hashes(before) - hashes(after)) == len(before.cells) / 3


# --- order -------------------------------------------------------------------------------------------------------

_HEAD = """
workload rr from db_bench.readrandom
workload rw from db_bench.readrandomwriterandom
workload up from db_bench.updaterandom
workload big from db_bench.readrandom { value_size = 1 kB }
"""


def variants_and_factors(reset: str, order: str, path: str, workloads: str) -> tuple[str, str]:
    """Return the same settings as variants of hardware and as two factors."""
    settings = list(product(("none", "lz4", "zstd"), (8, 16)))
    variants = "".join(
        f'variant {codec}_{cache} {{ codec = "{codec}"  size = {cache} MiB }} ' for codec, cache in settings
    )
    experiment = f"workloads = [{workloads}]  threads = [1, 2]  measure = 10 s  repeats = 2, {order} }}"
    database = f'database rocks {{ engine = rocksdb  path = "/data/{path}"  reset = {reset}  options {{'
    by_variants = f"""
    hardware box {{ hosts = local  {variants} }}
    {database} compression = "{{codec}}"  cache = "{{size}}" }} }}
    experiment e {{ hardware = box.variants  {experiment}
    """
    by_factors = f"""
    hardware box {{ hosts = local }}
    factor codec {{ levels = ["none", "lz4", "zstd"] }}
    factor size {{ levels = [8 MiB, 16 MiB] }}
    {database} compression = codec  cache = size }} }}
    experiment e {{ hardware = box  vary = [codec, size]  {experiment}
    """
    return _HEAD + by_variants, _HEAD + by_factors


@pytest.mark.parametrize("reset", ["as_needed", "snapshot", *longer("after_writes", "drop_and_load", "links", "reuse")])
@pytest.mark.parametrize("order", ["grouped", *longer("interleaved", "random(seed: 3)")])
@pytest.mark.parametrize("workloads", ["rr, rw", "rr, big, up, rw", *longer("rr", "up, rw, rr", "big, rr, rw")])
def test_factors_take_no_more_loads_than_variants(reset: str, order: str, workloads: str, tmp_path: Path) -> None:
    for path in ("shared", "{codec}"):
        if order == "interleaved" and path == "shared":
            continue  # refused: each turn would load
        variants, factors = variants_and_factors(reset, order, path, workloads)
        assert loads(plan_of(tmp_path, factors)) <= loads(plan_of(tmp_path, variants)), path


def test_levels_that_need_the_same_data_come_together(tmp_path: Path) -> None:
    """In the spec, the first factor is one that leaves the data unchanged. If cells were in this order, data would be
    loaded repeatedly."""
    _, text = variants_and_factors("as_needed", "grouped", "shared", "rr")
    first, second = text.index("    factor codec"), text.index("    factor size")
    swapped = (
        text[:first]
        + text[second : text.index("    database")]
        + text[first:second]
        + text[text.index("    database") :]
    )
    plan = plan_of(tmp_path, swapped)
    assert plan.experiments["e"].levels[0] == "size=8388608,codec=none"
    assert loads(plan) == 3
    assert [cell.levels for cell in plan.cells[::4]][:2] == ["size=8388608,codec=none", "size=16777216,codec=none"]


def test_interleaved_levels_take_turns_at_each_repeat(tmp_path: Path) -> None:
    _, text = variants_and_factors("as_needed", "interleaved", "{codec}", "rr")
    plan = plan_of(tmp_path, text)
    first = [(cell.levels.keys["codec"], cell.levels.keys["size"], cell.repeat) for cell in plan.cells[:12]]
    sizes = (8 << 20, 16 << 20)
    assert first == [(codec, size, repeat) for repeat in (1, 2) for codec in ("none", "lz4", "zstd") for size in sizes]


def test_each_factor_costs_the_time_beyond_its_first_level(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    codec, vsize = factor_costs(plan)
    assert (codec.factor, codec.levels, codec.first) == ("codec", 3, "No compression")
    assert (vsize.factor, vsize.levels, vsize.first) == ("vsize", 2, "100 B")
    assert codec.of_s == vsize.of_s
    assert codec.beyond_s == pytest.approx(codec.of_s * 2 / 3)


# --- knees, searches and commands --------------------------------------------------------------------------------


def test_a_knee_is_that_of_the_same_levels(tmp_path: Path) -> None:
    text = (
        SPEC.replace("threads = [1, 2]", "threads = find.knee")
        + """
    experiment find {
      hardware = box  workloads = [rr, rw]  threads = knee(from: 1, factor: 2, to: 8)  vary = codec  measure = 10 s
    }
    """
    )
    plan = plan_of(tmp_path, text)
    cell = next(each for each in plan.cells if each.levels == "codec=lz4,vsize=1000" and each.workload == "rr")
    assert cell.threads_from == Knee(experiment="find", hardware="box", workload="rr", levels=Levels("codec=lz4"))
    assert cell.id == "matrix/box/rr/codec=lz4,vsize=1000/threads=find.knee/r1"


def test_each_combination_has_a_search_of_its_own(tmp_path: Path) -> None:
    text = """
    hardware box { hosts = "box.lab" }
    client load { hosts = "load.lab"  tool = openload }
    factor ack { one = 1  majority = majority }
    database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb"  options { write_concern = ack } }
    workload a from ycsb.a
    experiment offered {
      hardware = box  workloads = a  threads = 64  vary = ack  measure = 1 min
      target = adaptive(1k ops/s..50k ops/s, points: 5)
    }
    """
    plan = plan_of(tmp_path, text)
    assert planned_cells(plan) == 2 * 5
    options = {cell.levels: plan.databases[cell.database].options["w"] for cell in plan.cells}
    assert options == {"ack=one": 1.0, "ack=majority": "majority"}


def test_a_command_gets_the_levels_that_it_names_as_variables(tmp_path: Path) -> None:
    prepare = 'reset = command("restore", with: codec)  prepare = command("prepare", with: [vsize, codec])'
    plan = plan_of(tmp_path, SPEC, ("engine = rocksdb", f"engine = rocksdb  {prepare}"))
    hooks = plan.databases[next(cell.database for cell in plan.cells if cell.levels == "codec=lz4,vsize=1000")].hooks
    assert {hook.line: hook.env for hook in hooks} == {
        "restore": {"BENCH_CODEC": "lz4"},
        "prepare": {"BENCH_VSIZE": "1000", "BENCH_CODEC": "lz4"},
    }


def test_commands_with_factors_of_their_own_each_get_their_level(tmp_path: Path) -> None:
    commands = 'prepare = command("prepare", with: codec)  teardown = command("teardown", with: vsize)'
    plan = plan_of(tmp_path, SPEC, ("engine = rocksdb", f"engine = rocksdb  {commands}"))
    for cell in plan.cells:
        prepare, teardown = (hook.env for hook in plan.databases[cell.database].hooks)
        keys = cell.levels.keys
        assert (prepare, teardown) == ({"BENCH_CODEC": keys["codec"]}, {"BENCH_VSIZE": f"{keys['vsize']:g}"})


def test_only_what_a_command_names_is_in_its_hash(tmp_path: Path) -> None:
    change = ("engine = rocksdb", 'engine = rocksdb  prepare = command("prepare")')
    named = ("engine = rocksdb", 'engine = rocksdb  prepare = command("prepare", with: codec)')
    plain, given = plan_of(tmp_path, SPEC, change), plan_of(tmp_path, SPEC, named)
    assert hashes(plain).isdisjoint(hashes(given))
    other = ('"LZ4" = "lz4"', '"LZ4" = "lz4hc"')
    kept = hashes(given) & hashes(plan_of(tmp_path, SPEC, named, other))
    assert len(kept) == len(given.cells) * 2 / 3


# --- mistakes ----------------------------------------------------------------------------------------------------


def test_a_mistake_in_a_factor_is_reported_once(tmp_path: Path) -> None:
    text = SPEC.replace('zstd "Zstandard" = "zstd"', "").replace('lz4 "LZ4" = "lz4"', "")
    text += 'metric m = throughput\nreport brief "B" { table "T" { rows = codec  columns = m by threads } }\n'
    path = tmp_path / "spec.bench"
    path.write_text(text, encoding="utf-8")
    assert [each.code for each in check(path).diagnostics] == ["E0803"]


def test_a_million_combinations_are_refused_before_they_are_made(tmp_path: Path) -> None:
    many = "".join(f"factor f{n} {{ levels = range(1, 100, step: 1) }}\n" for n in range(3))
    text = SPEC.replace("vary = [codec, vsize]", "vary = [f0, f1, f2]") + many
    text = text.replace(
        "cache = 8 MiB", "cache = 8 MiB  open_files = f0  max_background_jobs = f1  table_cache_numshardbits = f2"
    )
    path = tmp_path / "spec.bench"
    path.write_text(text, encoding="utf-8")
    found = [each for each in check(path).diagnostics if each.code == "E0809"]
    assert "1,000,000 combinations" in found[0].summary


def test_levels_are_read_back_as_they_were_written() -> None:
    rng = random.Random(1)  # noqa: S311  # the same numbers in each run
    for _ in range(200):
        keys: dict[str, DimKey] = {
            "a": rng.choice(["x", "_1", "inf", "nan"]),
            "b": rng.uniform(-1e9, 1e9),
            "c": float(rng.randrange(10**15)),
        }
        assert Levels.of(keys).keys == keys


def test_a_database_at_several_levels_is_the_one_with_those_values(tmp_path: Path) -> None:
    text = """
    hardware box { hosts = local }
    database rocks {
      engine = rocksdb  path = "/data/CODEC"  size = SIZE  drop_caches = DROP
      options { compression = CODEC  cache = CACHE  direct_io = DROP }
    }
    workload rr from db_bench.readrandom
    experiment e { hardware = box  workloads = rr  threads = 1  measure = 10 s VARY }
    """
    factors = """
    factor codec { none = "none"  lz4 = "lz4" }
    factor size { small = 100 MB  large = 200 MB }
    factor drop { yes = true  no = false }
    factor cache { levels = [8 MiB, 16 MiB] }
    """
    whole = text.replace("/CODEC", "/{codec}").replace("VARY", "vary = [codec, size, drop, cache]")
    for word in ("codec", "size", "drop", "cache"):
        whole = whole.replace(word.upper(), word)
    plan = plan_of(tmp_path, whole + factors)
    assert len(plan.cells) == 16
    values = {"none": '"none"', "lz4": '"lz4"', "small": "100 MB", "large": "200 MB", "yes": "true", "no": "false"}
    for cell in plan.cells:
        one = text.replace("VARY", "")
        for name, key in cell.levels.keys.items():
            value = values.get(str(key)) or f"{key:.0f} B"
            one = one.replace(f"/{name.upper()}", f"/{key}").replace(name.upper(), value)
        assert [each.hash for each in plan_of(tmp_path, one).cells] == [cell.hash]
