"""Code for all extensions that run something: the plan, commands and jobs, secrets, sentences and errors."""

from typing import Protocol

from benchbrief.dsl.diagnostics.plain_amounts import duration, plural
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.model.measurement import Sample
from benchbrief.model.message import Message, OwnWords, PrintedNumber, figure, joined, share_figure, speaker, word
from benchbrief.model.plan import (
    Cell,
    Database,
    Dataset,
    Event,
    Experiment,
    Hardware,
    Host,
    Plan,
    Probe,
    StepKind,
    Workload,
)
from benchbrief.model.plan import Option as OptionValue
from benchbrief.model.run_messages import say as _say
from benchbrief.runners.driver_contexts import Endpoint, loading_hosts
from benchbrief.runners.errors import (
    BadOutput,
    HostError,
    Interrupted,
    LoadShort,
    PlanRefused,
    RunnerError,
    ServerFailed,
    ToolMissing,
)
from benchbrief.runners.hosts.host_connections import is_on_controller
from benchbrief.runners.hosts.host_facts import size_text
from benchbrief.runners.jobs.commands import printable, quote, read_script, with_values
from benchbrief.runners.jobs.connection_retry import run_persistently
from benchbrief.runners.jobs.tasks import Command, Completed, Job, JobFile, JobOutput
from benchbrief.runners.jobs.tasks import Word as CommandWord
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.journal.secret_masking import Secret
from benchbrief.runners.seams import GoesOn, Hosts, Node, Requirement, Stopping, Transport


class CommonSentences(Protocol):
    """Sentences that all extensions share. benchbrief's catalogue for each language has their words."""

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
    def command_late(self, *, host: object, command: object, seconds: object) -> Message: ...
    def hint_by_hand(self) -> Message: ...
    def said_nothing(self) -> Message: ...
    def both(self, *, first: object, then: object) -> Message: ...
    def none(self) -> Message: ...
    def read_modify_write(self) -> Message: ...
    def hint_longer(self) -> Message: ...
    def hint_errors(self) -> Message: ...
    def no_phases(self, *, tool: object) -> Message: ...
    def needs_place(self, *, tool: object, place: object) -> Message: ...
    def hint_no_phases(self) -> Message: ...
    def hint_path_of(self) -> Message: ...
    def file_says(self, *, file: object, said: object) -> Message: ...
    def restored(self) -> Message: ...
    def exit_code(self, *, code: object) -> Message: ...
    def printed_nothing(self) -> Message: ...
    def hint_see(self, *, path: object) -> Message: ...
    def database_pathless(self, *, database: object) -> Message: ...
    def undone(self, *, deleted: object, n: object, sent: object) -> Message: ...
    def sent_by_hosts(self, *, hosts: object) -> Message: ...
    def changed_meanwhile(self, *, what: object) -> Message: ...
    def hint_changed_meanwhile(self) -> Message: ...
    def load_left_nothing(self, *, host: object, said: object) -> Message: ...
    def hint_load(self) -> Message: ...
    def directory_unusable(self, *, database: object, host: object, said: object) -> Message: ...
    def snapshot_untaken(self, *, path: object, host: object, said: object) -> Message: ...
    def hint_path(self, *, origin: object) -> Message: ...
    def hint_second_copy(self, *, reset: object) -> Message: ...
    def of_host(self, *, host: object, what: object) -> Message: ...
    def comma(self, *, first: object, then: object) -> Message: ...


say: CommonSentences = _say
"""Makes the sentences that all extensions share."""

__all__ = [
    "BadOutput",
    "Cell",
    "Command",
    "CommandWord",
    "CommonSentences",
    "Completed",
    "Database",
    "Dataset",
    "Endpoint",
    "Event",
    "Experiment",
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
    "OptionValue",
    "OwnWords",
    "Plan",
    "PlanRefused",
    "PrintedNumber",
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
    "Workload",
    "did_you_mean",
    "duration",
    "figure",
    "is_on_controller",
    "joined",
    "loading_hosts",
    "now",
    "plural",
    "printable",
    "quote",
    "read_script",
    "run_persistently",
    "say",
    "share_figure",
    "size_text",
    "speaker",
    "with_values",
    "word",
]
