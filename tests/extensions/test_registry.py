"""Tests that extensions of other packages are found by name, and that a broken one affects only specs that use it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchbrief.compiler import registry
from benchbrief.compiler.compile import check
from benchbrief.compiler.registry import PROBE_SPECS, RefusedExtension
from benchbrief.model.extension_spec import ProbeSpec
from benchbrief.runners import plugins
from benchbrief.runners.errors import RunnerError

SPEC = """
hardware box { hosts = local }
database store { engine = rocksdb  path = "/tmp/x" }
workload fill from db_bench.fillrandom { records = 1M records }
experiment ramp {
  hardware = box  database = store  workloads = fill  threads = [1, 2]  measure = 30 s
  probes = [PROBES]
}
report brief {
  template = technical_brief
  METRIC
}
"""

GOOD = """
from benchbrief.extend.spec import Flag, Key, Number, ProbeMeasure, ProbeSpec, Text
SPEC = ProbeSpec(
    api=3,
    name="NAME",
    doc="What a test samples.",
    implementation="PACKAGE.sampler:Sampler",
    measures={
        "NAME.level": ProbeMeasure("B", "A level.", {"en": "Level", "ja": "水準"}),
        "NAME.share": ProbeMeasure("", "A share.", {"en": "Share"}, across_nodes="average"),
    },
    attributes={
        "card": Key(Text(), "Which card."),
        "wait": Key(Number("s", "1 s"), "How long."),
        "raw": Key(Flag(), "Raw."),
    },
    on="card",
)
"""

Package = Callable[..., None]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Package]:
    """Yield a function that puts a package with one probe where Python finds packages."""
    registry.look_again()
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def put(name: str, source: str = GOOD, package: str = "", version: str = "1.2") -> None:
        package = package or f"bench_{name}"
        folder = tmp_path / package
        folder.mkdir()
        (folder / "__init__.py").write_text("")
        (folder / "spec.py").write_text(source.replace("NAME", name).replace("PACKAGE", package))
        info = tmp_path / f"{package}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n\nText: no head\n")
        (info / "entry_points.txt").write_text(f"[benchbrief.specs.probes]\n{name} = {package}.spec:SPEC\n")

    yield put
    for module in set(sys.modules) - before:
        if module.startswith("bench_"):
            del sys.modules[module]
    registry.look_again()


def said(tmp_path: Path, probes: str, expression: str = "") -> list[str]:
    """Return each finding as one line with its code, its message, and its help."""
    path = tmp_path / "spec.bench"
    metric = f'text = "It is {{{expression}}}."' if expression else ""
    path.write_text(SPEC.replace("PROBES", probes).replace("METRIC", metric))
    return [f"{each.code} {each.summary} | {each.help}" for each in check(path).diagnostics]


@pytest.mark.parametrize("name", PROBE_SPECS.own)
def test_each_of_our_own_probes_is_right_and_can_be_loaded(name: str) -> None:
    assert PROBE_SPECS.own[name].mistake(name, own=True) == ""
    assert plugins.probe_kind(name).name == name


def test_what_the_specs_of_our_own_probes_take_is_what_others_have_too() -> None:
    """The specs import nothing but what is meant for specs."""
    folder = Path(registry.__file__).parents[2] / "extensions" / "probes"
    for name in PROBE_SPECS.own:
        lines = (folder / name / "spec.py").read_text().splitlines()
        found = [line for line in lines if line.startswith(("import ", "from "))]
        assert all(line.startswith("from benchbrief.extend.spec import") for line in found), name


def test_the_measures_of_another_package_are_checked_and_planned(package: Package, tmp_path: Path) -> None:
    package("gauge")
    assert said(tmp_path, 'gauge every 1 s on "one"', "mean(gauge.level over threads)") == []
    assert said(tmp_path, "gauge every 1 s", "mean(gauge.levle over threads)") == [
        "E0701 unknown metric or measure `gauge.levle` | did you mean `gauge.level`?"
    ]
    assert said(tmp_path, "cpu every 1 s", "mean(gauge.level over threads)")[0].startswith("E0709")
    (mixed,) = said(tmp_path, "gauge every 1 s", "mean(gauge.level + gauge.share over threads)")
    assert mixed.startswith("E0706"), mixed
    (misspelt,) = said(tmp_path, "guage every 1 s")
    assert misspelt == "E0201 unknown probe `guage` | did you mean `gauge`?"


def test_the_attributes_of_another_package_s_probe_are_read_by_its_table(package: Package, tmp_path: Path) -> None:
    package("gauge")
    path = tmp_path / "spec.bench"
    block = 'probe fine { kind = gauge  every = 2 s  card = "a"  wait = 1 min  raw = true }\n'
    path.write_text(block + SPEC.replace("PROBES", "fine").replace("METRIC", ""))
    plan = check(path).plan
    assert plan is not None
    (probe,) = plan.cells[0].probes
    assert (probe.name, probe.every_s) == ("gauge", 2.0)
    assert probe.options == {"card": "a", "wait": "60", "raw": "true"}
    path.write_text(block.replace("wait = 1 min", "wait = 3 B") + SPEC.replace("PROBES", "fine").replace("METRIC", ""))
    assert check(path).diagnostics[0].code == "E0303"


def test_other_code_under_the_same_version_is_another_measurement(package: Package, tmp_path: Path) -> None:
    package("gauge")
    sampler = tmp_path / "bench_gauge" / "sampler.py"
    path = tmp_path / "spec.bench"
    path.write_text(SPEC.replace("PROBES", "gauge every 1 s").replace("METRIC", ""))
    hashes, extensions = [], ""
    for code in ("one", "two", "one"):
        sampler.write_text(f"{code} = 1\n")
        registry.look_again()
        plan = check(path).plan
        assert plan is not None
        hashes.append(plan.cells[0].hash)
        extensions = plan.extensions["probe gauge"]
    assert hashes[0] == hashes[2] != hashes[1]
    assert extensions.startswith("bench_gauge 1.2+")


def test_the_code_of_a_package_in_two_folders_has_a_digest_and_unreadable_code_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = []
    for place in (tmp_path / "here", tmp_path / "there"):
        with monkeypatch.context() as patch:
            for part in ("one", "two"):
                (place / part / "bench_two").mkdir(parents=True)
                (place / part / "bench_two" / f"{part}.py").write_text("")
                patch.syspath_prepend(place / part)
            registry.look_again()
            digests.append(registry.code_digest("bench_two.one:SPEC"))
    assert digests[0] == digests[1] != ""
    monkeypatch.syspath_prepend(tmp_path / "here" / "one")

    def unreadable(_: Path) -> bytes:
        raise PermissionError

    monkeypatch.setattr(Path, "read_bytes", unreadable)
    registry.look_again()
    assert registry.code_digest("bench_two.one:SPEC") == ""
    registry.look_again()


ODD = """
class Odd(dict):
    def items(self):
        raise {what}
import dataclasses
SPEC = dataclasses.replace(SPEC, measures=Odd(SPEC.measures))
"""
BROKEN = {
    "import": ("import no_such_module", "can't be imported: ModuleNotFoundError: No module named 'no_such_module'"),
    "exit": ("raise SystemExit(3)", "can't be imported: SystemExit: 3"),
    "base": ("class Odd(BaseException): pass\nraise Odd('gone')", "can't be imported: Odd: gone"),
    "mute": (
        "class Odd(Exception):\n    def __str__(self): raise self\nraise Odd",
        "`bench_gauge.spec:SPEC` can't be imported: Odd",
    ),
    "type": ("SPEC = {}", "is no ProbeSpec but dict"),
    "class": ("class SPEC: pass", "is no ProbeSpec but SPEC"),
    "older": (GOOD.replace("api=3", "api=0"), "it is made for version 0 of the interface of extensions"),
    "newer": (GOOD.replace("api=3", "api=9"), "install a newer version of benchbrief"),
    "api": (GOOD.replace("api=3", 'api="1"'), "its `api` is '1', which is no whole number such as 3"),
    "no api": (GOOD.replace("api=3", "api=None"), "its `api` is None"),
    "name": (GOOD.replace('name="NAME"', 'name="other"'), "it is registered as `gauge`, and its name is `other`"),
    "family": (GOOD.replace("NAME.level", "cpu.level"), "`cpu.level` has to be called `gauge.` and a word"),
    "unit": (GOOD.replace('"B", ', '"parsecs", '), "the measure `gauge.level` has an unknown unit, `parsecs`"),
    "label": (GOOD.replace('"en": "Level", ', ""), "needs a `doc` and a label in English"),
    "on": (GOOD.replace('on="card"', 'on="disc"'), "`on` names the attribute `disc`, which it does not have"),
    "measures": (GOOD.replace("measures={", "measures=3 and {} or {}, **{}, attributes_={"), "can't be imported"),
    "no table": (GOOD + "\nimport dataclasses\nSPEC = dataclasses.replace(SPEC, measures=3)", "AttributeError"),
    "raises": (GOOD + ODD.format(what="IndexError('no row')"), "is wrong: IndexError: no row"),
    "leaves": (GOOD + ODD.format(what="SystemExit(3)"), "is wrong: SystemExit: 3"),
}


@pytest.mark.parametrize(("source", "why"), BROKEN.values(), ids=BROKEN)
def test_a_broken_extension_is_one_finding_for_who_uses_it(
    source: str, why: str, package: Package, tmp_path: Path
) -> None:
    """The finding has the code E0212."""
    package("gauge", source)
    assert said(tmp_path, "cpu every 1 s", "mean(cpu over threads)") == []
    (found,) = said(tmp_path, "gauge every 1 s", "mean(gauge.level over threads)")
    assert found.startswith("E0212 the probe `gauge` of bench_gauge 1.2 can't be used: ")
    assert why in found
    assert "`bench extensions` lists what is installed" in found
    path = tmp_path / "spec.bench"
    block = "probe fine { kind = gauge  every = 2 s }\n"
    path.write_text(block + SPEC.replace("PROBES", "fine").replace("METRIC", ""))
    assert [each.code for each in check(path).diagnostics] == ["E0212"]
    with pytest.raises(RunnerError, match=r"the probe `gauge` of bench_gauge 1\.2 can't be used"):
        plugins.probe_kind("gauge")


def test_two_packages_with_one_name_are_refused_with_both_names(package: Package, tmp_path: Path) -> None:
    package("gauge", package="bench_one")
    package("gauge", package="bench_two", version="0.3")
    (found,) = said(tmp_path, "gauge every 1 s")
    assert "2 packages have a probe of that name: bench_one 1.2 and bench_two 0.3" in found
    assert "uninstall all of them but one" in found


def test_a_name_of_ours_stays_ours(package: Package, tmp_path: Path) -> None:
    package("cpu", "raise AssertionError('it is imported')")
    assert said(tmp_path, "cpu every 1 s", "mean(cpu over threads)") == []
    assert PROBE_SPECS.find("cpu") is PROBE_SPECS.own["cpu"]
    (offer,) = PROBE_SPECS.offered("cpu")
    refused = PROBE_SPECS.load(offer)
    assert isinstance(refused, RefusedExtension)
    assert "benchbrief has a probe of that name" in refused.why


def test_nothing_is_imported_that_no_spec_uses(package: Package, tmp_path: Path) -> None:
    package("gauge", f"from pathlib import Path\nPath({str(tmp_path / 'seen')!r}).touch()\n{GOOD}")
    assert said(tmp_path, "cpu every 1 s", "box.label") == []
    assert not (tmp_path / "seen").exists()
    assert isinstance(PROBE_SPECS.find("gauge"), ProbeSpec)
    assert (tmp_path / "seen").exists()
