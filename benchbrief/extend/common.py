"""What all extensions that run something need: the plan, commands and jobs, secrets, sentences and errors."""

from typing import Protocol

from benchbrief.model.measurement import Sample
from benchbrief.model.message import Message, OwnWords, figure, share_figure, speaker
from benchbrief.model.plan import Cell, Database, Dataset, Hardware, Host, Plan, Probe, StepKind, Workload
from benchbrief.model.run_messages import say as _say
from benchbrief.runners.driver_contexts import Endpoint
from benchbrief.runners.errors import (
    BadOutput,
    HostError,
    Interrupted,
    LoadShort,
    RunnerError,
    ServerFailed,
    ToolMissing,
)
from benchbrief.runners.jobs.commands import printable, quote, read_script, with_values
from benchbrief.runners.jobs.connection_retry import run_persistently
from benchbrief.runners.jobs.tasks import Command, Completed, Job, JobFile, JobOutput, Word
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.journal.secret_masking import Secret
from benchbrief.runners.seams import GoesOn, Hosts, Node, Requirement, Stopping, Transport


class CommonSentences(Protocol):
    """Sentences that extensions share. Their words are in benchbrief's catalogue of each language."""

    def latency_service(self) -> Message: ...
    def latency_both(self) -> Message: ...
    def latency_unknown(self) -> Message: ...
    def loop_closed(self) -> Message: ...
    def loop_open(self) -> Message: ...
    def no_operations(self, *, tool: object, said: object) -> Message: ...
    def load_unfinished(self, *, tool: object, said: object) -> Message: ...
    def ended_early(self, *, tool: object, seconds: object, wanted: object, said: object) -> Message: ...
    def remedy_warm_up(self) -> Message: ...
    def not_started(self, *, database: object) -> Message: ...
    def hint_start(self) -> Message: ...
    def server_restarted(self, *, database: object, seconds: object) -> Message: ...
    def server_anew(self, *, database: object) -> Message: ...
    def hint_server_log(self) -> Message: ...
    def restored_by_command(self) -> Message: ...


say: CommonSentences = _say

__all__ = [
    "BadOutput",
    "Cell",
    "Command",
    "CommonSentences",
    "Completed",
    "Database",
    "Dataset",
    "Endpoint",
    "GoesOn",
    "Hardware",
    "Host",
    "HostError",
    "Hosts",
    "Interrupted",
    "Job",
    "JobFile",
    "JobOutput",
    "LoadShort",
    "Message",
    "Node",
    "OwnWords",
    "Plan",
    "Probe",
    "Requirement",
    "RunnerError",
    "Sample",
    "Secret",
    "ServerFailed",
    "StepKind",
    "Stopping",
    "ToolMissing",
    "Transport",
    "Word",
    "Workload",
    "figure",
    "now",
    "printable",
    "quote",
    "read_script",
    "run_persistently",
    "say",
    "share_figure",
    "speaker",
    "with_values",
]
