// Package queueing has the arithmetic of a service station: what a queue does with given arrivals and service times,
// and what theory says of it. It proves the generator, and is what the scripted server goes by.
package queueing

import "container/heap"

// Station has servers that take operations first come first served. Times are nanoseconds.
type Station struct {
	free       freeTimes
	pauseFrom  int64
	pauseUntil int64
}

// NewStation has idle servers.
func NewStation(servers int) *Station { return &Station{free: make(freeTimes, servers)} }

// Pause makes all servers stand still for a time, as a stopped process does: what would be done in it is done so much later.
func (s *Station) Pause(from, until int64) { s.pauseFrom, s.pauseUntil = from, until }

// Serve gives when an operation is done. Calls are in the order of arrival.
func (s *Station) Serve(arrival, service int64) int64 {
	start := s.free[0]
	if arrival > start {
		start = arrival
	}
	if start >= s.pauseFrom && start < s.pauseUntil {
		start = s.pauseUntil
	}
	done := start + service
	if start < s.pauseFrom && done > s.pauseFrom {
		done += s.pauseUntil - s.pauseFrom
	}
	s.free[0] = done
	heap.Fix(&s.free, 0)
	return done
}

type freeTimes []int64

func (f freeTimes) Len() int           { return len(f) }
func (f freeTimes) Less(i, j int) bool { return f[i] < f[j] }
func (f freeTimes) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *freeTimes) Push(any)          { panic("the servers are fixed") }
func (f *freeTimes) Pop() any          { panic("the servers are fixed") }
