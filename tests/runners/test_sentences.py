"""Tests the sentences of a run: they are codes with arguments, and have words in each language."""

from __future__ import annotations

import ast
import copy
import json
import pickle
import re
from pathlib import Path
from string import Formatter
from typing import Protocol

import pytest

from benchbrief.comparing.comparison_cautions import CompareMessages
from benchbrief.compiler.metrics.curves import ABSENT
from benchbrief.extensions.engines.mongodb.mongo_client import MongodbMessages
from benchbrief.extensions.engines.raw_storage.raw_storage import StorageMessages
from benchbrief.extensions.engines.rocksdb.rocksdb import RocksdbMessages
from benchbrief.extensions.meters.snmp.snmp_meter import SnmpMessages
from benchbrief.extensions.probes.cpu.cpu_probe import CpuMessages
from benchbrief.extensions.probes.disk.disk_probe import DiskMessages
from benchbrief.extensions.probes.memory.memory_probe import MemoryMessages
from benchbrief.extensions.probes.network.network_probe import NetworkMessages
from benchbrief.extensions.probes.tcp.tcp_probe import TcpMessages
from benchbrief.extensions.tools.db_bench import db_bench_output
from benchbrief.extensions.tools.db_bench.db_bench_output import DbBenchMessages
from benchbrief.extensions.tools.fio.fio_output import FioMessages
from benchbrief.extensions.tools.go_ycsb.go_ycsb_output import GoYcsbMessages
from benchbrief.extensions.tools.openload.openload_messages import OpenloadMessages
from benchbrief.extensions.tools.ycsb import ycsb_output
from benchbrief.extensions.tools.ycsb.ycsb_output import YcsbMessages
from benchbrief.extensions.transports.ssh.ssh_connect import SshMessages
from benchbrief.model import events as j
from benchbrief.model.message import (
    FAMILY,
    Message,
    codes_of,
    figure,
    joined,
    mapped,
    message_from_data,
    share_figure,
    spanning,
    speaker,
    to_data,
    word,
)
from benchbrief.model.run_messages import EngineMessages
from benchbrief.model.run_record import KINDS
from benchbrief.reports.words.brief_words import CATALOGUES, Words
from benchbrief.results.result_messages import say
from benchbrief.runners import errors
from benchbrief.runners.engines.data_directories import _WHY
from benchbrief.runners.errors import BadOutput, RunnerError
from benchbrief.runners.journal.secret_masking import KNOWN

DECLARED = (
    *(CompareMessages, DbBenchMessages, FioMessages, GoYcsbMessages, OpenloadMessages, YcsbMessages),
    *(MongodbMessages, RocksdbMessages, StorageMessages),
    *(CpuMessages, DiskMessages, MemoryMessages, NetworkMessages, SnmpMessages, TcpMessages),
    SshMessages,
)
JAPANESE = re.compile("[\u3040-\u9fff]")
ENDED = say.tool_ended(tool="db_bench", code=1, said="No space left on device")


def holes(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("language", CATALOGUES)
def test_each_code_has_words_with_its_arguments_in_each_language_and_no_word_is_left_over(language: str) -> None:
    catalogue = CATALOGUES[language]
    codes = {code: args for declared in DECLARED for code, args in codes_of(declared).items()}
    said = {key.removeprefix(FAMILY): holes(catalogue[key]) for key in catalogue if key.startswith(FAMILY)}
    assert said == {code: set(args) for code, args in codes.items()}


@pytest.mark.parametrize(
    "room", ["drivers", "engines", "execution", "hosts", "jobs", "meters", "probes", "scheduling", "transports"]
)
def test_what_stops_a_cell_is_said_by_a_code(room: str) -> None:
    before_a_run = {errors.NoHost, errors.OneMachine, errors.Outdated}  # of which no journal tells
    kinds = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, RunnerError) and kind not in before_a_run
    }
    plain = [
        f"{path.name}:{call.lineno}: {ast.unparse(argument)}"
        for path in (Path(errors.__file__).parent / room).rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in kinds
        for argument in call.args
        if isinstance(argument, ast.JoinedStr) or (isinstance(argument, ast.Constant) and argument.value)
    ]
    assert plain == []


def test_each_name_that_is_looked_up_by_its_code_has_words() -> None:
    assert codes_of(EngineMessages).keys() >= _WHY
    names = [*ABSENT.values(), *(f"step_{kind}" for kind in (*KINDS, "cool_down")), "done", "failed", "interrupted"]
    assert [name for name in names if str(word(name)) == name and name not in ("done", "failed", "interrupted")] == []
    assert all(JAPANESE.search(word(name).in_words(CATALOGUES["ja"])) for name in names)


def test_a_sentence_is_english_and_is_worded_anew_in_another_language_down_to_its_parts() -> None:
    hint = say.hint_output(path="/raw/m")
    found = say.hinted(said=ycsb_output.say.no_overall(said=say.printed_nothing()), hint=hint)
    assert found == "YCSB printed no [OVERALL] result: it printed nothing (its whole output is in /raw/m)"
    assert found.in_words(CATALOGUES["ja"]) == (
        "YCSB の出力に [OVERALL] の結果がありません：出力なし（出力の全体は /raw/m にあります）"
    )
    assert say.load_threads(n=figure(1, ",.0f")) == "1 thread"
    assert say.load_threads(n=figure(96, ",.0f")) == "96 threads"
    assert say.controller_away(step=word("step_measure"), start="9:00", end="9:01").in_words(CATALOGUES["ja"]) == (
        "コントローラーが 測定 の段階で 9:00 から 9:01 まで停止していました"
    )


def test_what_quotes_a_sentence_is_not_taken_for_one() -> None:
    quoted = say.tool_ended(tool="db_bench", code=1, said="{code} ended; {said} (its whole output is in /x)")
    assert quoted == "db_bench ended with code 1: {code} ended; {said} (its whole output is in /x)"
    assert quoted.in_words(CATALOGUES["ja"]).endswith("{code} ended; {said} (its whole output is in /x)")


def test_the_journal_keeps_the_code_and_its_arguments_and_a_sentence_of_an_earlier_version_stands_as_it_is() -> None:
    said = say.busy(
        host="db-1", cell="a/b", what=say.process_takes(process="cc", pid="7", user="dev", amount=figure(1.94, ".1f"))
    )
    record = j.Remark(at=1.0, severity="warning", text=said, cell="a/b")
    kept = json.loads(record.model_dump_json())["text"]
    assert kept["code"] == "busy"
    assert kept["args"]["what"]["args"]["amount"] == {"value": 1.94, "text": "1.9"}
    again = j.RECORD.validate_json(record.model_dump_json())
    assert isinstance(again, j.Remark)
    assert again == record
    assert again.text == "db-1 was busy when a/b began: cc (process 7 of dev) takes 1.9 cores"
    assert isinstance(again.text, Message)
    assert again.text.in_words(CATALOGUES["ja"]) == said.in_words(CATALOGUES["ja"])
    old = j.RECORD.validate_python({"type": "remark", "at": 1.0, "severity": "info", "text": "db-1 was busy"})
    assert isinstance(old, j.Remark)
    assert (old.text, type(old.text)) == ("db-1 was busy", str)


@pytest.mark.parametrize(
    "data", [None, [], 3, {"code": 1, "args": {}}, {"code": "x", "args": {"a": None}}, {"code": "x"}]
)
def test_what_is_no_sentence_is_refused_in_a_journal(data: object) -> None:
    with pytest.raises(ValueError, match=r"not a sentence|validation error"):
        j.RECORD.validate_python({"type": "remark", "at": 1.0, "severity": "info", "text": data})


def test_a_code_of_a_newer_version_is_shown_with_its_arguments() -> None:
    found = message_from_data({"code": "not_yet_known", "args": {"host": "db-1", "n": 3}})
    assert found == "not_yet_known: host db-1, n 3"
    assert found.in_words(CATALOGUES["ja"]) == found
    assert message_from_data({"code": "tool_ended", "args": {"tool": "fio"}}) == "tool_ended: tool fio"


def test_a_code_of_an_earlier_version_keeps_its_words() -> None:
    found = message_from_data({"code": "rocksdb_pathless", "args": {}})
    assert found == "a RocksDB database needs a path"
    assert found.in_words(CATALOGUES["ja"]) == "RocksDB のデータベースにはパスが必要です"


def test_a_package_of_its_own_brings_the_words_of_its_codes_and_the_journal_keeps_them() -> None:
    class PgMessages(Protocol):
        def clients_gone(self, *, n: object) -> Message: ...

    own: PgMessages = speaker(
        PgMessages,
        {"en": {"clients_gone": "{n} clients of pgbench have gone"}, "ja": {"clients_gone": "pgbench の {n} 個が終了"}},
    )
    error = BadOutput(own.clients_gone(n=3), "a plain hint")
    assert str(error) == "3 clients of pgbench have gone"
    again = message_from_data(json.loads(json.dumps(to_data(error.one_line))))
    assert again.in_words(CATALOGUES["ja"]) == "pgbench の 3 個が終了（a plain hint）"
    french = Words("fr", CATALOGUES["en"].entries)
    assert again.in_words(french) == "3 clients of pgbench have gone (a plain hint)"


def test_an_error_keeps_its_sentence_on_one_line_and_without_secrets() -> None:
    with KNOWN.apart():
        KNOWN.add("s3cr3t-Passw0rd!")
        error = BadOutput(say.tool_ended(tool="ycsb", code=1, said="login s3cr3t-Passw0rd!\nfailed"))
        found = error.one_line
    assert isinstance(found, Message)
    assert found.args["said"] == "login *** failed"
    assert isinstance(error.message, Message)
    assert str(error) is error.message


def test_sentences_that_differ_in_their_numbers_have_one_shape_and_span_a_range() -> None:
    one, other = (
        say.patchy(probe="cpu", host="db-1", share=share_figure(share), seconds=figure(seconds, ".1f"))
        for share, seconds in ((0.9, 2.04), (0.5, 12.0))
    )
    assert one.shape == other.shape != say.patchy(probe="cpu", host="db-2", share=one.args["share"], seconds=1).shape
    assert spanning([one, other]) == (
        "cpu of db-1 was sampled for 50 %–90 % of the measured window: the longest gap is 2.0–12.0 s"
    )
    assert spanning([one, one]) == one


def test_a_sentence_can_be_copied_and_sent_to_another_process() -> None:
    nested = say.of_cell(cell="a", what=ENDED)
    for again in (copy.deepcopy(nested), pickle.loads(pickle.dumps(nested))):  # noqa: S301  # just made
        assert again == nested
        assert again.in_words(CATALOGUES["ja"]) == nested.in_words(CATALOGUES["ja"])


def test_parts_are_joined_as_the_language_does() -> None:
    assert joined([], say.both) == ""
    assert joined(["a"], say.both) == "a"
    assert joined(["a", "b", "c"], say.both) == "a; b; c"
    assert mapped("plain", str.upper) == "PLAIN"


@pytest.mark.parametrize("language", sorted(CATALOGUES))
def test_a_brief_prints_a_recorded_share_as_it_prints_all_others(language: str) -> None:
    """If the sentence contains a tool's own words, these remain unchanged."""
    sentence = say.tool_ended(tool="db_bench", code=1, said="50% done")
    few = db_bench_output.say.found_fewer(benchmark="readrandom", share=share_figure(0.795, 1))
    words = Words(language, CATALOGUES[language]).with_sentences({sentence: sentence, few: few})
    assert "79.5%" in words.said(few)
    assert "50% done" in words.said(sentence)
    assert words.said("90% of nothing") == "90% of nothing"
