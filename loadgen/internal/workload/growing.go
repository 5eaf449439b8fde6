package workload

import (
	"math"
	"sync"
	"sync/atomic"
)

// growingZeta is Zeta(items, theta) for a number of items that grows by inserts: each call adds the terms that are new.
type growingZeta struct {
	theta float64
	mutex sync.Mutex
	known atomic.Value // zetaAt
}

type zetaAt struct {
	items int64
	sum   float64
}

func newGrowingZeta(items int64, theta float64) *growingZeta {
	g := &growingZeta{theta: theta}
	g.known.Store(zetaAt{items, Zeta(items, theta)})
	return g
}

// of is exact for as many items as were seen, or more. A worker that is behind gets the sum of a few more records, which
// differs by less than their share.
func (g *growingZeta) of(items int64) float64 {
	known := g.known.Load().(zetaAt)
	if items <= known.items {
		return known.sum
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	known = g.known.Load().(zetaAt)
	for known.items < items {
		known.items++
		known.sum += math.Pow(float64(known.items), -g.theta)
	}
	g.known.Store(known)
	return known.sum
}

// sequence hands out the numbers of inserted records, and knows up to which of them all are acknowledged.
type sequence struct {
	mutex sync.Mutex
	next  int64
	last  int64 // all numbers up to this one are acknowledged
	ended map[int64]struct{}
}

func newSequence(first int64) *sequence {
	return &sequence{next: first, last: first - 1, ended: map[int64]struct{}{}}
}

func (s *sequence) take() int64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.next++
	return s.next - 1
}

// end says that an insert is over. One that failed counts too, as in YCSB, else all later records would never be read.
// Those that are out of order are at most as many as are in flight.
func (s *sequence) end(number int64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.ended[number] = struct{}{}
	for {
		if _, there := s.ended[s.last+1]; !there {
			return
		}
		delete(s.ended, s.last+1)
		atomic.StoreInt64(&s.last, s.last+1)
	}
}

func (s *sequence) acknowledged() int64 { return atomic.LoadInt64(&s.last) }
