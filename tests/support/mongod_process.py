"""A process that stands in for mongod and mongos. It has their command line, wire protocol and life cycle, and a few
documents.

It was written according to MongoDB's documentation, for features that no available server has: replica sets whose
members are initiated, elect a primary and catch up, shards, access control (SCRAM-SHA-256, the localhost exception, a
key file that no one else may read), and TLS. Documents are kept in the data directory. In a replica set, only the first
member keeps them.

Run as `python -m tests.support.mongod_process mongod|mongos [options of mongod or mongos]`.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import hmac
import json
import os
import signal
import socket
import ssl
import stat
import struct
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bson import decode, encode

from tests.support.mongo_peer import HELLO, Document, Session, WireServer, refusal

_HEADER = struct.Struct("<iiii")
_ITERATIONS = 4096
_OPEN = {"hello", "ismaster", "ping", "buildinfo", "saslstart", "saslcontinue", "_config", "_users", "_shards"}
"""Commands that are answered without a login."""
_OF_THE_SHARDS = {"insert", "find", "update", "delete", "count", "aggregate", "drop", "shardcollection"}
"""Commands that a router passes to its first shard."""
_STARTING_S = 0.3
"""How many seconds pass until a new member becomes a secondary."""


def _arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name in ("config", "dbpath", "bind_ip", "replSet", "keyFile", "configdb", "tlsMode", "tlsCertificateKeyFile"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--tlsCAFile")
    parser.add_argument("--port", type=int)
    for name in ("shardsvr", "configsvr", "auth", "tlsAllowConnectionsWithoutCertificates"):
        parser.add_argument(f"--{name}", action="store_true")
    return parser.parse_args(words)


class Process:
    """A single server. Its `state` is saved in the data directory: the replica set's configuration, users, and
    documents."""

    def __init__(self, program: str, options: argparse.Namespace) -> None:
        self.options = options
        self.router = program == "mongos"
        self.lock = threading.RLock()
        self.began = time.time()
        self.shards: list[Document] = []
        self.file = Path(options.dbpath) / "state.json" if options.dbpath else None
        self.state: dict[str, Any] = {"set": None, "users": {}, "documents": {}}
        if options.config:
            Path(options.config).read_text()
        if self.file:
            if self.file.exists():
                self.state = json.loads(self.file.read_text())
            elif not self.file.parent.is_dir():
                _die(f"data directory {self.file.parent} not found")
        self.guarded = options.auth or bool(options.keyFile)
        if options.keyFile and stat.S_IMODE(Path(options.keyFile).stat().st_mode) & 0o077:
            _die(f"permissions on {options.keyFile} are too open")
        if options.keyFile and len(Path(options.keyFile).read_text()) < 6:
            _die("security key must be between 6 and 1024 characters")

    def keep(self) -> None:
        if self.file:
            self.file.write_text(json.dumps(self.state))

    def answer(self, command: Document, session: Session) -> Document:
        name = next(iter(command))
        method = getattr(self, f"do_{name.lower()}", None)
        with self.lock:
            if self.guarded and name.lower() not in _OPEN and not self._let_in(command, session):
                return refusal(13, "Unauthorized", f"command {name} requires authentication")
            if self.router and name.lower() in _OF_THE_SHARDS:
                return self.call(self._shards()[0]["host"].partition("/")[2].split(",")[0], {**command, "_inner": 1})
            if method is None:
                return refusal(59, "CommandNotFound", f"no such command: '{name}'")
            found: Document = method(command, session)
        return {"ok": 1, **found}

    def _let_in(self, command: Document, session: Session) -> bool:
        """Apply the localhost exception: a client on the server's own host may create the first user."""
        first = next(iter(command)) in ("replSetInitiate", "createUser") and not self.state["users"]
        return "user" in session or "_inner" in command or first

    # --- what it is ---

    def do_hello(self, command: Document, session: Session) -> Document:
        found: dict[str, Any] = {key: value for key, value in HELLO.items() if key != "ismaster"}
        config = self.state["set"]
        if self.router:
            found |= {"isWritablePrimary": True, "msg": "isdbgrid"}
        elif config:
            hosts = [member["host"] for member in config["members"]]
            mine = self._mine(config)
            ready = time.time() > self.began + _STARTING_S
            found |= {"setName": config["_id"], "hosts": hosts, "me": mine, "primary": hosts[0]}
            found |= {"isWritablePrimary": mine == hosts[0] and ready, "secondary": mine != hosts[0] and ready}
        else:
            found["isWritablePrimary"] = not self.options.replSet
        asked = str(command.get("saslSupportedMechs", "")).partition(".")[2]
        if asked in self._users():
            found["saslSupportedMechs"] = ["SCRAM-SHA-256"]
        return found

    do_ismaster = do_hello

    def _mine(self, config: Document) -> str:
        hosts = [str(member["host"]) for member in config["members"]]
        return next(host for host in hosts if host.endswith(f":{self.options.port}") and self._is_here(host))

    def _is_here(self, host: str) -> bool:
        return host.rpartition(":")[0] in str(self.options.bind_ip).split(",")

    def do_ping(self, command: Document, session: Session) -> Document:
        return {}

    def do_buildinfo(self, command: Document, session: Session) -> Document:
        return {"version": "8.0.1", "benchbriefStandIn": "a scripted peer"}

    def do_serverstatus(self, command: Document, session: Session) -> Document:
        return {"uptimeMillis": 1000 * (time.time() - self.began), "opcounters": {"insert": 0}}

    # --- replica sets ---

    def do_replsetinitiate(self, command: Document, session: Session) -> Document:
        config = command["replSetInitiate"]
        if self.state["set"]:
            return refusal(23, "AlreadyInitialized", "already initialized")
        if config["_id"] != self.options.replSet or bool(config.get("configsvr")) != self.options.configsvr:
            return refusal(93, "InvalidReplicaSetConfig", "not the set that it was started for")
        self._configure(config)
        self._pass_on({"_config": config})
        return {}

    def do__config(self, command: Document, session: Session) -> Document:
        if "users" in command:
            self.state["users"] = command["users"]
        else:
            self._configure(command["_config"])
        self.keep()
        return {}

    def _configure(self, config: Document) -> None:
        self.state["set"] = config
        self.began = time.time()
        self.keep()

    def _pass_on(self, command: Document) -> None:
        config = self.state["set"]
        for member in config["members"] if config else ():
            if member["host"] != self._mine(config):
                self.call(member["host"], command)

    def do_replsetgetstatus(self, command: Document, session: Session) -> Document:
        """Answer with the status. If the file $PEER_LAG exists, secondaries lag by the number of seconds in it."""
        config = self.state["set"]
        now = datetime.now(UTC)
        lag = Path(os.environ.get("PEER_LAG", os.devnull))
        behind = float(lag.read_text() or 0) if lag.exists() else 0.0
        members = [
            {
                "name": member["host"],
                "state": 2 if number else 1,
                "stateStr": "SECONDARY" if number else "PRIMARY",
                "optimeDate": now - timedelta(seconds=behind if number else 0),
            }
            for number, member in enumerate(config["members"])
        ]
        return {"set": config["_id"], "members": members}

    # --- shards ---

    def do_addshard(self, command: Document, session: Session) -> Document:
        name, _, hosts = command["addShard"].partition("/")
        hello = self.call(hosts.split(",")[0], {"hello": 1})
        if hello.get("setName") != name:
            return refusal(96, "OperationFailed", f"{hosts} is not {name}")
        self.call(self._config_server(), {"_shards": 1, "one more": {"_id": name, "host": command["addShard"]}})
        return {}

    def do_listshards(self, command: Document, session: Session) -> Document:
        return {"shards": self._shards()}

    def _shards(self) -> list[Any]:
        return list(self.call(self._config_server(), {"_shards": 1})["shards"])

    def do__shards(self, command: Document, session: Session) -> Document:
        """Store or return the documents that routers keep on a config server of the cluster."""
        more = command.get("one more")
        if more and more not in self.shards:
            self.shards.append(more)
        return {"shards": self.shards}

    def _config_server(self) -> str:
        return str(self.options.configdb).partition("/")[2].split(",")[0]

    def do_enablesharding(self, command: Document, session: Session) -> Document:
        return {}

    def do_shardcollection(self, command: Document, session: Session) -> Document:
        self._table("config.collections")[command["shardCollection"]] = {
            "_id": command["shardCollection"],
            "key": dict(command["key"]),
        }
        return {}

    # --- users ---

    def _users(self) -> dict[str, Any]:
        if self.options.configdb:
            return dict(self.call(self._config_server(), {"_users": 1})["users"])
        return dict(self.state["users"])

    def do__users(self, command: Document, session: Session) -> Document:
        return {"users": self.state["users"]}

    def do_createuser(self, command: Document, session: Session) -> Document:
        salt = os.urandom(28)
        salted = hashlib.pbkdf2_hmac("sha256", command["pwd"].encode(), salt, _ITERATIONS)
        self.state["users"][command["createUser"]] = {"salt": salt.hex(), "salted": salted.hex()}
        self.keep()
        self._pass_on({"_config": 1, "users": self.state["users"]})
        return {}

    def do_saslstart(self, command: Document, session: Session) -> Document:
        bare = bytes(command["payload"]).decode().removeprefix("n,,")
        fields = dict(field.split("=", 1) for field in bare.split(","))
        user = self._users().get(fields["n"])
        if command["mechanism"] != "SCRAM-SHA-256" or user is None:
            return refusal(18, "AuthenticationFailed", "Authentication failed.")
        nonce = fields["r"] + base64.b64encode(os.urandom(18)).decode()
        first = f"r={nonce},s={base64.b64encode(bytes.fromhex(user['salt'])).decode()},i={_ITERATIONS}"
        session["scram"] = (fields["n"], bare, first, bytes.fromhex(user["salted"]))
        return {"conversationId": 1, "done": False, "payload": first.encode()}

    def do_saslcontinue(self, command: Document, session: Session) -> Document:
        user, bare, first, salted = session.pop("scram")
        last = bytes(command["payload"]).decode()
        unproven, _, proof = last.partition(",p=")
        message = f"{bare},{first},{unproven}".encode()
        stored = hashlib.sha256(_hmac(salted, b"Client Key")).digest()
        signature = _hmac(stored, message)
        key = bytes(a ^ b for a, b in zip(base64.b64decode(proof), signature, strict=True))
        if hashlib.sha256(key).digest() != stored:
            return refusal(18, "AuthenticationFailed", "Authentication failed.")
        session["user"] = user
        verifier = base64.b64encode(_hmac(_hmac(salted, b"Server Key"), message)).decode()
        return {"conversationId": 1, "done": True, "payload": f"v={verifier}".encode()}

    # --- documents ---

    def _table(self, name: str) -> dict[str, Any]:
        table: dict[str, Any] = self.state["documents"].setdefault(name, {})
        return table

    def do_insert(self, command: Document, session: Session) -> Document:
        table = self._table(f"{command['$db']}.{command['insert']}")
        table.update({each["_id"]: each for each in command["documents"]})
        self.keep()
        return {"n": len(command["documents"])}

    def do_find(self, command: Document, session: Session) -> Document:
        space = f"{command['$db']}.{command['find']}"
        table, key = self._table(space), command["filter"].get("_id")
        keys = key["$in"] if isinstance(key, dict) else [key]
        return {"cursor": {"id": 0, "ns": space, "firstBatch": [table[each] for each in keys if each in table]}}

    def do_update(self, command: Document, session: Session) -> Document:
        table = self._table(f"{command['$db']}.{command['update']}")
        for each in command["updates"]:
            table[each["q"]["_id"]] = {"_id": each["q"]["_id"], **each["u"]}
        self.keep()
        return {"n": len(command["updates"]), "nModified": len(command["updates"])}

    def do_delete(self, command: Document, session: Session) -> Document:
        table = self._table(f"{command['$db']}.{command['delete']}")
        gone = [table.pop(each["q"]["_id"], None) for each in command["deletes"]]
        self.keep()
        return {"n": len(gone)}

    def do_count(self, command: Document, session: Session) -> Document:
        return {"n": len(self._table(f"{command['$db']}.{command['count']}"))}

    def do_aggregate(self, command: Document, session: Session) -> Document:
        space = f"{command['$db']}.{command['aggregate']}"
        table = self._table(space)
        found = list(table.values()) if "$sample" in command["pipeline"][0] else [{"n": len(table)}]
        return {"cursor": {"id": 0, "ns": space, "firstBatch": found}}

    def do_drop(self, command: Document, session: Session) -> Document:
        self.state["documents"].pop(f"{command['$db']}.{command['drop']}", None)
        self.state["documents"].get("config.collections", {}).pop(f"{command['$db']}.{command['drop']}", None)
        self.keep()
        return {}

    def do_endsessions(self, command: Document, session: Session) -> Document:
        return {}

    # --- others ---

    def call(self, host: str, command: Document) -> Document:
        """Send a command to another process of the cluster."""
        name, _, port = host.rpartition(":")
        with socket.create_connection((name, int(port)), timeout=5) as plain:
            connection: socket.socket = plain
            if self.options.tlsMode:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                context.check_hostname = False
                context.load_verify_locations(self.options.tlsCAFile)
                connection = context.wrap_socket(plain)
            body = struct.pack("<iB", 0, 0) + encode(command)
            connection.sendall(_HEADER.pack(_HEADER.size + len(body), 1, 0, 2013) + body)
            with connection.makefile("rb") as stream:
                length = _HEADER.unpack(stream.read(_HEADER.size))[0]
                return decode(stream.read(length - _HEADER.size)[5:])


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.new(key, message, hashlib.sha256).digest()


def _die(why: str) -> None:
    print(f"fatal: {why}", flush=True)
    sys.exit(1)


def main() -> None:
    program, *words = sys.argv[1:]
    options = _arguments(words)
    process = Process(program, options)
    tls = None
    if options.tlsMode:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(options.tlsCertificateKeyFile)
    servers = []
    for address in options.bind_ip.split(","):
        try:
            servers.append(WireServer((address, options.port), process.answer, tls))
        except OSError as error:
            _die(f"{address}:{options.port}: {error.strerror}")
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    for server in servers:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    print(f"{program} waiting for connections on port {options.port}", flush=True)
    ended.wait()
    print("clean shutdown", flush=True)


if __name__ == "__main__":
    main()
