package record

import (
	"sync"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"benchbrief/loadgen/internal/dispatch"
)

// Gauge has times of the generator itself, such as how late a thread woke. Those of the warm-up are shown live and then forgotten.
type Gauge struct {
	mutex sync.Mutex
	now   [dispatch.Phases]*hdr.Histogram
	spare [dispatch.Phases]*hdr.Histogram
	total *hdr.Histogram
	both  *hdr.Histogram
}

// NewGauge is an empty one.
func NewGauge() *Gauge {
	g := &Gauge{total: newHistogram(), both: newHistogram()}
	for phase := range g.now {
		g.now[phase], g.spare[phase] = newHistogram(), newHistogram()
	}
	return g
}

// Add records nanoseconds that were looked for every so often, as HdrHistogram's corrected recording does: what would have been found
// at each of the times that were missed, too. So a percentile is a share of the time.
func (g *Gauge) Add(nanoseconds, every int64, phase dispatch.Phase) {
	g.mutex.Lock()
	for add(g.now[phase], nanoseconds); nanoseconds >= 2*every; {
		nanoseconds -= every
		add(g.now[phase], nanoseconds)
	}
	g.mutex.Unlock()
}

// Second closes a second, as Totals does.
func (g *Gauge) Second(log *Log, tag string, from, until int64) map[string]float64 {
	g.mutex.Lock()
	g.now, g.spare = g.spare, g.now
	g.mutex.Unlock()
	g.both.Reset()
	for phase, h := range g.spare {
		if h.TotalCount() == 0 {
			continue
		}
		g.both.Merge(h)
		if dispatch.Phase(phase) == dispatch.Window {
			log.write(tag, from, until, h)
			g.total.Merge(h)
		}
		h.Reset()
	}
	return shown(g.both)
}

// Total is the summary of the window.
func (g *Gauge) Total(percentiles []float64) Latency { return summary(g.total, percentiles) }
