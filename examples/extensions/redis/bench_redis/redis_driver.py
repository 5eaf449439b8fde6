"""The load generator redis-benchmark: its command, and the parser of its report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import ClassVar, Protocol
from urllib.parse import urlsplit

from benchbrief.extend.common import Command, Job, JobOutput, Message, Requirement, say, speaker
from benchbrief.extend.tools import (
    COUNT,
    CellContext,
    Interim,
    Measurement,
    Operation,
    PhaseThroughput,
    bad_output,
    best_line,
    counted_from,
    counted_job,
    counted_run,
    read_output_lines,
    require_consistent,
    require_exit,
    timeout_s,
)

_MIX = "return redis.call('set', KEYS[1], redis.call('get', KEYS[1]))"
_COMMANDS = {
    "get": ("GET", "key:__rand_int__"),
    "set": ("-t", "set"),
    "mix": ("EVAL", _MIX, "1", "key:__rand_int__"),
}
_LOAD = r"""awk -v from="$5" -v to="$6" -v bytes="$7" 'BEGIN {
  for (value = "x"; length(value) < bytes;) value = value value
  value = substr(value, 1, bytes)
  ORS = "\r\n"
  for (at = from; at < to; at++)
    print "*3\r\n$3\r\nSET\r\n$16\r\nkey:" sprintf("%012d", at) "\r\n$" bytes "\r\n" value
}' | "$1" -h "$2" -p "$3" -n "$4" --pipe
"""
_LOADED = re.compile(r"errors: (\d+), replies: (\d+)")
_WHOLE = r"(\d{1,12})"
NUMBER = r"(\d{1,12}(?:\.\d{1,6})?)"
_PATTERNS = {
    "title": re.compile(r"====== (.+) ======"),
    "completed": re.compile(rf"  {_WHOLE} requests completed in {NUMBER} seconds"),
    "clients": re.compile(rf"  {_WHOLE} parallel clients"),
    "threads": re.compile(rf"  threads: {_WHOLE}"),
    "rate": re.compile(rf"  throughput summary: {NUMBER} requests per second"),
    "latency": re.compile(rf"\s+{NUMBER}" + rf"\s+{NUMBER}" * 5),  # avg, min, p50, p95, p99, max in ms
}
_LIVE = re.compile(rf": rps={NUMBER} \(overall: \S+\) avg_msec=")


class RedisBenchmarkMessages(Protocol):
    def redis_batches(self, *, requests: object) -> Message: ...


say_benchmark: RedisBenchmarkMessages = speaker(
    RedisBenchmarkMessages,
    {
        "en": {"redis_batches": "of each request from when its {requests} were sent together until its own reply came"},
        "ja": {"redis_batches": "まとめて送信した {requests} 件の送信時から、各リクエストの応答まで"},
    },
)


class RedisBenchmark:
    name: ClassVar[str] = "redis_benchmark"

    def candidates(self, configured: str | None, tool_dirs: Sequence[str]) -> tuple[str, ...]:
        inside = tuple(f"{each}/redis-benchmark" for each in tool_dirs)
        return (configured,) if configured else (*inside, "redis-benchmark")

    def requirements(self, path: str) -> tuple[Requirement, ...]:
        return tuple(
            Requirement(PurePosixPath(each).name, Command((each, "--version")), "apt-get install redis-tools")
            for each in (path, _cli(path))
        )

    def load(self, context: CellContext) -> Job | None:
        part = context.loaded_range()
        given = (*_address(context), str(part.start), str(part.stop), _whole(context, "value"))
        command = Command(("sh", "-c", _LOAD, "sh", _cli(context.tool_path), *given))
        return Job("load", command, timeout_s(context.cell, "load"))

    def check_load(self, context: CellContext, output: JobOutput) -> int:
        require_exit(output, "redis-cli")
        found = [said for line in read_output_lines(output.stdout) if (said := _LOADED.fullmatch(line))]
        if len(found) != 1 or found[0][1] != "0" or int(found[0][2]) != len(context.loaded_range()):
            raise bad_output(output, say.load_unfinished(tool="redis-cli", said=best_line(output)))
        return int(found[0][2])

    def warm_up(self, context: CellContext) -> Job | None:
        return None

    def measure(self, context: CellContext) -> Job:
        """Return the measured job. Its number of requests is a multiple of the pipeline's length, since redis-benchmark
        may otherwise fail and report that all clients disconnected."""
        host, port, number = _address(context)
        threads, pipeline = _whole(context, "load_threads"), _whole(context, "pipeline")
        words = (
            *("sh", "-c", f'exec "$0" -n "$((({COUNT} + {pipeline} - 1) / {pipeline} * {pipeline}))" "$@"'),
            *(context.tool_path, "-h", host, "-p", port, "--dbnum", number, "--precision", "3"),
            *("-c", str(context.threads), "-r", _whole(context, "records")),
            *("-d", _whole(context, "value"), "-P", pipeline),
            *(() if threads == "1" else ("--threads", threads)),
            *_COMMANDS[context.workload.benchmark],
        )
        return counted_job(context, words, figures=tuple(each.pattern for each in _PATTERNS.values()))

    def measured_from(self, context: CellContext, text: str) -> float | None:
        return counted_from(text)

    def interim(self, context: CellContext, text: str) -> Interim | None:
        found = _LIVE.findall(text)
        return Interim(float(found[-1])) if found else None

    def parse(self, context: CellContext, output: JobOutput) -> Measurement:
        require_exit(output, self.name)
        run = counted_run(context, output, "redis-benchmark")
        found = _report(output)
        count, rate = int(found["completed"][0]), float(found["rate"][0])
        if not count or not rate:
            raise bad_output(output, say.no_operations(tool="redis-benchmark", said=best_line(output)))
        said_s, seconds = float(found["completed"][1]), count / rate
        pipeline, threads = int(_whole(context, "pipeline")), context.threads
        load_threads = _whole(context, "load_threads")
        own_threads = found.get("threads", ("1",))[0]
        title = " ".join(each for each in _COMMANDS[context.workload.benchmark] if each != "-t")
        problems = [
            said
            for wrong, said in (
                (found["title"][0].upper() != title.upper(), f"it did {found['title'][0]}, and was to do {title}"),
                (int(found["clients"][0]) != threads, f"it had {found['clients'][0]} clients, and the cell {threads}"),
                (own_threads != load_threads, f"its own threads are {own_threads}, and were to be {load_threads}"),
                (
                    not run.count <= count < run.count + pipeline * threads + 1,
                    f"it did {count} requests, and was to do {run.count}",
                ),
                (abs(said_s - seconds) > 0.011, f"it took {said_s} s, and {seconds:.3f} s by its rate"),
                (seconds > run.seconds + 0.05, f"it says {seconds:.3f} s, and ran for {run.seconds:.3f} s"),
            )
            if wrong
        ]
        told = [float(each) / 1000 for each in found["latency"]]
        require_consistent(output, self.name, [*problems, *contradictions(told)])
        mean, least, p50, p95, p99, most = told
        printed = ((50.0, p50), (95.0, p95), (99.0, p99))
        (operation,) = context.workload.operations
        latency = say.latency_service() if pipeline == 1 else say_benchmark.redis_batches(requests=pipeline)
        return Measurement(
            window=run.window,
            throughput=(PhaseThroughput(None, count, 0, seconds, rate),),
            operations=(Operation(operation, count, 0, mean, least, most, None, printed),),
            properties=(
                ("latency", latency),
                ("loop", say.loop_closed()),
                ("window", run.described),
                ("pipeline", str(pipeline)),
                ("load_threads", load_threads),
            ),
        )


def contradictions(told: Sequence[float]) -> Iterator[str]:
    """Yield contradictions between the printed mean, minimum, percentiles and maximum. From the minimum through the
    percentiles to the maximum, the values must rise."""
    mean, *rising = told
    if rising != sorted(rising):
        yield "its percentiles do not rise"
    if not rising[0] <= mean <= rising[-1]:
        yield "its mean is not between its least and its greatest latency"


def _report(output: JobOutput) -> dict[str, tuple[str, ...]]:
    """Return the numbers of the output's report. Raises BadOutput unless there is exactly one report."""
    found: dict[str, tuple[str, ...]] = {}
    for line in read_output_lines(output.stdout):
        for name, pattern in _PATTERNS.items():
            if said := pattern.fullmatch(line):
                if name in found:
                    raise bad_output(output, "redis-benchmark's output has two reports")
                found[name] = said.groups()
    if set(_PATTERNS) - {"threads"} - set(found):
        raise bad_output(output, "redis-benchmark printed no whole report")
    return found


def _address(context: CellContext) -> tuple[str, str, str]:
    """Return the host, the port and the database number."""
    uri = context.endpoint.uri
    at = urlsplit(uri.value if uri else "")
    return at.hostname or "", str(at.port or 6379), at.path.strip("/") or "0"


def _whole(context: CellContext, name: str) -> str:
    return str(int(float(context.workload.properties[name])))


def _cli(path: str) -> str:
    return str(PurePosixPath(path).with_name("redis-cli"))
