package program

import (
	"fmt"
	"time"

	"benchbrief/loadgen/internal/record"
	"benchbrief/loadgen/internal/steady"
)

// batchLength is that of MSER-5's batches of seconds; tests shorten it.
var batchLength = 5 * time.Second

const mostWithin = 0.5

// steadying looks for a steady state while a run goes on.
type steadying struct {
	rule    steady.Rule
	batch   time.Duration
	from    int // batches before the first look
	batches []steady.Batch
	seen    steady.Verdict // the last look
}

// checkSteady reads the flags that let a run end when it is steady.
func (s *settings) checkSteady() error {
	fewest := (steady.FewestBatches * batchLength).Seconds()
	switch {
	case !s.given("steady-within") && s.given("steady-from"):
		return fmt.Errorf("--steady-from has no meaning without --steady-within")
	case !s.given("steady-within"):
		return nil
	case !(s.steadyWithin > 0 && s.steadyWithin <= mostWithin):
		return fmt.Errorf("--steady-within %g: it must be above 0, and at most %g", s.steadyWithin, mostWithin)
	case s.arrivals != "constant" && s.arrivals != "poisson" && s.arrivals != "closed":
		return fmt.Errorf("--steady-within has no meaning with --arrivals %s, whose rate is not to be steady", s.arrivals)
	case s.operations > 0:
		return fmt.Errorf("--steady-within and --operations are two ends of one run: give one")
	case !(s.steadyFrom >= fewest):
		return fmt.Errorf("--steady-from %g: it must be at least %g, as the rule needs %d batches of %g s",
			s.steadyFrom, fewest, steady.FewestBatches, batchLength.Seconds())
	case s.steadyFrom >= s.duration:
		return fmt.Errorf("--steady-from %g: it must be below --duration (%g), the longest that the run may take", s.steadyFrom, s.duration)
	}
	return nil
}

// newSteadying is called where --steady-within is given. In an open loop throughput is what was offered, unless the target falls
// behind: then only its latency can tell.
func (s *settings) newSteadying(o *offer) *steadying {
	from := (seconds(s.steadyFrom) + batchLength - 1) / batchLength
	return &steadying{
		rule: steady.Rule{Within: s.steadyWithin, Latency: o.process != nil}, batch: batchLength, from: int(from),
		seen: steady.Verdict{Cut: -1},
	}
}

// lookForSteady closes the batches that have ended by now, and ends the schedule at the first that shows a steady state.
func (r *running) lookForSteady(now int64) {
	s := r.steady
	if s == nil {
		return
	}
	if end := r.end.Load(); now > end {
		now = end
	}
	for !s.seen.Steady && r.offer.warmUp+int64(len(s.batches)+1)*int64(s.batch) <= now {
		completed, latency := r.recorder.Batch(len(s.batches))
		batch := steady.Batch{Completed: completed}
		if completed > 0 {
			batch.Latency = latency / completed
		}
		s.batches = append(s.batches, batch)
		if len(s.batches) < s.from {
			continue
		}
		if s.seen = s.rule.Judge(s.batches); s.seen.Steady {
			end := r.source.EndSoon()
			r.end.Store(end)
			r.recorder.Until(end)
			r.monitor.Until(end)
		}
	}
}

// record is the part of the final record.
func (s *steadying) record() *record.Steady {
	length := s.batch.Seconds()
	found := &record.Steady{
		Steady: s.seen.Steady, BatchSeconds: length, SeenSeconds: float64(len(s.batches)) * length,
		Completed: []int64{}, LatencyNs: []int64{},
	}
	for _, batch := range s.batches {
		found.Completed = append(found.Completed, batch.Completed)
		found.LatencyNs = append(found.LatencyNs, batch.Latency)
	}
	if s.seen.Cut >= 0 {
		cut := float64(s.seen.Cut) * length
		found.CutSeconds = &cut
	}
	found.Throughput, found.Latency = told(s.seen.Throughput, 1/length), told(s.seen.Latency, 1e-3)
	return found
}

func told(e *steady.Estimate, unit float64) *record.Estimate {
	if e == nil {
		return nil
	}
	return &record.Estimate{Mean: e.Mean * unit, HalfWidth: e.HalfWidth, Autocorrelation: e.Autocorrelation}
}
