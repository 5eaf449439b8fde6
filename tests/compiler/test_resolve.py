"""Tests how declarations are resolved: ramps, workloads, hardware keys, inheritance, profiles, parameters and
imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.compiler.compile import check, examine
from benchbrief.model import plan as p
from benchbrief.model.plan import DatabaseKey, Plan, Quantity, Reference
from tests.support.plans import compile_spec

BASE = """
hardware eco "5100 ECO" { hosts = "eco-[1-3].lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload a from ycsb.a
"""
EXPERIMENT = "experiment e { hardware = eco  workloads = a  threads = THREADS  measure = 1 min }\n"


def plan_of(tmp_path: Path, text: str, profile: str | None = None, **params: str) -> Plan:
    path = tmp_path / "spec.bench"
    path.write_text(text, encoding="utf-8")
    return compile_spec(path, profile=profile, params=params)


def codes(tmp_path: Path, text: str, profile: str | None = None, **params: str) -> list[str]:
    path = tmp_path / "spec.bench"
    path.write_text(text, encoding="utf-8")
    return [diagnostic.code for diagnostic in check(path, profile=profile, params=params).diagnostics]


@pytest.mark.parametrize(
    ("ramp", "points"),
    [
        ("8", [8]),
        ("8 threads", [8]),
        ("[1, 2, 4]", [1, 2, 4]),
        ("[96, 8]", [96, 8]),
        ("1..4", [1, 2, 3, 4]),
        ("[1..3, 8, 16]", [1, 2, 3, 8, 16]),
        ("range(1, 64, factor: 2)", [1, 2, 4, 8, 16, 32, 64]),
        ("range(1, 100, factor: 3)", [1, 3, 9, 27, 81]),
        ("range(1, 10, factor: 1.5)", [1, 2, 3, 5, 8]),
        ("range(8, 96, step: 32)", [8, 40, 72]),
        ("range(1, 100, steps: 4)", [1, 34, 67, 100]),
        ("range(1, 3, steps: 9)", [1, 2, 3]),
        ("range(1000, 1000, factor: 2)", [1000]),
        ("range(1, 1000, factor: 10)", [1, 10, 100, 1000]),
        ("2 * 4", [8]),
    ],
)
def test_a_ramp_stands_for_its_points(tmp_path: Path, ramp: str, points: list[int]) -> None:
    plan = plan_of(tmp_path, BASE + EXPERIMENT.replace("THREADS", ramp))
    assert list(plan.experiments["e"].points) == points


@pytest.mark.parametrize(
    ("core", "mix", "distribution"),
    [
        ("a", {"read": 0.5, "update": 0.5}, "zipfian"),
        ("b", {"read": 0.95, "update": 0.05}, "zipfian"),
        ("c", {"read": 1.0}, "zipfian"),
        ("d", {"read": 0.95, "insert": 0.05}, "latest"),
        ("e", {"scan": 0.95, "insert": 0.05}, "zipfian"),
        ("f", {"read": 0.5, "read_modify_write": 0.5}, "zipfian"),
    ],
)
def test_a_core_workload_is_what_ycsb_ships(
    tmp_path: Path, core: str, mix: dict[str, float], distribution: str
) -> None:
    spec = BASE.replace("ycsb.a", f"ycsb.{core}") + EXPERIMENT.replace("THREADS", "1")
    properties = plan_of(tmp_path, spec).workloads["a"].properties
    shares = ("read", "update", "insert", "scan", "read_modify_write")
    assert {name: properties[name] for name in shares if properties[name]} == mix
    assert properties["distribution"] == distribution
    assert (properties["records"], properties["fields"], properties["field_length"]) == (1000, 10, 100)


def test_a_record_size_is_shared_out_over_the_fields(tmp_path: Path) -> None:
    spec = BASE.replace("ycsb.a", "ycsb.a { fields = 20  record_size = 4 kB }") + EXPERIMENT.replace("THREADS", "1")
    properties = plan_of(tmp_path, spec).workloads["a"].properties
    assert (properties["field_length"], properties["record_size"]) == (200, 4000)


def test_a_workload_inherits_and_overrides(tmp_path: Path) -> None:
    spec = BASE + "workload hot from a { records = 9k }\nworkload hotter from hot { distribution = latest }\n"
    plan = plan_of(tmp_path, spec + EXPERIMENT.replace("THREADS", "1").replace("= a ", "= hotter "))
    hotter = plan.workloads["hotter"]
    assert (hotter.benchmark, hotter.properties["records"], hotter.properties["distribution"]) == ("a", 9000, "latest")


def test_what_excludes_another_takes_its_place_when_inherited(tmp_path: Path) -> None:
    spec = BASE + EXPERIMENT.replace("THREADS", "1") + "experiment f from e { phases = 6 x 10 min }\n"
    experiment = plan_of(tmp_path, spec).experiments["f"]
    assert (experiment.phases, experiment.measure_s) == (6, 3600)


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "Half of the operations read"), ("ja", "読み取りと更新")],
    ids=["English", "Japanese"],
)
def test_a_description_is_in_the_report_s_language(tmp_path: Path, language: str, words: str) -> None:
    report = f'report r "R" {{ template = blog  language = {language} }}\n'
    plan = plan_of(tmp_path, BASE + EXPERIMENT.replace("THREADS", "1") + report)
    assert plan.workloads["a"].description.startswith(words)


def test_each_report_has_its_own_language_and_what_they_share_is_english_where_they_differ(tmp_path: Path) -> None:
    reports = 'report r "R" { template = blog }\nreport ja "J" { template = blog  language = ja }\n'
    plan = plan_of(tmp_path, BASE + EXPERIMENT.replace("THREADS", "1") + reports)
    assert [report.language for report in plan.reports] == ["en", "ja"]
    assert plan.workloads["a"].description.startswith("Half of the operations read")


def test_a_description_of_one_s_own_stays(tmp_path: Path) -> None:
    spec = BASE.replace("ycsb.a", 'ycsb.a { description = "Ours." }') + EXPERIMENT.replace("THREADS", "1")
    assert plan_of(tmp_path, spec).workloads["a"].description == "Ours."


# --- hardware ----------------------------------------------------------------------------------------------------

VARIANTS = """
hardware one { hosts = "one.lab"  variant disk { }  variant ram { } }
hardware two { hosts = "two.lab"  variant disk { } }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload a from ycsb.a
experiment e { hardware = [one.disk, ram, two.variants]  workloads = a  threads = 1  measure = 1 min }
"""


def test_a_variant_goes_by_its_short_name_where_that_is_unique(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, VARIANTS)
    assert plan.experiments["e"].hardware == ("one.disk", "ram", "two.disk")
    assert plan.hardware["ram"].group == "one"


def test_facts_are_kept_in_base_units_and_as_written(tmp_path: Path) -> None:
    facts = 'cpu = "64 vCPU"  memory = 512 GiB  network = 25 Gbit/s  price = 3.2256 USD/h  ecc = true'
    spec = BASE.replace('.lab" }\nclient', f'.lab"  {facts} }}\nclient', 1)
    found = plan_of(tmp_path, spec + EXPERIMENT.replace("THREADS", "1")).hardware["eco"].facts
    price = found.pop("price")
    assert isinstance(price, Quantity)
    assert price.value == pytest.approx(3.2256 / 3600)
    assert (price.unit, price.text) == ("USD/s", "3.2256 USD/h")
    assert found == {
        "cpu": "64 vCPU",
        "memory": Quantity(value=512 * 2**30, unit="B", text="512 GiB"),
        "network": Quantity(value=3.125e9, unit="B/s", text="25 Gbit/s"),
        "ecc": True,
    }


def test_hosts_take_what_the_ssh_block_says_and_their_own_first(tmp_path: Path) -> None:
    ssh = 'hosts = ["root@a.lab:22", "b.lab"]  ssh { user = "bench"  port = 2222  jump = "gate"  identity = "~/k" }'
    spec = BASE.replace('hosts = "eco-[1-3].lab"', ssh) + EXPERIMENT.replace("THREADS", "1")
    hosts = plan_of(tmp_path, spec).hosts
    first, second = hosts["root@a.lab:22"], hosts["b.lab"]
    assert (first.name, first.user, first.port, first.jump) == ("a.lab", "root", 22, "gate")
    assert (second.name, second.user, second.port, second.identity) == ("b.lab", "bench", 2222, "~/k")


def test_holes_are_filled_for_each_hardware(tmp_path: Path) -> None:
    uri = '"mongodb://{env(WHO)}:{secret("WORD")}@{hosts}/{hardware}"'.replace('"WORD"', "WORD")
    spec = BASE.replace('"mongodb://{hosts}/ycsb"', uri) + EXPERIMENT.replace("THREADS", "1")
    database = plan_of(tmp_path, spec).databases[DatabaseKey("mongo@eco")]
    assert database.uri == (
        "mongodb://",
        Reference(kind="env", name="WHO"),
        ":",
        Reference(kind="secret", name="WORD"),
        "@eco-1.lab,eco-2.lab,eco-3.lab/eco",
    )


def test_local_hosts_are_reached_by_their_address(tmp_path: Path) -> None:
    spec = BASE.replace('"eco-[1-3].lab"', "local") + EXPERIMENT.replace("THREADS", "1")
    plan = plan_of(tmp_path, spec)
    assert plan.databases[DatabaseKey("mongo@eco")].uri == ("mongodb://127.0.0.1/ycsb",)
    assert plan.cells[0].locks == ("local", "load.lab")


# --- profiles and parameters -------------------------------------------------------------------------------------

PROFILES = (
    BASE
    + """
param time = 10 min
workload b from ycsb.b { records = 75M }
experiment e { hardware = eco  workloads = [a, b]  threads = [8, 16]  measure = time  repeats = 3 }
profile smoke {
  hosts = local
  override workload   { records = 2k }
  override workload b { records = 1k }
  override experiment { threads = [1, 2], measure = 1 s, repeats = 1 }
  override database   { server = embedded }
}
"""
)


def test_a_profile_replaces_what_it_says_and_no_more(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, PROFILES, "smoke")
    experiment = plan.experiments["e"]
    assert (experiment.points, experiment.measure_s, experiment.repeats) == ((1, 2), 1, 1)
    assert [plan.workloads[name].properties["records"] for name in ("a", "b")] == [2000, 1000]
    assert plan.hardware["eco"].hosts == plan.clients["load"].hosts == ("local",)
    assert plan.hardware["eco"].nodes == 1
    assert plan.databases[DatabaseKey("mongo@eco")].server == "embedded"
    assert plan.databases[DatabaseKey("mongo@eco")].uri == ()
    assert plan.hardware["eco"].label == "5100 ECO"
    assert plan.spec.profile == "smoke"


def test_without_a_profile_nothing_of_it_counts(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, PROFILES)
    assert list(plan.experiments["e"].points) == [8, 16]
    assert list(plan.hosts) == ["eco-1.lab", "eco-2.lab", "eco-3.lab", "load.lab"]


def test_a_profile_replaces_what_variants_say(tmp_path: Path) -> None:
    spec = VARIANTS.replace("variant ram { }", 'variant ram { prepare = command("reboot") }')
    plan = plan_of(tmp_path, spec + "profile p { override hardware { prepare = [] } }\n", "p")
    assert plan.hardware["ram"].prepare == ()


def test_a_profile_names_what_stands_in_for_another(tmp_path: Path) -> None:
    label = 'profile p { override hardware one "A laptop" { variant ram "Half of its memory" { } } }\n'
    plan = plan_of(tmp_path, VARIANTS + label, "p")
    before = plan_of(tmp_path, VARIANTS)
    assert (plan.hardware["ram"].group_label, plan.hardware["ram"].label) == ("A laptop", "Half of its memory")
    assert plan.hardware["one.disk"].label == before.hardware["one.disk"].label
    assert [cell.hash for cell in plan.cells] == [cell.hash for cell in before.cells], "a label changes no cell"


def test_a_label_for_all_of_a_kind_is_no_label(tmp_path: Path) -> None:
    assert codes(tmp_path, VARIANTS + 'profile p { override hardware "A laptop" { prepare = [] } }\n') == ["E0101"]


REPORT = """
metric gain = max(throughput over threads) / min(throughput over threads)
report brief "Ready for production" {
  subtitle = "Three nodes"
  text     = "What it does."
  text     = "How it does it."
  section "Results" {
    figure "Throughput" { line = throughput by threads, color workload  claim = "More with each thread" }
    text = "It gains."
    formula gain for b
  }
}
profile smoke {
  override report brief "A rehearsal" {
    subtitle = none
    text     = "One machine stands in."
    author   = "The lab"
    provenance = none
    section "Results" { figure "Throughput" { claim = none }  formula gain for a }
  }
}
"""


def test_a_profile_gives_a_report_other_words(tmp_path: Path) -> None:
    (report,) = plan_of(tmp_path, PROFILES.split("profile smoke")[0] + REPORT, "smoke").reports
    assert (report.title, report.subtitle, report.author) == ("A rehearsal", "", "The lab")
    text, section = report.elements
    assert isinstance(text, p.TextElement)
    assert text.prose.parts == ("One machine stands in.",)
    assert isinstance(section, p.SectionElement)
    figure, after, formula = section.elements
    assert isinstance(figure, p.FigureElement)
    assert (figure.claim, after.kind) == (None, "text")
    assert isinstance(formula, p.FormulaElement)
    assert formula.for_label == "YCSB A"
    assert report.provenance == "none", "a value like others"
    (before,) = plan_of(tmp_path, PROFILES.split("profile smoke")[0] + REPORT).reports
    assert (before.title, before.subtitle, len(before.elements)) == ("Ready for production", "Three nodes", 3)


def test_a_profile_leaves_a_figure_out_by_leaving_nothing_of_it(tmp_path: Path) -> None:
    spec = PROFILES.split("profile smoke")[0] + REPORT.replace("claim = none }", "line = none  claim = none }")
    for profile in (None, "smoke"):
        assert codes(tmp_path, spec, profile) == []
    (report,) = plan_of(tmp_path, spec, "smoke").reports
    section = report.elements[-1]
    assert isinstance(section, p.SectionElement)
    assert [each.kind for each in section.elements] == ["text", "formula"]


def test_what_a_profile_says_in_a_report_is_checked_with_all_that_it_changes(tmp_path: Path) -> None:
    """The values in a profile's text are checked at the points that this profile measures, whichever profile is
    chosen."""
    spec = PROFILES.split("profile smoke")[0] + REPORT
    at = "{throughput[a][threads: 3]:.0fu}"
    good = spec.replace('"One machine stands in."', f'"{at}"').replace(
        "profile smoke {", "profile smoke {\n  override experiment { threads = [3] }"
    )
    (tmp_path / "spec.bench").write_text(good, encoding="utf-8")
    assert [each.code for each in examine(tmp_path / "spec.bench").diagnostics] == []
    wrong = good.replace("threads: 3]", "threads: 4]").replace("claim = none", 'claim = "{nobody}"')
    (tmp_path / "spec.bench").write_text(wrong, encoding="utf-8")
    for profile in (None, "smoke"):
        found = examine(tmp_path / "spec.bench", profile=profile).diagnostics
        assert sorted(each.code for each in found) == ["E0701", "W0702"], found


def test_a_mistake_in_a_profile_is_found_whichever_is_chosen(tmp_path: Path) -> None:
    wrong = PROFILES.replace("measure = 1 s", "mesure = 1 s").replace("records = 1k", "records = 1 GB")
    assert sorted(codes(tmp_path, wrong)) == sorted(codes(tmp_path, wrong, "smoke")) == ["E0303", "E0501"]


def test_a_parameter_is_given_on_the_command_line(tmp_path: Path) -> None:
    assert plan_of(tmp_path, PROFILES).experiments["e"].measure_s == 600
    plan = plan_of(tmp_path, PROFILES, time="2 * 1 h")
    assert plan.experiments["e"].measure_s == 7200
    assert plan.spec.params == {"time": "2 * 1 h"}


@pytest.mark.parametrize(
    ("text", "code"), [("5 GB", "E0303"), ("5 minits", "E0301"), ("quick", "E0504"), ("5,", "E0101")]
)
def test_a_wrong_parameter_is_shown_in_what_was_given(tmp_path: Path, text: str, code: str) -> None:
    path = tmp_path / "spec.bench"
    path.write_text(PROFILES, encoding="utf-8")
    [diagnostic] = check(path, params={"time": text}).diagnostics
    assert diagnostic.code == code
    assert diagnostic.span is not None
    assert diagnostic.span.source.name == "--param time"


def test_a_parameter_may_be_a_text_a_word_or_a_list(tmp_path: Path) -> None:
    params = 'param points = [1, 2]\nparam who = zipfian\nparam where = "/srv/db"\n'
    spec = params + BASE.replace("ycsb.a", "ycsb.a { distribution = who }").replace('ycsb" }', 'ycsb"  path = where }')
    plan = plan_of(tmp_path, spec + EXPERIMENT.replace("THREADS", "points"))
    assert list(plan.experiments["e"].points) == [1, 2]
    assert plan.databases[DatabaseKey("mongo@eco")].path == "/srv/db"


# --- files -------------------------------------------------------------------------------------------------------


def test_a_file_used_twice_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "base.bench").write_text(BASE)
    (tmp_path / "more.bench").write_text('use "base.bench"\nworkload b from a { records = 5k }\n')
    spec = 'use "base.bench"\nuse "more.bench"\n' + EXPERIMENT.replace("THREADS", "1").replace("= a ", "= b ")
    plan = plan_of(tmp_path, spec)
    assert [Path(name).name for name in plan.spec.files] == ["base.bench", "more.bench", "spec.bench"]


def test_a_path_is_taken_from_the_file_that_says_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "hosts.bench").write_text('use "../base.bench"\n')
    (tmp_path / "base.bench").write_text(BASE)
    (tmp_path / "spec.bench").write_text('use "lab/hosts.bench"\n' + EXPERIMENT.replace("THREADS", "1"))
    monkeypatch.chdir(tmp_path)
    plan = compile_spec(Path("spec.bench"))
    assert list(plan.spec.files) == ["base.bench", "lab/hosts.bench", "spec.bench"]
    assert plan.hardware["eco"].origin.file == "base.bench"
    assert plan.cells[0].origin.file == "spec.bench"


def test_a_chain_of_too_many_files_ends_with_one_message(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"{number}.bench").write_text(f'use "{number + 1}.bench"\n')
    [diagnostic] = check(tmp_path / "0.bench").diagnostics
    assert diagnostic.code == "E0605"


def test_mistakes_in_several_files_are_shown_together(tmp_path: Path) -> None:
    (tmp_path / "one.bench").write_text("hardware { \n")
    (tmp_path / "two.bench").write_text("client = \n")
    assert len(codes(tmp_path, 'use "one.bench"\nuse "two.bench"\nuse "three.bench"\n')) == 3


def test_a_spec_that_is_not_there_says_so(tmp_path: Path) -> None:
    [diagnostic] = check(tmp_path / "missing.bench").diagnostics
    assert diagnostic.code.startswith("E00")
    assert diagnostic.help


def test_unused_declarations_of_used_files_are_nobody_s_mistake(tmp_path: Path) -> None:
    (tmp_path / "base.bench").write_text(BASE + 'workload z from ycsb.e\nhardware spare { hosts = "x" }\n')
    assert codes(tmp_path, 'use "base.bench"\n' + EXPERIMENT.replace("THREADS", "1")) == []
