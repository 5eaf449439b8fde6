"""What a program of a meter needs that the controller starts by `sampler_job`: it prints readings as probes do.

It imports nothing else of benchbrief, as each measurement starts such a program anew."""

from benchbrief.runners.meters.sample_blocks import block, fail, head, number
from benchbrief.runners.text_encoding import text_encoding

__all__ = ["block", "fail", "head", "number", "text_encoding"]
