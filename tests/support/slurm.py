"""Starts a real Slurm for tests, on the loopback interface and with its own configuration: slurmctld, and a slurmd for
each node.

with slurm(["db-1", "db-2"]) as cluster:
    bench.env.update(cluster.env)

This needs neither root nor munge, and uses nothing of a Slurm that the machine may have. Nodes are processes: a job on
each of them runs as the user.
"""

from __future__ import annotations

import getpass
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.sshd import free_port
from tests.support.tools import system_tool
from tests.support.waiting import until

_CONFIG = """\
ClusterName=bench
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
AuthInfo=cred_expire=5
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/linear
SchedulerType=sched/backfill
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
ReturnToService=2
SlurmctldTimeout=5
SlurmdTimeout=5
KillWait=20
MessageTimeout=5
"""


@dataclass
class Slurm:
    """A running cluster. `nodes` maps each node's name to its features."""

    folder: Path
    nodes: Mapping[str, str]
    _processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def env(self) -> dict[str, str]:
        return {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def asked(self, *words: str) -> str:
        """Return the output of a Slurm command."""
        done = subprocess.run(
            [system_tool(words[0]), *words[1:]],
            env={"PATH": "/usr/bin:/bin", **self.env},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def jobs(self) -> dict[str, str]:
        """Return the states of the jobs that wait, run or recently ended, by the jobs' ids."""
        said = self.asked("squeue", "--noheader", "--states=all", "--format=%i %T")
        return dict(line.split(" ", 1) for line in said.splitlines())

    def live(self) -> list[str]:
        """Return the jobs that wait or run."""
        return self.asked("squeue", "--noheader", "--format=%i").split()

    def submit(self, node: str, command: str, log: Path, env: Mapping[str, str], partition: str = "bench") -> str:
        """Make a node run a command as a job, and return the job's id."""
        words = [
            "sbatch",
            "--parsable",
            f"--nodelist={node}",
            f"--partition={partition}",
            f"--output={log}",
            f"--wrap={command}",
        ]
        done = subprocess.run(words, env=dict(env), capture_output=True, text=True, timeout=60, check=True)
        return done.stdout.strip()

    def kill(self, name: str) -> None:
        """End `slurmctld`, or a node's slurmd, with SIGKILL. The processes that it has started continue."""
        self._processes[name].kill()
        self._processes[name].wait(60)

    def start(self, name: str) -> None:
        """Start `slurmctld`, or a node's slurmd, again."""
        daemon = ["slurmctld"] if name == "slurmctld" else ["slurmd", "-N", name]
        with (self.folder / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                [system_tool(daemon[0]), "-D", *daemon[1:], "-f", str(self.folder / "slurm.conf")],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", **self.env},
            )

    def until_idle(self) -> None:
        """Remove the jobs that a failed test has left, and wait until each node can take a job."""
        with suppress(AssertionError):
            self.asked("scancel", f"--user={getpass.getuser()}")
        self.undrain()
        until(lambda: set(self._states()) == {"idle"} and len(self._states()) >= len(self.nodes), 60)

    def undrain(self) -> None:
        """Return nodes to service, as an operator would, if Slurm has drained them (as after "batch job complete
        failure")."""
        with suppress(AssertionError):
            for line in self.asked("sinfo", "--noheader", "--Node", "--partition=bench", "--format=%N %T").splitlines():
                name, state = line.split()
                if state.startswith("drained"):
                    self.asked("scontrol", "update", f"NodeName={name}", "State=RESUME")

    def answers(self) -> bool:
        """Return whether slurmctld answers and knows each node."""
        return len(self._states()) >= len(self.nodes)

    def _states(self) -> list[str]:
        with suppress(AssertionError):
            return self.asked("sinfo", "--noheader", "--Node", "--format=%t").split()
        return []

    def stop(self) -> None:
        with suppress(AssertionError):
            self.asked("scancel", f"--user={getpass.getuser()}")
            deadline = time.monotonic() + 30
            while self.live() and time.monotonic() < deadline:
                time.sleep(0.1)
        for process in self._processes.values():
            process.send_signal(signal.SIGTERM)
        for process in self._processes.values():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(20)


@contextmanager
def slurm(nodes: Sequence[str] | Mapping[str, str]) -> Iterator[Slurm]:
    """Run a cluster of these nodes. It has three partitions with all nodes: `bench`, `urgent`, whose jobs take nodes
    away from the others, and `short`, with a limit of 3 min."""
    for program in ("slurmctld", "slurmd", "sbatch"):
        system_tool(program)
    named = dict(nodes) if isinstance(nodes, Mapping) else dict.fromkeys(nodes, "")
    folder = Path(tempfile.mkdtemp(prefix="benchbrief-slurm-"))
    cluster = Slurm(folder, named)
    try:
        (folder / "state").mkdir()
        text = _CONFIG.format(port=free_port(), user=getpass.getuser(), folder=folder)
        for name, feature in named.items():
            (folder / f"spool-{name}").mkdir()
            more = f" Feature={feature}" if feature else ""
            text += f"NodeName={name} NodeHostname=localhost NodeAddr=127.0.0.1 Port={free_port()} CPUs=1{more}\n"
        common = "Nodes=ALL State=UP OverSubscribe=EXCLUSIVE"
        text += f"PartitionName=bench Default=YES MaxTime=INFINITE PriorityTier=1 {common}\n"
        text += f"PartitionName=urgent MaxTime=INFINITE PriorityTier=10 PreemptMode=OFF {common}\n"
        text += f"PartitionName=short MaxTime=3 PriorityTier=1 {common}\n"
        (folder / "slurm.conf").write_text(text)
        for name in ("slurmctld", *named):
            cluster.start(name)
        cluster.until_idle()
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)
