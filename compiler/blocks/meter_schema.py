"""The power meters that hardware may name, each with its arguments: the table behind the checker and the reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from benchbrief.compiler.blocks.shapes import Flag, Key, Login, Number, Special, Text, Word
from benchbrief.compiler.plan import Boundary


@dataclass(frozen=True)
class MeterSchema:
    """A way to read power, written as a call: `ipmi("bmc-[1-4].lab", user: env("BMC_USER"), password: secret("P"))`.

    `address` says what its unnamed argument is, "" when it takes none. `boundary` is what its watts are the power of.
    A `networked` meter is read on the controller, and there is one for each host; others are on the hosts. `parts` are
    the arguments that say what is read at the address, at most one of which is said; it may have ranges, as the address
    may. `needs` are arguments of which exactly one is said. With `local`, the address may be left out: the meter is
    then read on the host itself.
    """

    doc: str
    boundary: Boundary
    address: str
    usage: str
    arguments: Mapping[str, Key] = field(default_factory=dict)
    networked: bool = True
    parts: tuple[str, ...] = ()
    needs: tuple[tuple[str, ...], ...] = ()
    local: bool = False


BOUNDARIES: tuple[Boundary, ...] = ("wall", "node", "cpu")

FAMILIES = ("apc", "raritan", "servertech", "sentry3")
"""PDUs whose outlets' object identifiers are known (see `runners/probes/power/snmp.py`)."""

_SHARED = {
    "shared": Key(
        Flag(),
        "The hosts have the meter together, as the nodes of an enclosure have: its watts are counted once, "
        "and those of several are added up.",
        default="a meter for each host",
    )
}
_SCALE = Key(Number("W", "0.1 W", above=True), "What one of the number is in watts.", default="1 W")
_BOUNDARY = {"boundary": Key(Word(BOUNDARIES), "What its watts are the power of.", default="unknown")}


def _bmc_login(required: bool) -> dict[str, Key]:
    return {
        "user": Key(Login(secret=False, example="BMC_USER"), "Who logs in.", required=required),
        "password": Key(Login(secret=True, example="BMC_PASSWORD"), "The password.", required=required),
    }


METERS: dict[str, MeterSchema] = {
    "ipmi": MeterSchema(
        "The BMC of each host, asked over the network by `ipmitool`; `ipmi` alone asks it on the host, as root.",
        "node",
        "the BMC of each host",
        '`ipmi("bmc-[1-4].lab", user: env("BMC_USER"), password: secret("BMC_PASSWORD"))`',
        {
            **_bmc_login(required=True),
            "sensor": Key(
                Text(), "The sensor that is read, for a BMC without DCMI.", default="its power reading (DCMI)"
            ),
            "cipher": Key(
                Number("", "3", plain=True, integer=True, maximum=17.0),
                "The cipher suite.",
                default="what `ipmitool` agrees on with the BMC",
            ),
            **_SHARED,
        },
        parts=("sensor",),
        local=True,
    ),
    "redfish": MeterSchema(
        "The BMC of each host, asked over HTTPS (Redfish `PowerWatts` or `PowerConsumedWatts`).",
        "node",
        "the address of each host's BMC",
        '`redfish("https://bmc-[1-4].lab", user: env("BMC_USER"), password: secret("BMC_PASSWORD"))`',
        {
            **_bmc_login(required=True),
            "chassis": Key(Text(), "The chassis that is read.", default="the only one"),
            "control": Key(Text(), "Which of its power controls is read, by name.", default="the only one"),
            "auth": Key(
                Word(("basic", "session")),
                "How it logs in: with every request, or once, with a session that is ended afterwards.",
                default="basic",
            ),
            "ca_file": Key(
                Text(absolute=True),
                "A file on the controller with the certificates that are trusted.",
                default="those of the controller's system",
            ),
            "fingerprint": Key(
                Special("the SHA-256 of a certificate in hexadecimal digits, or a list of those"),
                "The BMC's own certificate (of several BMCs, a list), in place of one signed by an authority.",
                default="a certificate that is signed",
            ),
            "verify": Key(Flag(), "`false` takes any certificate: anyone may get the password.", default="true"),
            **_SHARED,
        },
        parts=("chassis",),
    ),
    "snmp": MeterSchema(
        "A number that a PDU's outlet or a UPS gives by SNMP, asked by `snmpget`.",
        "wall",
        "the PDU of each host",
        '`snmp("pdu.lab", outlet: "[1-4]", family: apc, community: secret("SNMP_COMMUNITY"))`',
        {
            "oid": Key(Text(), "The number's object identifier.", default="that of the `outlet`"),
            "outlet": Key(Text(), "The outlet's number, for a `family` of PDUs.", default="what the `oid` is of"),
            "family": Key(Word(FAMILIES), "Which PDU it is, for an `outlet`."),
            "community": Key(Login(secret=True, example="SNMP_COMMUNITY"), "The community (SNMPv2c)."),
            "user": Key(Login(secret=False, example="SNMP_USER"), "Who asks (SNMPv3)."),
            "auth": Key(Login(secret=True, example="SNMP_AUTH"), "The passphrase that proves who asks (SNMPv3)."),
            "privacy": Key(
                Login(secret=True, example="SNMP_PRIVACY"), "The passphrase that hides what is said (SNMPv3)."
            ),
            "auth_protocol": Key(
                Word(("sha", "sha256", "sha512", "md5")), "How `auth` proves it (SNMPv3).", default="sha"
            ),
            "privacy_protocol": Key(Word(("aes", "des")), "How `privacy` hides it (SNMPv3).", default="aes"),
            "scale": _SCALE,
            **_SHARED,
        },
        parts=("oid", "outlet"),
        needs=(("oid", "outlet"), ("community", "user")),
    ),
    "rapl": MeterSchema(
        "The counters of the processors on each host: CPU packages only, without disks, fans and power supplies.",
        "cpu",
        "",
        "`rapl`",
        networked=False,
    ),
    "command": MeterSchema(
        "A command that prints one number, in watts; `$BENCH_HOST` is the host that it is about.",
        "unknown",
        "a shell command",
        '`command("/usr/local/bin/watts")`',
        {
            "on": Key(Word(("node", "controller")), "Where it is run.", default="node"),
            **_BOUNDARY,
            **_SHARED,
        },
        networked=False,
    ),
    "csv": MeterSchema(
        "The log that a meter writes itself: a file on the controller, read at the end of each cell.",
        "unknown",
        "the file of each host, where `*` may stand for any part of its name",
        '`csv("/var/log/meter/*.csv", time: "Time", watts: "Outlet [1-4]", zone: "Europe/Berlin", boundary: wall)`',
        {
            "time": Key(
                Text(), "The column of the time: ISO 8601, or seconds or milliseconds since 1970.", default='"time"'
            ),
            "watts": Key(Text(), "The column of the watts.", default='"watts"'),
            "zone": Key(Text(), "The time zone of times that name none.", default="none: they have to name theirs"),
            "format": Key(Text(), 'How times are written, as in "%d.%m.%Y %H:%M:%S".', default="ISO 8601, or a number"),
            "scale": _SCALE,
            "wait": Key(
                Number("s", "1 min", maximum=3600.0),
                "How long the end of a cell waits for the file to reach it.",
                default="1 min",
            ),
            **_BOUNDARY,
            **_SHARED,
        },
        parts=("watts",),
    ),
}

NEEDS_ANOTHER: Mapping[tuple[str, str], str] = {
    ("snmp", "outlet"): "family",
    ("snmp", "family"): "outlet",
    ("snmp", "auth"): "user",
    ("snmp", "privacy"): "auth",
    ("snmp", "auth_protocol"): "auth",
    ("snmp", "privacy_protocol"): "privacy",
}
"""Arguments of meters that say nothing without another."""

EXCLUDE: Mapping[str, tuple[tuple[str, str], ...]] = {
    "redfish": (("ca_file", "fingerprint"), ("ca_file", "verify"), ("fingerprint", "verify")),
    "snmp": (("community", "user"), ("oid", "outlet")),
}
"""Arguments of meters that contradict each other."""

POWER = Special("a power meter such as `ipmi(...)` or `rapl`, a list of those, or a declared quantity such as `250 W`")
