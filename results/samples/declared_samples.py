"""Holds the samples of a probe or a load generator to what its spec declares."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path

from benchbrief.compiler.extensions.registry import PROBE_SPECS, TOOL_SPECS
from benchbrief.results.messages.result_messages import say
from benchbrief.runners.errors import BadOutput, RunnerError
from benchbrief.runners.measurement.measurement import Sample


def require_declared(probe: str, samples: Sequence[Sample]) -> None:
    """Check measures and units, which metrics and briefs take from the specs.

    Raises BadOutput for a measure that neither the probe's spec nor a probe of benchbrief declares, and for another
    unit than the declared one.
    """
    specs = [PROBE_SPECS.usable(probe), *PROBE_SPECS.own.values()]
    _check({name: measure.unit for spec in specs if spec for name, measure in spec.measures.items()}, samples)


def require_declared_by_tool(tool: str, samples: Sequence[Sample]) -> None:
    """Check the measures and units of a load generator's own numbers. Raises BadOutput as `require_declared` does."""
    spec = TOOL_SPECS.usable(tool)
    _check({name: measure.unit for name, measure in spec.measures.items()} if spec else {}, samples)


_MEASURE_AND_UNIT = itemgetter(0, 5)
"""Of a `Sample`. A cell has hundreds."""


def _check(declared: Mapping[str, str], samples: Sequence[Sample]) -> None:
    """Raise BadOutput for a measure or a unit other than the declared ones."""
    for measure, unit in dict.fromkeys(map(_MEASURE_AND_UNIT, samples)):
        if measure not in declared:
            raise BadOutput(say.measure_undeclared(measure=measure))
        if unit != declared[measure]:
            raise BadOutput(say.other_unit(measure=measure, unit=unit or "1", declared=declared[measure] or "1"))


@contextmanager
def broken_alone(probe: str) -> Iterator[None]:
    """Turn an unexpected error in another package's probe into a RunnerError that names the package and the place.

    So the probe loses its samples, and the run nothing else.
    """
    try:
        yield
    except RunnerError:
        raise
    except Exception as error:
        package = PROBE_SPECS.source(probe)
        if not package:
            raise
        last = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__}: {error}"
        raise RunnerError(
            say.probe_broke(package=package, place=f"{Path(last.filename).name}:{last.lineno}", said=said)
        ) from error
