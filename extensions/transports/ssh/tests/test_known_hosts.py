"""Tests known_hosts files by OpenSSH's rules. If possible, the results are compared with `ssh-keygen -F`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchbrief.extensions.transports.ssh.ssh_connect import known_host

KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIDDeIvGTRM2XKmZ+6wJyCgGyUg3nlhsD5nmnOHBG6kIF"
OTHER = "AAAAC3NzaC1lZDI1NTE5AAAAINWx7T2E1xnZzWjR6iLUYw7oP3tWk5jYw9gV4Ox0C1rN"


def judge(file: Path, host: str, port: int = 22, alias: str | None = None, key: str = KEY) -> str:
    return known_host(host, port, alias, [file]).check("ssh-ed25519", key)


@pytest.mark.parametrize(
    ("names", "host", "port", "known"),
    [
        ("db1", "db1", 22, True),
        ("db1", "DB1", 22, True),
        ("db1,10.0.0.1", "10.0.0.1", 22, True),
        ("db1", "db10", 22, False),
        ("db1", "db1", 2222, False),
        ("[db1]:2222", "db1", 2222, True),
        ("[db1]:2222", "db1", 22, False),
        ("*.lab", "db1.lab", 22, True),
        ("db?.lab", "db1.lab", 22, True),
        ("*.lab,!db1.lab", "db1.lab", 22, False),
        ("*.lab,!db1.lab", "db2.lab", 22, True),
        ("[*.lab]:2222", "db1.lab", 2222, True),
        ("[fe80::1]:2222", "fe80::1", 2222, True),
    ],
)
def test_names_match_as_in_openssh(tmp_path: Path, names: str, host: str, port: int, known: bool) -> None:
    file = tmp_path / "known_hosts"
    file.write_text(f"# comment\n\n{names} ssh-ed25519 {KEY} a comment\n")
    assert judge(file, host, port) == ("known" if known else "unknown")
    name = host if port == 22 else f"[{host}]:{port}"
    asked = subprocess.run(["ssh-keygen", "-F", name.lower(), "-f", file], capture_output=True, check=False)
    assert (asked.returncode == 0) == known


def test_a_hashed_name_is_found_by_its_hash(tmp_path: Path) -> None:
    file = tmp_path / "known_hosts"
    file.write_text(f"db1 ssh-ed25519 {KEY}\n[db2]:2222 ssh-ed25519 {OTHER}\n")
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", file], check=True, capture_output=True)
    assert "db1" not in file.read_text()
    assert judge(file, "db1") == "known"
    assert judge(file, "db2", 2222, key=OTHER) == "known"
    assert judge(file, "db2", key=OTHER) == "unknown"


def test_one_of_several_keys_is_enough_and_none_of_them_is_a_change(tmp_path: Path) -> None:
    file = tmp_path / "known_hosts"
    file.write_text(f"db1 ssh-ed25519 {OTHER}\ndb1 ssh-ed25519 {KEY}\n")
    assert judge(file, "db1") == "known"
    file.write_text(f"db1 ssh-ed25519 {OTHER}\n")
    assert judge(file, "db1") == "changed"


def test_a_key_of_another_type_is_a_change(tmp_path: Path) -> None:
    file = tmp_path / "known_hosts"
    file.write_text("db1 ssh-rsa AAAAB3NzaC1yc2E=\n")
    assert judge(file, "db1") == "changed"
    assert known_host("db1", 22, None, [file]).key_types == ("ssh-rsa",)


def test_a_revoked_key_is_worse_than_an_unknown_one(tmp_path: Path) -> None:
    file = tmp_path / "known_hosts"
    file.write_text(f"db1 ssh-ed25519 {KEY}\n@revoked * ssh-ed25519 {KEY}\n")
    assert judge(file, "db1") == "revoked"


def test_a_certificate_authority_is_not_a_host_key(tmp_path: Path) -> None:
    file = tmp_path / "known_hosts"
    file.write_text(f"@cert-authority * ssh-ed25519 {KEY}\n")
    assert judge(file, "db1") == "unknown"


def test_files_that_are_missing_or_damaged_know_nothing(tmp_path: Path) -> None:
    file = tmp_path / "known_hosts"
    assert judge(file, "db1") == "unknown"
    file.write_bytes(b"|1|x|y ssh-ed25519 k\n|1|\xff\xfe\n@\nshort line\n\0\n")
    assert judge(file, "db1") == "unknown"
