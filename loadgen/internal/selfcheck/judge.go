package selfcheck

import (
	"fmt"
	"sort"

	"benchbrief/loadgen/internal/record"
)

// Limits are what a run accepts.
type Limits struct {
	Drops, Errors, Lag, Stalls, CPU, Pauses, ClockStep float64
	Judged                                             []Statistic
}

// Statistic is what will be reported of latencies: a percentile, or their mean or max.
type Statistic struct {
	Name       string   // of the value in a record.Latency
	Percentile *float64 // nil for mean and max
}

// Times are of one kind of operation: from when it was due, and what of that was the generator's own.
type Times struct{ Intended, Lag record.Latency }

// Facts are what a run's window was.
type Facts struct {
	Offered, Started, Dropped, Completed, Failed int64
	Absent                                       int64 // failed, as they found no record
	Judged                                       map[string]Times
	Hiccup                                       record.Latency
	OpenLoop, InProcess                          bool
	CPUShare, PauseShare, StallShare, ClockStep  float64
}

// Judge says why a run's numbers don't stand; nothing if they do.
func Judge(limits Limits, f Facts) []record.Refusal {
	refusals := []record.Refusal{}
	refuse := func(code string, value, limit float64, percentile *float64, format string, values ...any) {
		refusals = append(refusals, record.Refusal{
			Code: code, Value: value, Limit: limit, Percentile: percentile, Text: fmt.Sprintf(format, values...),
		})
	}
	if f.Completed == 0 {
		refuse("nothing", 0, 0, nil, "no operation of the window succeeded")
	}
	if drops := share(f.Dropped, f.Offered); drops > limits.Drops {
		refuse("drops", drops, limits.Drops, nil, "%d of %d operations found the queue full and were dropped", f.Dropped, f.Offered)
	}
	if errors := share(f.Failed, f.Started); errors > limits.Errors {
		refuse("errors", errors, limits.Errors, nil, "%d of %d operations failed", f.Failed, f.Started)
	}
	if absent := share(f.Absent, f.Started); absent > limits.Errors {
		refuse("not-found", absent, limits.Errors, nil, "%d of %d operations found no record: are all records still there that were loaded?", f.Absent, f.Started)
	}
	if f.OpenLoop {
		judgeLateness(limits, f, refuse)
	} else if f.StallShare > limits.Stalls {
		// Nothing says which operations it held up: a worker that stands still asks for none.
		refuse("hiccups", f.StallShare, limits.Stalls, nil, "no thread of the generator ran for %.1f %% of the time, and %.1f %% is accepted: %s",
			f.StallShare*100, limits.Stalls*100, room)
	}
	if f.CPUShare > limits.CPU && !f.InProcess {
		refuse("cpu", f.CPUShare, limits.CPU, nil, "the generator used %.0f %% of the processor time that it can have: %s", f.CPUShare*100, room)
	}
	if f.PauseShare > limits.Pauses {
		refuse("pauses", f.PauseShare, limits.Pauses, nil, "the generator stood still for its garbage collection %.1f %% of the time", f.PauseShare*100)
	}
	if step := f.ClockStep; step > limits.ClockStep || -step > limits.ClockStep {
		refuse("clock", step, limits.ClockStep, nil, "the wall clock was set by %+.3f s during the run: its times can't be laid beside others", step)
	}
	return refusals
}

const room = "give it idle cores, or a host of its own, without a limit on its processor time"

// judgeLateness holds the generator's own lateness against the latencies that will be reported: of each operation at each percentile, and their mean and max.
func judgeLateness(limits Limits, f Facts, refuse func(string, float64, float64, *float64, string, ...any)) {
	names := make([]string, 0, len(f.Judged))
	for name := range f.Judged {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		for i := range limits.Judged {
			p, at, times := limits.Judged[i].Percentile, limits.Judged[i].Name, f.Judged[name]
			latency := times.Intended[at]
			if latency <= 0 {
				continue
			}
			if late := times.Lag[at] / latency; late > limits.Lag {
				refuse("lag", late, limits.Lag, p, "%s of %s: the generator itself was late by %.0f us, of %.0f us intended latency, and %.3g %% is accepted: %s, or offer less",
					at, name, times.Lag[at], latency, limits.Lag*100, room)
			}
			// A longest hiccup may have held up no operation; the longest lateness of one says more.
			if late := f.Hiccup[at] / latency; late > limits.Lag && at != "max" {
				refuse("hiccups", late, limits.Lag, p, "%s of %s: a thread of the generator woke late by %.0f us, of %.0f us intended latency, and %.3g %% is accepted: %s",
					at, name, f.Hiccup[at], latency, limits.Lag*100, room)
			}
		}
	}
}

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// JudgeLoad says why a bulk load is no data set to measure on.
func JudgeLoad(accepted float64, completed, failed int64) []record.Refusal {
	refusals := []record.Refusal{}
	if completed == 0 {
		refusals = append(refusals, record.Refusal{Code: "nothing", Text: "no record was put in"})
	}
	if failures := share(failed, completed+failed); failures > accepted {
		refusals = append(refusals, record.Refusal{
			Code: "errors", Value: failures, Limit: accepted, Text: fmt.Sprintf("%d of %d records could not be put in", failed, completed+failed),
		})
	}
	return refusals
}
