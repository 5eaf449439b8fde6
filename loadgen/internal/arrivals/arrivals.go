// Package arrivals says when operations are due: nanoseconds from the start of a run, ascending, fixed by a seed.
package arrivals

import (
	"fmt"
	"math"
	"math/big"
	"time"

	"benchbrief/loadgen/internal/random"
)

// Process gives one due time after the other. ok is false when there are no more.
type Process interface {
	Next() (due int64, ok bool)
}

// Segment is a time of one rate. A length of 0 has no end.
type Segment struct {
	Rate   float64 // operations a second; 0 for none
	Length float64 // seconds
}

// MaxRate is far above what one process can offer, and keeps due times apart in nanoseconds.
const MaxRate = 1e7

// Spaced is a process of piecewise constant rate. Arrivals of rate 1 (each 1 apart, or exponentially apart) are mapped
// through the inverse of the integrated rate, so a Poisson process stays one across a change of rate, and a regular one
// offers the integral of the rate to one operation.
type Spaced struct {
	segments []Segment
	repeat   bool
	poisson  bool
	source   random.Source

	current int     // the segment
	begun   float64 // seconds: when it started
	before  float64 // the integral of the rate up to there
	arrived float64 // the place of the next arrival at rate 1
}

// NewSpaced checks the segments. With repeat they start over at their end; else the process ends there.
func NewSpaced(segments []Segment, repeat, poisson bool, seed uint64) (*Spaced, error) {
	offered := false
	for i, s := range segments {
		if !(s.Rate >= 0) || s.Rate > MaxRate {
			return nil, fmt.Errorf("a rate of %g a second: it must be from 0 to %g", s.Rate, MaxRate)
		}
		endless := s.Length == 0 && i == len(segments)-1 && !repeat
		if !endless && (!(s.Length > 0) || math.IsInf(s.Length, 0)) {
			return nil, fmt.Errorf("a length of %g s: it must be above 0", s.Length)
		}
		offered = offered || s.Rate > 0
	}
	if !offered {
		return nil, fmt.Errorf("the rate is 0 throughout: nothing would be offered")
	}
	p := &Spaced{segments: segments, repeat: repeat, poisson: poisson, source: random.New(seed)}
	if poisson {
		p.arrived = p.source.Exponential()
	}
	return p, nil
}

// Begin sets the first arrival of a regular process of one rate, before any was taken: arrivals are due where the wall clock, counted
// in gaps between them, has the fraction phase. Generators whose clocks agree, each with a phase of its own, then take turns.
func (p *Spaced) Begin(phase float64, zero time.Time) {
	// All gaps since 1970, whose digits behind the point a float64 would lose: generators that begin on two days have to agree.
	gaps := new(big.Float).SetPrec(256).SetInt64(zero.UnixNano())
	gaps.Mul(gaps, big.NewFloat(p.segments[0].Rate)).Quo(gaps, big.NewFloat(1e9))
	whole, _ := gaps.Int(nil)
	part, _ := gaps.Sub(gaps, new(big.Float).SetInt(whole)).Float64()
	p.arrived = math.Mod(phase-part+1, 1)
}

// Next implements Process.
func (p *Spaced) Next() (int64, bool) {
	for {
		s := p.segments[p.current]
		if s.Length == 0 || p.arrived < p.before+s.Rate*s.Length {
			due := p.begun + (p.arrived-p.before)/s.Rate
			if p.poisson {
				p.arrived += p.source.Exponential()
			} else {
				p.arrived++
			}
			return int64(math.Round(due * float64(time.Second))), true
		}
		p.begun += s.Length
		p.before += s.Rate * s.Length
		p.current++
		if p.current == len(p.segments) {
			if !p.repeat {
				return 0, false
			}
			p.current = 0
		}
	}
}

// Recorded gives the due times of a trace.
type Recorded struct {
	due  []int64
	next int
}

// Next implements Process.
func (r *Recorded) Next() (int64, bool) {
	if r.next == len(r.due) {
		return 0, false
	}
	r.next++
	return r.due[r.next-1], true
}

// Len is how many arrivals a trace has; Last is when the last one is due.
func (r *Recorded) Len() int { return len(r.due) }

// Last is the due time of the last arrival.
func (r *Recorded) Last() int64 { return r.due[len(r.due)-1] }
