package record

import (
	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"benchbrief/loadgen/internal/dispatch"
	"benchbrief/loadgen/internal/workload"
)

var tags = func() (t [dispatch.Phases][workload.Kinds][outcomes][latencies]string) {
	for phase := range t {
		for kind := range t[phase] {
			for outcome := range t[phase][kind] {
				for latency := range t[phase][kind][outcome] {
					name := workload.Kind(kind).String()
					if dispatch.Phase(phase) == dispatch.WarmUp {
						name = "warm-up-" + name
					}
					if outcome == failed {
						name += "-failed"
					}
					if latency == service {
						name += "-service"
					}
					if latency == own {
						name = lagTag // of all operations of the window together
					}
					t[phase][kind][outcome][latency] = name
				}
			}
		}
	}
	return t
}()

const lagTag = "lag"

// Totals are the histograms of the window, summed up second by second, while each second goes to the log.
type Totals struct {
	recorder *Recorder
	log      *Log
	counts   counts
	window   [workload.Kinds][latencies]*hdr.Histogram
	merged   *hdr.Histogram
	second   [latencies]*hdr.Histogram // all operations of the second that succeeded
	lag      *hdr.Histogram            // of the second's operations that were due in the window
	lagTotal *hdr.Histogram
}

// NewTotals sums up what a recorder has.
func NewTotals(recorder *Recorder, log *Log) *Totals {
	return &Totals{
		recorder: recorder, log: log, merged: newHistogram(), lag: newHistogram(), lagTotal: newHistogram(),
		second: [latencies]*hdr.Histogram{newHistogram(), newHistogram(), newHistogram()},
	}
}

// Second closes a second: it writes it to the log and adds it up. It gives the latencies for the live line.
func (t *Totals) Second(from, until int64) (intendedShown, serviceShown, lagShown map[string]float64) {
	full, counts := t.recorder.swap()
	t.counts = counts
	for _, h := range append(t.second[:], t.lag) {
		h.Reset()
	}
	for phase := range tags {
		for kind := range tags[phase] {
			for outcome := range tags[phase][kind] {
				for latency, tag := range tags[phase][kind][outcome] {
					h := t.merge(full, phase, kind, outcome, latency)
					if h == nil {
						continue
					}
					if latency != own {
						t.log.write(tag, from, until, h)
					} else if dispatch.Phase(phase) == dispatch.Window {
						t.lag.Merge(h)
					}
					if outcome == succeeded {
						t.second[latency].Merge(h)
						if dispatch.Phase(phase) == dispatch.Window {
							sum := &t.window[kind][latency]
							if *sum == nil {
								*sum = newHistogram()
							}
							(*sum).Merge(h)
						}
					}
					h.Reset()
				}
			}
		}
	}
	t.log.write(lagTag, from, until, t.lag)
	t.lagTotal.Merge(t.lag)
	return shown(t.second[intended]), shown(t.second[service]), shown(t.second[own])
}

// merge gives the histogram over all shards, which are empty after, or nil where there is nothing.
func (t *Totals) merge(full []*cells, phase, kind, outcome, latency int) *hdr.Histogram {
	var sum *hdr.Histogram
	for _, shard := range full {
		h := shard[phase][kind][outcome][latency]
		if h == nil || h.TotalCount() == 0 {
			continue
		}
		switch sum {
		case nil:
			sum = h
		case t.merged:
			sum.Merge(h)
			h.Reset()
		default:
			t.merged.Merge(sum)
			sum.Reset()
			sum = t.merged
			sum.Merge(h)
			h.Reset()
		}
	}
	return sum
}

// Ended is what became of operations so far, by phase and kind.
func (t *Totals) Ended() [dispatch.Phases][workload.Kinds]Ended { return t.counts.ended }

// InWindow is how many operations ended in the window and succeeded.
func (t *Totals) InWindow() int64 { return t.counts.inWindow }

// Clamped is how many latencies were above an hour.
func (t *Totals) Clamped() int64 { return t.counts.clamped }

// Latencies are those of the window: intended, service, and what of the intended one was the generator's own.
func (t *Totals) Latencies(kind workload.Kind, percentiles []float64) (intendedUs, serviceUs, lagUs Latency) {
	of := t.window[kind]
	return summary(of[intended], percentiles), summary(of[service], percentiles), summary(of[own], percentiles)
}

// Lag is how late the generator itself was with the operations of the window that have ended, those that failed included.
func (t *Totals) Lag(percentiles []float64) Latency { return summary(t.lagTotal, percentiles) }

// All are the latencies of all operations together.
func (t *Totals) All(percentiles []float64) (intendedUs, serviceUs Latency) {
	var sums [latencies]*hdr.Histogram
	for latency := range sums {
		sums[latency] = newHistogram()
		for kind := range t.window {
			if h := t.window[kind][latency]; h != nil {
				sums[latency].Merge(h)
			}
		}
	}
	return summary(sums[intended], percentiles), summary(sums[service], percentiles)
}
