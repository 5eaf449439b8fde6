"""The description of the queue. The checker, editors and the reference read it without loading the queue's code."""

from benchbrief.extend.spec import Key, Number, SchedulerSpec

SPEC = SchedulerSpec(
    api=3,
    name="queue",
    doc="A queue on this machine: each lane is a process, and only so many go on at once.",
    implementation="bench_queue.queue_scheduler:QueueScheduler",
    label="the queue",
    attributes={
        "places": Key(
            Number("", "4", plain=True, integer=True, minimum=1), "How many lanes go on at once.", default="2"
        )
    },
)
