"""Functions for a meter's sampling program, which the controller starts with `sampler_job`. The program prints readings
as probes do.

This module imports nothing else from benchbrief, because each measurement starts a new process with such a program.
"""

from benchbrief.runners.meters.sample_blocks import block, fail, head, number
from benchbrief.runners.text_encoding import text_encoding

__all__ = ["block", "fail", "head", "number", "text_encoding"]
