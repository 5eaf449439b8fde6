"""Tests that with `--json`, standard output is one JSON document, even if the command ends with an error."""

from __future__ import annotations

import pytest

from tests.cli.specs import SMALL
from tests.support.bench import Bench


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("run", "nowhere.bench"), "spec_wrong", "nowhere.bench"),
        (("run", "wrong.bench"), "spec_wrong", "wrong.bench has 1 error"),
        (("run", "wrong.bench", "--no-such-option"), "usage", "--no-such-option"),
        (("verify", "nowhere.pdf"), "report", "nowhere.pdf"),
        (("compare", "one", "two"), "results", "no run in bench-out"),
        (("report", "nowhere"), "results", "no run in bench-out"),
        (("query", "SELEC"), "results", "no run in bench-out"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_an_error_is_json_with_its_code_message_and_help(
    words: tuple[str, ...], code: str, message: str, bench: Bench
) -> None:
    bench.spec(SMALL.replace("threads   = [1, 2]", "threads   = [1, none]"), "wrong.bench")
    done = bench(*words, "--json").plainly()
    error = done.json["error"]
    assert done.code != 0
    assert {"code", "message", "help"} <= error.keys()
    assert error["code"] == code
    assert message in error["message"]
    assert done.err, "the same in words, for who reads the log"
    plain = bench(*words)
    assert (plain.code, plain.err) == (done.code, done.err)
    assert '"error"' not in plain.out


@pytest.mark.long
def test_a_report_tells_its_numbers_its_verdicts_and_its_limits(copied_run: Bench) -> None:
    copied_run.spec(f"{SMALL}\nexpect max(gain over threads) > -100 %\n", "judged.bench")
    made = copied_run("report", "--spec", "judged.bench", "--html-only", "--json").plainly().json
    (told,) = made["results"]
    assert list(made) == ["results", "expects", "claims", "reports", "deposit", "undrawn"]
    assert (told["report"], bool(told["title"])) == ("brief", True)
    assert told["numbers"], "the same as the terminal ends with"
    said = copied_run("report", "--html-only").err
    assert all(number["value"] in said for number in told["numbers"])
    assert told["limits"]
    page = next(path for path in made["reports"]["brief"] if path.endswith("brief.html"))
    limits = (copied_run.folder / page).read_text("utf-8")
    assert limits.count('<li id="limit-') == len(told["limits"])
    assert [expect["holds"] for expect in made["expects"]] == [True]
