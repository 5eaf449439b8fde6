package record

import (
	"sync"
	"sync/atomic"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"benchbrief/loadgen/internal/dispatch"
	"benchbrief/loadgen/internal/workload"
)

// Result is what became of an operation. Times are nanoseconds of the run's clock.
type Result struct {
	Kind     workload.Kind
	Phase    dispatch.Phase
	Due      int64
	Sent     int64
	Ended    int64
	Late     int64 // of it, what was the generator's own
	Failed   bool
	NotFound bool
}

const (
	intended = iota
	service
	own // the generator's part of the intended one; an open loop has it
	latencies
)

const (
	succeeded = iota
	failed
	outcomes
)

// cells are the histograms of a second; those without values stay nil.
type cells [dispatch.Phases][workload.Kinds][outcomes][latencies]*hdr.Histogram

// Ended counts operations by what became of them. NotFound are some of either, Absent those that failed by it.
type Ended struct{ Completed, Failed, NotFound, Absent int64 }

type counts struct {
	ended    [dispatch.Phases][workload.Kinds]Ended
	inWindow int64 // ended in the window and succeeded, whenever they were due
	clamped  int64
}

type shard struct {
	mutex  sync.Mutex
	now    *cells
	counts counts
	ended  []batch  // from the window's start
	_      [64]byte // workers of different shards don't share a cache line
}

// Recorder takes results from all workers.
type Recorder struct {
	open        bool // there is a schedule to be late to
	shards      []shard
	spare       []*cells // of each shard, empty
	windowFrom  int64
	windowUntil atomic.Int64
	batchLength int64
}

// batch is what ended in some seconds of the window and succeeded, whenever it was due.
type batch struct{ completed, intended int64 }

// NewRecorder has so many shards, which workers use in turn; until is 0 for a window without an end yet.
func NewRecorder(shards int, windowFrom, windowUntil int64, open bool) *Recorder {
	r := &Recorder{
		open: open, shards: make([]shard, shards), spare: make([]*cells, shards), windowFrom: windowFrom,
	}
	r.windowUntil.Store(windowUntil)
	for i := range r.shards {
		r.shards[i].now, r.spare[i] = &cells{}, &cells{}
	}
	return r
}

// CountBatches makes Batch count, in batches of so many nanoseconds. It is called before anything is recorded.
func (r *Recorder) CountBatches(length int64) { r.batchLength = length }

// Until changes the window's end to one that has not come yet.
func (r *Recorder) Until(windowUntil int64) { r.windowUntil.Store(windowUntil) }

// Batch is what ended in a batch of the window and succeeded, the first one being 0: how many, and the sum of their intended latencies.
func (r *Recorder) Batch(number int) (completed, intendedSum int64) {
	for i := range r.shards {
		s := &r.shards[i]
		s.mutex.Lock()
		if number < len(s.ended) {
			completed += s.ended[number].completed
			intendedSum += s.ended[number].intended
		}
		s.mutex.Unlock()
	}
	return completed, intendedSum
}

// Record is called by a worker for each operation that has ended.
func (r *Recorder) Record(worker int, result Result) {
	s := &r.shards[worker%len(r.shards)]
	outcome := succeeded
	if result.Failed {
		outcome = failed
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	pair := &s.now[result.Phase][result.Kind][outcome]
	if pair[intended] == nil {
		pair[intended], pair[service], pair[own] = newHistogram(), newHistogram(), newHistogram()
	}
	if r.open {
		add(pair[own], result.Late)
	}
	if add(pair[intended], result.Ended-result.Due) {
		s.counts.clamped++
	}
	if add(pair[service], result.Ended-result.Sent) {
		s.counts.clamped++
	}
	ended := &s.counts.ended[result.Phase][result.Kind]
	if result.NotFound {
		ended.NotFound++
	}
	if result.Failed {
		ended.Failed++
		if result.NotFound {
			ended.Absent++
		}
		return
	}
	ended.Completed++
	if until := r.windowUntil.Load(); result.Ended < r.windowFrom || (until > 0 && result.Ended >= until) {
		return
	}
	s.counts.inWindow++
	if r.batchLength > 0 {
		number := int((result.Ended - r.windowFrom) / r.batchLength)
		for number >= len(s.ended) {
			s.ended = append(s.ended, batch{})
		}
		s.ended[number].completed++
		s.ended[number].intended += result.Ended - result.Due
	}
}

// swap gives the histograms of each shard since the last call, and lets the workers go on with empty ones. The counts are from the
// beginning, as of the same moment.
func (r *Recorder) swap() ([]*cells, counts) {
	var sum counts
	full := make([]*cells, len(r.shards))
	for i := range r.shards {
		s := &r.shards[i]
		s.mutex.Lock()
		full[i], s.now = s.now, r.spare[i]
		sum.add(&s.counts)
		s.mutex.Unlock()
		r.spare[i] = full[i]
	}
	return full, sum
}

// Progress is how many have succeeded and failed so far, warm-up and window together.
func (r *Recorder) Progress() (completed, failed int64) {
	for i := range r.shards {
		s := &r.shards[i]
		s.mutex.Lock()
		for phase := range s.counts.ended {
			for _, ended := range s.counts.ended[phase] {
				completed += ended.Completed
				failed += ended.Failed
			}
		}
		s.mutex.Unlock()
	}
	return completed, failed
}

func (c *counts) add(other *counts) {
	for phase := range c.ended {
		for kind := range c.ended[phase] {
			to, from := &c.ended[phase][kind], &other.ended[phase][kind]
			to.Completed += from.Completed
			to.Failed += from.Failed
			to.NotFound += from.NotFound
			to.Absent += from.Absent
		}
	}
	c.inWindow += other.inWindow
	c.clamped += other.clamped
}
