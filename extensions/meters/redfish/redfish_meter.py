"""Reads the power of chassis by Redfish until the process is ended.

Run as `python -m benchbrief.extensions.meters.redfish.redfish_meter`.

The environment variable BENCH_REDFISH holds JSON with `every_s`, `rounds` and `points` (each service's `address` and
options). BENCH_USER_0, BENCH_PASSWORD_0 and so on hold a login for each point. Each service keeps one connection, as a
BMC may take seconds to open one. The power value is at one of these places (DMTF DSP0268):

    /redfish/v1/Chassis/ID/EnvironmentMetrics    PowerWatts.Reading
    /redfish/v1/Chassis/ID/Power                 PowerControl[].PowerConsumedWatts, deprecated but common
    /redfish/v1/Chassis/ID/PowerSubsystem        the input power of its power supplies: InputPowerWatts.Reading

If the spec asks for a session, the sampler closes it when it ends, because BMCs allow few sessions and lock everyone
out when none is left.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import urllib3
from urllib3.exceptions import HTTPError, LocationParseError, MaxRetryError, SSLError

from benchbrief.extend.samplers import block, fail, head, number

_ANSWER_S = 10.0
_LARGEST = 4 << 20
"""The most bytes of an answer to read. Real services answer with a few kilobytes."""


class RedfishRefused(Exception):
    """Raised if the service did not answer as asked. The message is for people."""


class Service:
    """One BMC. We log in at the first request."""

    def __init__(self, settings: dict[str, Any], user: str, password: str) -> None:
        self.address = str(settings["address"])
        self._basic = settings.get("auth", "basic") == "basic"
        self._login = (user, password)
        self._session: tuple[str, str] | None = None
        parts = urlsplit(self.address)
        self._pools = self._pool(parts.scheme, parts.hostname or "", parts.port, settings)

    @staticmethod
    def _pool(scheme: str, host: str, port: int | None, settings: dict[str, Any]) -> list[urllib3.HTTPConnectionPool]:
        """Return the connection pools: one for each fingerprint, since a pool accepts only one fingerprint, or a single
        pool if there are no fingerprints."""
        common: dict[str, Any] = {"timeout": _ANSWER_S, "retries": False, "maxsize": 1}
        if scheme == "http":
            return [urllib3.HTTPConnectionPool(host, port, **common)]
        if settings.get("fingerprints"):
            return [
                urllib3.HTTPSConnectionPool(host, port, cert_reqs="CERT_NONE", assert_fingerprint=each, **common)
                for each in settings["fingerprints"]
            ]
        if settings.get("verify") is False:
            urllib3.disable_warnings()
            return [urllib3.HTTPSConnectionPool(host, port, cert_reqs="CERT_NONE", assert_hostname=False, **common)]
        return [urllib3.HTTPSConnectionPool(host, port, ca_certs=settings.get("ca_file"), **common)]

    def get(self, path: str) -> dict[str, Any]:
        """Return a resource, after logging in if necessary. Raises RedfishRefused."""
        if not self._basic and self._session is None:
            self._begin()
        answer = self._ask("GET", path, self._headers())
        if answer.status == 401 and self._session is not None:  # the session was idle, or the BMC ended it
            self._session = None
            self._begin()
            answer = self._ask("GET", path, self._headers())
        return self._content(answer, path)

    def end(self) -> None:
        if self._session is not None:
            headers, (_, place), self._session = self._headers(), self._session, None
            try:
                self._ask("DELETE", place, headers)
            except RedfishRefused as error:
                fail(f"the session could not be ended: {error}")

    def _begin(self) -> None:
        root = self._content(self._ask("GET", "/redfish/v1/", {}), "/redfish/v1/")
        place = _link(_dict(root.get("Links")), "Sessions") or "/redfish/v1/SessionService/Sessions"
        user, password = self._login
        body = json.dumps({"UserName": user, "Password": password}).encode()
        answer = self._ask("POST", place, {"Content-Type": "application/json"}, body)
        content = self._content(answer, place)
        token = answer.headers.get("X-Auth-Token")
        if not token:
            raise RedfishRefused(f"{self.address} began no session (HTTP {answer.status}): say `auth: basic`")
        made = urlsplit(answer.headers.get("Location") or str(content.get("@odata.id", ""))).path
        self._session = (token, made)

    def _headers(self) -> dict[str, str]:
        if self._session is not None:
            return {"X-Auth-Token": self._session[0]}
        user, password = self._login
        # urllib3's own helper takes Latin-1 only.
        login = base64.b64encode(f"{user}:{password}".encode()).decode()
        return {"Authorization": f"Basic {login}"} if self._basic else {}

    def _ask(self, method: str, path: str, headers: dict[str, str], body: bytes | None = None) -> Any:
        said: Exception | None = None
        for pool in list(self._pools):
            try:
                answer = pool.urlopen(
                    method, path, body, {"Accept": "application/json", **headers}, preload_content=False, redirect=False
                )
                try:
                    answer.content = answer.read(_LARGEST, decode_content=True)  # type: ignore[attr-defined]
                    answer.drain_conn()
                finally:
                    answer.release_conn()
            except (HTTPError, LocationParseError, OSError) as error:
                said = error
                continue
            self._pools = [pool]
            return answer
        raise RedfishRefused(f"{self.address}: {_why(said)}")

    def _content(self, answer: Any, path: str) -> dict[str, Any]:
        if answer.status in (401, 403):
            raise RedfishRefused(f"{self.address} refuses the user or the password (HTTP {answer.status} at {path})")
        if answer.status not in (200, 201):
            raise RedfishRefused(f"{self.address} answers HTTP {answer.status} at {path}{_reason_in(answer.content)}")
        try:
            content = json.loads(answer.content)
        except ValueError:
            raise RedfishRefused(f"{self.address}{path} is no JSON: is it a Redfish service?") from None
        if not isinstance(content, dict):
            raise RedfishRefused(f"{self.address}{path} is no Redfish resource")
        return content


def _why(error: Exception | None) -> str:
    reason = error.reason if isinstance(error, MaxRetryError) and error.reason else error
    text = str(reason)
    if isinstance(reason, SSLError):
        if "ingerprint" in text:
            return f"its certificate has another fingerprint than `fingerprint:` says ({text})"
        if "CERTIFICATE_VERIFY_FAILED" in text:
            return f"its certificate is not trusted ({text}): name its `fingerprint:`, or a `ca_file:`"
    return text


def _reason_in(content: bytes) -> str:
    """Return the service's own error message from an answer in the form of DSP0266, or "" if the answer has no
    message."""
    try:
        error = _dict(_dict(json.loads(content)).get("error"))
    except ValueError:
        return ""
    more = [str(_dict(each).get("Message", "")) for each in _list(error.get("@Message.ExtendedInfo"))]
    text = next((each for each in more if each), str(error.get("message", "")))
    return f": {text[:200]}" if text else ""


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _link(resource: dict[str, Any], name: str) -> str:
    return str(_dict(resource.get(name)).get("@odata.id", ""))


# --- where the power of a chassis stands ---------------------------------------------------------------------------

Read = Callable[[], float | None]
"""A function that reads the current watts, or returns None if the service has no number. Raises RedfishRefused."""


def find(service: Service, chassis: str, control: str) -> tuple[str, Read]:
    """Return a phrase that describes the place of the power value, and a function that reads it. Raises
    RedfishRefused."""
    resource = service.get(_chassis(service, chassis))
    metrics, power, subsystem = (_link(resource, name) for name in ("EnvironmentMetrics", "Power", "PowerSubsystem"))
    if metrics and not control and _sensor(service.get(metrics).get("PowerWatts")) is not None:
        return f"{metrics} PowerWatts", lambda: _sensor(service.get(metrics).get("PowerWatts"))
    if power and (controls := [_dict(each) for each in _list(service.get(power).get("PowerControl"))]):
        index = _control(controls, control, power)
        return f"{power} PowerControl[{index}]", lambda: _consumed(service.get(power), index)
    if control:
        raise RedfishRefused(f"{service.address}: the chassis has no power control named `{control}`: it has none")
    supplies = _supplies(service, subsystem) if subsystem else []
    if supplies:
        return f"{subsystem} of {len(supplies)} supplies", lambda: _input(service, supplies)
    raise RedfishRefused(f"{service.address} says nothing of the power of {resource.get('@odata.id', 'its chassis')}")


def _chassis(service: Service, wanted: str) -> str:
    members = [_dict(each).get("@odata.id", "") for each in _list(service.get("/redfish/v1/Chassis").get("Members"))]
    names = {str(place).rstrip("/").rpartition("/")[2]: str(place) for place in members if place}
    if wanted in names:
        return names[wanted]
    known = ", ".join(f"`{name}`" for name in names) or "none"
    if wanted:
        raise RedfishRefused(f"{service.address} has no chassis `{wanted}`: it has {known}")
    if len(names) != 1:
        raise RedfishRefused(f"{service.address} has {len(names)} chassis, say which by `chassis:`: {known}")
    return next(iter(names.values()))


def _control(controls: Sequence[dict[str, Any]], wanted: str, power: str) -> int:
    names = [str(each.get("Name") or each.get("MemberId", "")) for each in controls]
    if wanted in names:
        return names.index(wanted)
    known = ", ".join(f"`{name}`" for name in names)
    if wanted:
        raise RedfishRefused(f"{power} has no power control named `{wanted}`: it has {known}")
    if len(names) > 1:
        raise RedfishRefused(f"{power} has {len(names)} power controls, say which by `control:`: {known}")
    return 0


def _consumed(power: dict[str, Any], index: int) -> float | None:
    controls = _list(power.get("PowerControl"))
    return number(_dict(controls[index]).get("PowerConsumedWatts")) if index < len(controls) else None


def _supplies(service: Service, subsystem: str) -> list[str]:
    """Return the path of each power supply's metrics, or no paths if any of the supplies lacks metrics."""
    place = _link(service.get(subsystem), "PowerSupplies")
    members = _list(service.get(place).get("Members")) if place else []
    metrics = [_link(service.get(str(_dict(each).get("@odata.id", ""))), "Metrics") for each in members]
    return metrics if all(metrics) else []


def _input(service: Service, supplies: Sequence[str]) -> float | None:
    watts = [_sensor(service.get(each).get("InputPowerWatts")) for each in supplies]
    known = [each for each in watts if each is not None]
    return sum(known) if known and len(known) == len(watts) else None


def _sensor(excerpt: object) -> float | None:
    return number(_dict(excerpt).get("Reading"))


# --- the loop ----------------------------------------------------------------------------------------------------


class _Point:
    """A chassis to read. Each reading searches for the power value until one reading finds it; later readings use the
    same place."""

    def __init__(self, service: Service, chassis: str, control: str) -> None:
        self._service, self._chassis, self._control = service, chassis, control
        self.place = ""
        self._read: Read | None = None

    def watts(self) -> float | None:
        try:
            if self._read is None:
                self.place, self._read = find(self._service, self._chassis, self._control)
            found = self._read()
        except RedfishRefused as error:
            fail(str(error))
            return None
        if found is None:
            fail(f"{self._service.address}{self.place} has no number of watts")
        return found


class _Ended(Exception):
    pass


def _ended(_number: int, _frame: object) -> None:
    raise _Ended


def main() -> int:
    settings = json.loads(os.environ["BENCH_REDFISH"])
    points = []
    services: dict[str, Service] = {}
    for number_of, each in enumerate(settings["points"]):
        login = os.environ.pop(f"BENCH_USER_{number_of}"), os.environ.pop(f"BENCH_PASSWORD_{number_of}")
        service = services.setdefault(each["address"], Service(each, *login))
        points.append(_Point(service, each.get("chassis", ""), each.get("control", "")))
    signal.signal(signal.SIGTERM, _ended)
    head("meter redfish")
    here, rounds, due = Path.cwd(), int(settings["rounds"]), time.monotonic()
    try:
        with ThreadPoolExecutor(len(points)) as pool:
            while rounds and here.is_dir():
                rounds -= 1
                at, up = time.time(), time.clock_gettime(time.CLOCK_BOOTTIME)
                # Services are asked in parallel, and two points of one service in turn.
                together = len(services) == len(points)
                block(at, (pool.map if together else map)(_Point.watts, points), up)
                # At multiples of the interval, so that readings do not drift. Missed readings are not made up.
                due = max(due + settings["every_s"], time.monotonic())
                if rounds:
                    time.sleep(max(0.0, due - time.monotonic()))
    except _Ended:
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for service in services.values():
            service.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
