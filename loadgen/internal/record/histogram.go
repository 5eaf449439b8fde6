// Package record keeps what a run measured: HdrHistograms by second and operation, their log, and the final record.
package record

import (
	"strconv"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

const (
	longest = int64(3600) * 1e9 // nanoseconds: an hour
	digits  = 3
)

func newHistogram() *hdr.Histogram { return hdr.New(1, longest, digits) }

// add records nanoseconds; clamped says that they were too many, and were recorded as an hour.
func add(to *hdr.Histogram, nanoseconds int64) (clamped bool) {
	if nanoseconds < 0 {
		nanoseconds = 0
	}
	if nanoseconds > longest {
		nanoseconds, clamped = longest, true
	}
	_ = to.RecordValue(nanoseconds)
	return clamped
}

// Latency is a histogram's summary in microseconds, by name; nil for an empty one.
type Latency map[string]float64

// Percentiles are those of each record; a run may judge others, too.
var Percentiles = []float64{50, 90, 95, 99, 99.9, 99.99}

// PercentileName is such as p99.9.
func PercentileName(p float64) string { return "p" + strconv.FormatFloat(p, 'f', -1, 64) }

func micro(nanoseconds float64) float64 {
	// To the nanosecond: more digits are noise of the division.
	return float64(int64(nanoseconds+0.5)) / 1000
}

func summary(h *hdr.Histogram, percentiles []float64) Latency {
	if h == nil || h.TotalCount() == 0 {
		return nil
	}
	s := Latency{
		"count": float64(h.TotalCount()), "mean": micro(h.Mean()), "min": micro(float64(h.Min())), "max": micro(float64(h.Max())),
	}
	for _, p := range percentiles {
		s[PercentileName(p)] = micro(float64(h.ValueAtQuantile(p)))
	}
	return s
}

// shown is what the line of a second has.
func shown(h *hdr.Histogram) map[string]float64 {
	s := summary(h, []float64{50, 99})
	if s == nil {
		return nil
	}
	return map[string]float64{"p50": s["p50"], "p99": s["p99"], "max": s["max"]}
}
