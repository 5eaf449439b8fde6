// Package stalls knows when no thread of the process ran: it was stopped, it had used up its share of the processors, or its machine
// had none for it.
package stalls

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// Interval is how often one thread calls Awake, whatever the others do.
	Interval = time.Millisecond
	shortest = 2 * int64(Interval)  // a shorter time without a call is no stall
	fresh    = int64(Interval) / 10 // calls nearer to each other than this change nothing
	kept     = 16384                // stalls, of the last 32 s at least
)

type stall struct{ from, until int64 }

// Watch learns of stalls from the threads that run again after one. Times are nanoseconds of the run's clock.
type Watch struct {
	last  atomic.Int64 // call of Awake
	ended atomic.Int64 // the latest stall
	lost  atomic.Int64 // nanoseconds in all stalls

	mutex   sync.Mutex
	stalls  []stall // a ring
	longest int64
	count   int
}

// NewWatch starts at time 0.
func NewWatch() *Watch { return &Watch{} }

// Awake says that the calling thread runs now. The first one after a stall makes it known, before any other call returns.
func (w *Watch) Awake(now int64) {
	last := w.last.Load()
	if now-last < fresh {
		return
	}
	if now-last < shortest {
		w.last.CompareAndSwap(last, now)
		return
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if last = w.last.Load(); now-last < shortest {
		return // another thread has made it known
	}
	// It was awake at the last call, and would have called again after the interval.
	s := stall{last + int64(Interval), now}
	if len(w.stalls) < kept {
		w.stalls = append(w.stalls, s)
	} else {
		w.stalls[w.count%kept] = s
	}
	w.count++
	if length := s.until - s.from; length > w.longest {
		w.longest = length
	}
	w.lost.Add(s.until - s.from)
	w.ended.Store(now)
	w.last.Store(now)
}

// Lost is the time of all stalls so far.
func (w *Watch) Lost() int64 { return w.lost.Load() }

// Ended is when the latest stall was over.
func (w *Watch) Ended() int64 { return w.ended.Load() }

// Within is the part of a time that was lost in stalls.
func (w *Watch) Within(from, until int64) (lost int64) {
	if w.ended.Load() <= from {
		return 0
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for i := w.count - 1; i >= 0 && i >= w.count-kept; i-- {
		s := w.stalls[i%kept]
		if s.until <= from {
			break
		}
		if s.from < from {
			s.from = from
		}
		if s.until > until {
			s.until = until
		}
		if s.until > s.from {
			lost += s.until - s.from
		}
	}
	return lost
}

// Longest is the length of the longest stall of which Forget was not told.
func (w *Watch) Longest() int64 {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.longest
}

// Forget starts Longest anew.
func (w *Watch) Forget() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.longest = 0
}
