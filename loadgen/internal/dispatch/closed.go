package dispatch

import (
	"sync"
	"sync/atomic"

	"benchbrief/loadgen/internal/clock"
)

// Closed is a closed loop: a worker's operation is due when its last one has ended.
type Closed struct {
	plan    Plan
	clock   clock.Clock
	stopped atomic.Bool
	end     atomic.Int64
	index   atomic.Uint64
	mutex   sync.Mutex
	workers map[*Worker]struct{}
}

// NewClosed takes WarmUp, End, Operations and Kind from the plan.
func NewClosed(plan Plan, c clock.Clock) *Closed {
	loop := &Closed{plan: plan, clock: c, workers: map[*Worker]struct{}{}}
	loop.end.Store(plan.End)
	return loop
}

// Join makes a worker known, before its first Next.
func (c *Closed) Join(worker *Worker) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.workers[worker] = struct{}{}
}

// Next implements Source.
func (c *Closed) Next(worker *Worker) (Ticket, bool) {
	now := c.clock.Now()
	if end := c.end.Load(); c.stopped.Load() || (end > 0 && now >= end) {
		return Ticket{}, false
	}
	index := c.index.Add(1) - 1
	if c.plan.Operations > 0 && int64(index) >= c.plan.Operations {
		return Ticket{}, false
	}
	phase := Window
	if now < c.plan.WarmUp {
		phase = WarmUp
	}
	// Each worker counts by itself: a shared count would be what they wait for.
	atomic.AddInt64(&worker.counts[phase][c.plan.Kind(index)], 1)
	return Ticket{Index: index, Due: now, Start: now, Phase: phase}, true
}

// Stop implements Source.
func (c *Closed) Stop() { c.stopped.Store(true) }

// EndSoon implements Source.
func (c *Closed) EndSoon() int64 {
	end := c.plan.soon(c.clock.Now())
	c.end.Store(end)
	return end
}

// Tally implements Source.
func (c *Closed) Tally() Tally {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	var tally Tally
	for worker := range c.workers {
		for phase := range worker.counts {
			for kind := range worker.counts[phase] {
				n := atomic.LoadInt64(&worker.counts[phase][kind])
				tally.Counts[phase][kind].Offered += n
				tally.Counts[phase][kind].Started += n
			}
		}
	}
	return tally
}
