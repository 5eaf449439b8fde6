"""A power meter that reads PDUs by SNMP, with net-snmp's `snmpget`. The login is in the job's configuration file, which
has mode 0600.

These objects hold the outlets' power, by the names in the vendors' MIBs:

    apc         PowerNet-MIB  rPDU2OutletMeteredStatusPower, watts; index: outlet
    raritan     PDU2-MIB      measurementsOutletSensorValue of activePower, with its outletSensorDecimalDigits;
                              index: PDU, outlet
    servertech  Sentry4-MIB   st4OutletActivePower, watts; index: unit, input cord, outlet
    sentry3     Sentry3-MIB   outletPower, watts; index: tower, infeed, outlet
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from benchbrief.extend.common import CommandWord, JobFile, Message, Node, RunnerError, Secret, speaker
from benchbrief.extend.meters import ANSWER_S, Meter, MeterPoint, MeterReader, PowerMeter, given, name_and_port
from benchbrief.extend.probes import Reading


class SnmpMessages(Protocol):
    def meter_control(self, *, option: object, origin: object) -> Message: ...
    def meter_too_short(self, *, option: object, origin: object) -> Message: ...
    def hint_take_another(self) -> Message: ...
    def hint_snmp_length(self) -> Message: ...


say: SnmpMessages = speaker(SnmpMessages)


@dataclass(frozen=True)
class Family:
    """The outlets of one vendor's PDUs. `oid` has a placeholder for an index that consists of `numbers` numbers.
    `digits` is the OID for the number of decimal digits in the value, or "" if the PDU has no such OID."""

    oid: str
    numbers: int
    digits: str = ""


FAMILIES: Mapping[str, Family] = {
    "apc": Family("1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.{}", 1),
    "raritan": Family("1.3.6.1.4.1.13742.6.5.4.3.1.4.{}.5", 2, "1.3.6.1.4.1.13742.6.3.5.4.1.7.{}.5"),
    "servertech": Family("1.3.6.1.4.1.1718.4.1.8.3.1.9.{}", 3),
    "sentry3": Family("1.3.6.1.4.1.1718.3.2.3.1.14.{}", 3),
}
_NUMBER = re.compile(r'"?(-?\d{1,18}(?:\.\d{1,9})?)"?')
_SCALE = re.compile(r"x ([0-9.e+-]{1,24})")
_TOOL = f"timeout {ANSWER_S} snmpget -m '' -Oqv -t 2 -r 1"


class Snmp(Meter):
    tool = ("snmpget", "snmp")
    hints = (
        (r"[Tt]imeout", "check its address, and who asks: a PDU does not answer a community that it does not know"),
        (r"No Such|noSuch", "it has nothing there: check the `oid:`, or `outlet:` and `family:`"),
        (
            r"[Uu]nknown user|[Aa]uthentication|decrypt|[Ww]rong",
            "check `user:`, `auth:` and `privacy:`, and their protocols",
        ),
    )

    def reader(self, points: tuple[MeterPoint, ...], node: Node) -> MeterReader:
        reads, files = [], []
        env: dict[str, CommandWord] = {"LC_ALL": "C", "MIBS": "", "MIBDIRS": "/nonexistent"}
        for number, point in enumerate(points):
            name, port = name_and_port(point.address, "161")
            files.append(JobFile(f"snmp-{number}/snmp.conf", _configuration(point.meter)))
            env[f"BENCH_METER_{number}"] = f"udp6:[{name}]:{port}" if ":" in name else f"udp:{name}:{port}"
            paths = f'SNMPCONFPATH="$PWD/snmp-{number}" SNMP_PERSISTENT_DIR="$PWD/snmp-{number}"'
            # With its scale, so that each reading is complete.
            ask = f'{paths} {_TOOL} "$BENCH_METER_{number}" {" ".join(_oids(point))} </dev/null'
            reads.append(f'echo "x {_scale(point.meter)!r}"; {ask}')
        return MeterReader("echo meter snmp", tuple(reads), env, tuple(files))

    def watts(self, reading: Reading) -> float | None:
        """Return the watts. If the number of decimal digits was read too, the decimal point is moved accordingly."""
        first, *lines = [line.strip() for line in reading.lines if line.strip()] or [""]
        scale = _SCALE.fullmatch(first)
        numbers = [match for line in lines if (match := _NUMBER.fullmatch(line))]
        if scale is None or not 1 <= len(numbers) <= 2 or len(numbers) < len(lines):
            return None
        value, *digits = (float(match[1]) for match in numbers)
        return value * float(scale[1]) / 10 ** (digits[0] if digits else 0)


def _scale(meter: PowerMeter) -> float:
    scale = meter.options.get("scale", 1.0)
    return scale if isinstance(scale, float) else 1.0


def _oids(point: MeterPoint) -> list[str]:
    """Return the OIDs to read: the value and, if the PDU has it, the number of decimal digits."""
    if not point.meter.options.get("outlet"):
        return [point.part]
    family = FAMILIES[given(point.meter, "family")]
    index = point.part.split(".")
    # The number of an outlet alone means the first PDU, unit or tower.
    index = ["1"] * (family.numbers - len(index)) + index
    return [oid.format(".".join(index)) for oid in (family.oid, family.digits) if oid]


def _configuration(meter: PowerMeter) -> tuple[CommandWord, ...]:
    """Return the lines of snmp.conf. Raises RunnerError if snmp.conf can't contain a value."""
    if "community" in meter.options:
        return ("defVersion 2c\ndefCommunity ", *_quoted(meter, "community"), "\n")
    level = "authPriv" if "privacy" in meter.options else "authNoPriv" if "auth" in meter.options else "noAuthNoPriv"
    lines: list[CommandWord] = [
        "defVersion 3\ndefSecurityName ",
        *_quoted(meter, "user"),
        f"\ndefSecurityLevel {level}\n",
    ]
    if "auth" in meter.options:
        kind = {"sha256": "SHA-256", "sha512": "SHA-512"}.get(given(meter, "auth_protocol"))
        lines += [f"defAuthType {kind or given(meter, 'auth_protocol').upper() or 'SHA'}\n"]
        lines += ["defAuthPassphrase ", *_quoted(meter, "auth"), "\n"]
    if "privacy" in meter.options:
        lines += [f"defPrivType {given(meter, 'privacy_protocol').upper() or 'AES'}\n"]
        lines += ["defPrivPassphrase ", *_quoted(meter, "privacy"), "\n"]
    return tuple(lines)


def _quoted(meter: PowerMeter, key: str) -> tuple[CommandWord, ...]:
    value = given(meter, key)
    if not value.isprintable():
        raise RunnerError(say.meter_control(option=key, origin=meter.origin), say.hint_take_another())
    if key in ("auth", "privacy") and len(value) < 8:
        raise RunnerError(say.meter_too_short(option=key, origin=meter.origin), say.hint_snmp_length())
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"', Secret(value, name=key, written=escaped), '"'
