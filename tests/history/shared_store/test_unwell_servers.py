"""Tests S3 servers that refuse requests, fill up, stop answering, or no longer accept the credentials, during a
push."""

from pathlib import Path

import pytest

from benchbrief.history.object_stores.object_store import (
    SharedStoreError,
    StoreAway,
    StoreFull,
    StoreRefuses,
    hash_file,
)
from benchbrief.history.shared_store.push_and_pull import Push, push_run
from benchbrief.history.shared_store.run_manifest import object_key
from benchbrief.history.shared_store.shared_store import open_store
from tests.support.ports import free_port
from tests.support.s3_servers import BUCKET, CREDENTIALS, between, settings


def connect(monkeypatch: pytest.MonkeyPatch, endpoint: str, **more: str) -> None:
    alone = {"AWS_MAX_ATTEMPTS": "1", "BENCHBRIEF_STORE_TIMEOUT": "60"}
    for name, value in (settings(endpoint) | alone | more).items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize(
    ("status", "code", "kind", "what"),
    [
        pytest.param(400, "ExpiredToken", StoreRefuses, "the credentials for .* have expired", marks=pytest.mark.long),
        pytest.param(
            403, "AccessDenied", StoreRefuses, "does not allow this with these credentials", marks=pytest.mark.long
        ),
        pytest.param(
            403, "RequestTimeTooSkewed", StoreRefuses, "says that this machine's clock is wrong", marks=pytest.mark.long
        ),
        pytest.param(507, "InsufficientStorage", StoreFull, "is full", marks=pytest.mark.long),
        pytest.param(403, "QuotaExceeded", StoreFull, "is full", marks=pytest.mark.long),
        (503, "SlowDown", StoreAway, "is too busy or unwell"),
        pytest.param(501, "NotImplemented", SharedStoreError, "knows no conditional writes", marks=pytest.mark.long),
        pytest.param(404, "NoSuchBucket", SharedStoreError, "there is no bucket lab", marks=pytest.mark.long),
        pytest.param(0, "", StoreAway, "did not answer in time", marks=pytest.mark.long),
    ],
)
def test_a_server_that_turns_in_the_middle_gets_a_clear_word_and_no_half_run(
    run_dir: Path,
    servers: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    code: str,
    kind: type[SharedStoreError],
    what: str,
) -> None:
    url = f"s3://{BUCKET}/{tmp_path.name}"
    with between(servers["gofakes3"], status, code, after=4) as server:
        connect(monkeypatch, server.address, **({} if status else {"BENCHBRIEF_STORE_TIMEOUT": "2"}))
        with pytest.raises(kind, match=what) as error:
            push_run(run_dir, open_store(url), Push())
    shown = f"{error.value} {error.value.hint}"
    assert error.value.hint
    assert "\n" not in shown
    assert not any(secret in shown for secret in CREDENTIALS.values())
    connect(monkeypatch, servers["gofakes3"])
    assert open_store(url).revisions() == {}
    assert push_run(run_dir, open_store(url), Push()).state == "new"


def test_a_manifest_whose_answer_was_lost_on_the_way_is_new_all_the_same(
    run_dir: Path, servers: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"s3://{BUCKET}/{tmp_path.name}"
    with between(servers["gofakes3"], lost=f"/runs/{run_dir.name}") as server:
        connect(monkeypatch, server.address, AWS_MAX_ATTEMPTS="3")
        made, again = (push_run(run_dir, open_store(url), Push()) for _ in range(2))
    puts = [each for each in server.asked if each.startswith("PUT") and "/runs/" in each]
    assert len(puts) == 2  # boto3 tried again, and found its own manifest there
    assert (made.state, made.manifest.revision, again.state) == ("new", 1, "same")


def test_a_server_that_is_not_there_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    connect(monkeypatch, f"http://127.0.0.1:{free_port()}")
    with pytest.raises(StoreAway, match="can't be reached"):
        list(open_store("s3://lab/x").manifests())


def test_credentials_that_are_not_there_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    connect(monkeypatch, "http://127.0.0.1:9")
    for name in CREDENTIALS:
        monkeypatch.delenv(name)
    with pytest.raises(StoreRefuses, match="there are no credentials for s3://lab/x"):
        list(open_store("s3://lab/x").manifests())
    monkeypatch.setenv("AWS_PROFILE", "nightly")
    with pytest.raises(StoreRefuses, match="nightly"):
        list(open_store("s3://lab/x").manifests())


def test_a_profile_of_the_usual_file_is_used(
    run_dir: Path, servers: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(monkeypatch, servers["gofakes3"])
    for name in CREDENTIALS:
        monkeypatch.delenv(name)
    file = tmp_path / "credentials"
    file.write_text("[nightly]\naws_access_key_id = AKIDTESTONLY\naws_secret_access_key = x\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    monkeypatch.setenv("AWS_PROFILE", "nightly")
    assert push_run(run_dir, open_store(f"s3://{BUCKET}/{tmp_path.name}"), Push()).state == "new"


def test_a_file_in_parts_comes_back_as_it_was(
    run_dir: Path, servers: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run_dir / "raw" / "large").write_bytes(bytes(range(256)) * (40 << 12))  # 40 MB: three parts
    connect(monkeypatch, servers["gofakes3"])
    store = open_store(f"s3://{BUCKET}/{tmp_path.name}")
    manifest = push_run(run_dir, store, Push()).manifest
    assert store.fetch(manifest, "raw/large", tmp_path).stat().st_size == 40 << 20


def test_a_large_file_that_changes_while_it_is_sent_leaves_nothing_under_its_name(
    run_dir: Path, servers: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = run_dir / "raw" / "large"
    large.write_bytes(bytes(40 << 20))
    connect(monkeypatch, servers["gofakes3"])
    store = open_store(f"s3://{BUCKET}/{tmp_path.name}")
    file = hash_file(large)
    key = object_key(file.sha256)
    with large.open("r+b") as written:
        written.write(b"other")
    with pytest.raises(SharedStoreError, match="large was changed while it was pushed"):
        store.objects.upload(key, file)
    assert store.objects.look(key) is None


def test_without_boto3_the_hint_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "boto3", None)
    with pytest.raises(SharedStoreError, match="needs boto3") as error:
        open_store("s3://lab/x")
    assert error.value.hint == "install it: pip install 'benchbrief[s3]'"
