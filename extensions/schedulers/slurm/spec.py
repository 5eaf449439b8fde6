"""The description of Slurm (https://slurm.schedmd.com/) for specs: the settings for `sbatch`."""

from benchbrief.extend.spec import Key, Number, SchedulerSpec, Text

_PARTITION = Key(Text(), "The partition whose nodes are asked for.", example='partition = "bench"')

SPEC = SchedulerSpec(
    api=3,
    name="slurm",
    doc="Slurm: each lane is a batch job with nodes of its own.",
    implementation="benchbrief.extensions.schedulers.slurm.slurm_scheduler:SlurmScheduler",
    label="Slurm",
    attributes={
        "partition": _PARTITION,
        "time": Key(
            Number("s", "4 h", minimum=60.0),
            "The time limit of each job. A lane that is not whole by then goes on in another job.",
            default="the partition's",
        ),
        "constraint": Key(
            Text(), "Features that all nodes of a job must have.", example='constraint = "rack1&infiniband"'
        ),
        "account": Key(Text(), "The account that is charged.", example='account = "storage-lab"'),
        "qos": Key(Text(), "The quality of service.", example='qos = "high"'),
        "reservation": Key(Text(), "A reservation to take nodes from.", example='reservation = "friday"'),
    },
    usage='`slurm("nvme", 4)`',
    asks_for="a feature of nodes, or several as in `nvme&dual`",
    asks_form=r"[\w.-]+(?:&[\w.-]+)*",
    arguments={"partition": _PARTITION},
)
