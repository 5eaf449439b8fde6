// Package dispatch hands the operations of a schedule to workers when they are due.
//
// There is no thread that does nothing but hand over. One of the idle workers, the leader, sleeps until the next operation is due and
// then runs it itself; before that it wakes another idle worker, which leads from then on. Operations that are due while all
// workers are busy wait in a bounded queue, first come first served; one that finds the queue full is dropped. Arrivals are moved
// to the queue before anything is taken from it, so what is dropped is what would have been dropped had each arrival been handled
// at its own time.
package dispatch

import (
	"sync"
	"sync/atomic"
	"time"

	"benchbrief/loadgen/internal/arrivals"
	"benchbrief/loadgen/internal/clock"
	"benchbrief/loadgen/internal/stalls"
	"benchbrief/loadgen/internal/workload"
)

// Phase is the part of a run that an operation belongs to, by when it was due.
type Phase int

// The phases.
const (
	WarmUp Phase = iota
	Window
	Phases
)

// Ticket is an operation to be run now.
type Ticket struct {
	Index uint64 // its place in the schedule
	Due   int64  // nanoseconds of the run's clock
	Start int64  // when a worker took it
	Late  int64  // nanoseconds of the wait until then that were the generator's own
	Phase Phase
}

// Counts are of one phase and kind.
type Counts struct{ Offered, Dropped, Started int64 }

// Tally is what was counted so far.
type Tally struct {
	Counts  [Phases][workload.Kinds]Counts
	Queued  [Phases][workload.Kinds]int64 // waiting now
	Longest int64                         // the longest that the queue was
}

// Source gives workers their operations.
type Source interface {
	// Next waits for an operation; ok is false when there are no more.
	Next(worker *Worker) (ticket Ticket, ok bool)
	// Stop ends the schedule now: what waits in the queue is abandoned.
	Stop()
	// EndSoon ends the schedule at the next whole second of its window, which it gives, and not after the plan's end. What is due
	// before is offered.
	EndSoon() int64
	// Tally may be called at any time.
	Tally() Tally
}

// Worker is one that runs operations. Make it with NewWorker; it serves one goroutine.
type Worker struct {
	wake   chan struct{}
	start  int64                         // of its last operation
	target int64                         // nanoseconds of that one that the target took
	own    float64                       // the share of the time since then that was the generator's
	counts [Phases][workload.Kinds]int64 // of a closed loop, atomic
}

// NewWorker gives a worker.
func NewWorker() *Worker { return &Worker{wake: make(chan struct{}, 1)} }

// Spent says how long the target took for the worker's operation, before its next one is asked for.
func (w *Worker) Spent(nanoseconds int64) { w.target = nanoseconds }

// Plan is what is offered, and until when. Times are nanoseconds.
type Plan struct {
	Arrivals   arrivals.Process
	Kind       func(index uint64) workload.Kind
	WarmUp     int64         // operations due before it are of the warm-up
	End        int64         // none is due at or after it; 0 for no end
	Operations int64         // none beyond it; 0 for no end
	Queue      int           // operations that wait, at most
	Workers    int           // that will call Next
	Stalls     *stalls.Watch // nil where nobody looks for stalls
}

type waiting struct {
	due   int64
	index uint64
	kind  workload.Kind
}

// Open is an open loop.
type Open struct {
	plan    Plan
	clock   clock.Clock
	stopped atomic.Bool
	over    atomic.Bool // nothing is due any longer, though an operation was drawn

	mutex     sync.Mutex
	queue     []waiting // a ring
	head      int
	length    int
	next      waiting // the arrival that is not due yet
	more      bool    // there is one
	led       bool    // a worker sleeps until the next arrival, or is about to
	followers []*Worker
	idle      int   // workers in Next without an operation: the leader and the followers
	idleSince int64 // since when there is such a one
	lost      int64 // in stalls, as far as owed has it
	owed      int64 // how long the generator itself kept what waits from being started, since nothing waited
	owedUntil int64 // what is before is in owed already
	tally     Tally
}

// NewOpen starts the schedule at the clock's time 0.
func NewOpen(plan Plan, c clock.Clock) *Open {
	o := &Open{plan: plan, clock: c, queue: make([]waiting, plan.Queue+plan.Workers), more: true}
	o.next.index = ^uint64(0)
	o.advance()
	return o
}

// advance draws the arrival after this one.
func (o *Open) advance() {
	o.next.index++
	due, more := o.plan.Arrivals.Next()
	if !more || (o.plan.End > 0 && due >= o.plan.End) || (o.plan.Operations > 0 && int64(o.next.index) >= o.plan.Operations) {
		o.more = false
		return
	}
	o.next.due = due
	o.next.kind = o.plan.Kind(o.next.index)
}

// arrive moves what is due to the queue. What the idle workers are about to take does not count as waiting.
func (o *Open) arrive(now int64) {
	if o.stopped.Load() {
		return
	}
	room := o.plan.Queue + o.idle
	for o.more && o.next.due <= now {
		phase := o.phase(o.next.due)
		o.tally.Counts[phase][o.next.kind].Offered++
		if o.length < room {
			at := o.head + o.length
			if at >= len(o.queue) {
				at -= len(o.queue)
			}
			o.queue[at] = o.next
			o.length++
			o.tally.Queued[phase][o.next.kind]++
		} else {
			o.tally.Counts[phase][o.next.kind].Dropped++
		}
		o.advance()
	}
	if int64(o.length) > o.tally.Longest {
		o.tally.Longest = int64(o.length)
	}
}

func (o *Open) phase(due int64) Phase {
	if due < o.plan.WarmUp {
		return WarmUp
	}
	return Window
}

// Next implements Source.
func (o *Open) Next(worker *Worker) (Ticket, bool) {
	o.mutex.Lock()
	now := o.now()
	o.arrive(now) // these found this worker busy
	worker.own = 0
	if cycle := now - worker.start; worker.start > 0 && cycle > 0 {
		worker.own = float64(cycle-worker.target) / float64(cycle)
	}
	o.idle++
	if o.idle == 1 {
		o.idleSince = now
	}
	leads := false
	for {
		o.arrive(now)
		if o.stopped.Load() || (o.length == 0 && !o.more) {
			o.idle--
			o.wakeAll()
			o.mutex.Unlock()
			return Ticket{}, false
		}
		if o.length > 0 {
			return o.take(worker, now, leads), true // unlocks
		}
		o.owed = 0
		if o.led && !leads {
			o.followers = append(o.followers, worker)
			o.mutex.Unlock()
			<-worker.wake
			leads = true
		} else {
			leads, o.led = true, true
			due := o.next.due
			o.mutex.Unlock()
			o.clock.Sleep(due, func() bool { return o.stopped.Load() || o.over.Load() })
		}
		o.mutex.Lock()
		now = o.now()
	}
}

// now is called with the mutex locked. In a stall of the generator nothing was started, and what is due then holds up what is due after.
func (o *Open) now() int64 {
	now := o.clock.Now()
	if o.plan.Stalls == nil {
		return now
	}
	o.plan.Stalls.Awake(now)
	if lost := o.plan.Stalls.Lost(); lost > o.lost {
		ended := o.plan.Stalls.Ended()
		o.owe(ended-(lost-o.lost), ended)
		o.lost = lost
	}
	return now
}

// owe says that from then until then the generator itself kept operations from being started.
func (o *Open) owe(from, until int64) {
	if from < o.owedUntil {
		from = o.owedUntil
	}
	if until > from {
		o.owed += until - from
		o.owedUntil = until
	}
}

// late is the generator's own part of an operation's wait until now: while a worker was free, or no thread ran, and the backlog of
// that, for as long as it lasts. One that is first come first served is never held up by more than the sum of these times. Of the rest,
// in which workers were busy, it is the share that they spent outside of the target.
func (o *Open) late(worker *Worker, due, now int64) int64 {
	ready := due
	if o.idleSince > ready {
		ready = o.idleSince
	}
	o.owe(ready, now)
	late := o.owed + int64(worker.own*float64(ready-due))
	if wait := now - due; late > wait {
		return wait
	}
	return late
}

// take is called with the mutex locked, which it unlocks.
func (o *Open) take(worker *Worker, now int64, leads bool) Ticket {
	first := o.queue[o.head]
	if o.head++; o.head == len(o.queue) {
		o.head = 0
	}
	o.length--
	ticket := Ticket{Index: first.index, Due: first.due, Start: now, Phase: o.phase(first.due)}
	o.tally.Queued[ticket.Phase][first.kind]--
	o.tally.Counts[ticket.Phase][first.kind].Started++
	ticket.Late = o.late(worker, first.due, now)
	worker.start, worker.target = now, 0
	o.idle--
	var follower *Worker
	if leads || !o.led {
		o.led = false
		if last := len(o.followers) - 1; last >= 0 {
			// The last one in: its connection and its memory are the warmest.
			follower, o.followers = o.followers[last], o.followers[:last]
			o.led = true
		}
	}
	o.mutex.Unlock()
	if follower != nil {
		follower.wake <- struct{}{}
	}
	return ticket
}

// wakeAll is called with the mutex locked.
func (o *Open) wakeAll() {
	for _, follower := range o.followers {
		follower.wake <- struct{}{}
	}
	o.followers = nil
}

// Stop implements Source.
func (o *Open) Stop() {
	o.mutex.Lock()
	o.arrive(o.clock.Now())
	o.stopped.Store(true)
	o.wakeAll()
	o.mutex.Unlock()
}

// EndSoon implements Source.
func (o *Open) EndSoon() int64 {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	now := o.clock.Now()
	o.arrive(now) // all that was due so far is before the end
	o.plan.End = o.plan.soon(now)
	if o.more && o.next.due >= o.plan.End {
		o.more = false
		o.over.Store(true)
		o.wakeAll()
	}
	return o.plan.End
}

// soon is the first whole second of the window after now, or the end where that comes first.
func (p Plan) soon(now int64) int64 {
	whole := int64(time.Second)
	if now > p.WarmUp {
		whole += (now - p.WarmUp) / int64(time.Second) * int64(time.Second)
	}
	if soon := p.WarmUp + whole; p.End == 0 || soon < p.End {
		return soon
	}
	return p.End
}

// Tally implements Source. While all workers are out it is what lets operations arrive.
func (o *Open) Tally() Tally {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.arrive(o.clock.Now())
	return o.tally
}

func (p Phase) String() string {
	if p == WarmUp {
		return "warm-up"
	}
	return "measure"
}
