package selfcheck

import (
	"fmt"

	"benchbrief/loadgen/internal/record"
)

// Limits are what a run accepts.
type Limits struct {
	Drops, Errors, Lag, CPU, Pauses, ClockStep float64
	Judged                                     []float64 // percentiles
}

// Facts are what a run's window was.
type Facts struct {
	Offered, Started, Dropped, Completed, Failed int64
	Absent                                       int64 // failed, as they found no record
	Intended, Lag, Hiccup                        record.Latency
	OpenLoop, InProcess                          bool
	CPUShare, PauseShare, ClockStep              float64
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
	}
	if f.CPUShare > limits.CPU && !f.InProcess {
		refuse("cpu", f.CPUShare, limits.CPU, nil, "the generator used %.0f %% of the processor time that it can have", f.CPUShare*100)
	}
	if f.PauseShare > limits.Pauses {
		refuse("pauses", f.PauseShare, limits.Pauses, nil, "the generator stood still for its garbage collection %.1f %% of the time", f.PauseShare*100)
	}
	if step := f.ClockStep; step > limits.ClockStep || -step > limits.ClockStep {
		refuse("clock", step, limits.ClockStep, nil, "the wall clock was set by %+.3f s during the run: its times can't be laid beside others", step)
	}
	return refusals
}

// judgeLateness holds the generator's own lateness against the latency that will be reported, percentile by percentile.
func judgeLateness(limits Limits, f Facts, refuse func(string, float64, float64, *float64, string, ...any)) {
	for i := range limits.Judged {
		p := &limits.Judged[i]
		name := record.PercentileName(*p)
		latency := f.Intended[name]
		if latency <= 0 {
			continue
		}
		if late := f.Lag[name] / latency; late > limits.Lag {
			refuse("lag", late, limits.Lag, p, "%s: operations were started %.0f us late by the generator itself, of %.0f us intended latency", name, f.Lag[name], latency)
		}
		if late := f.Hiccup[name] / latency; late > limits.Lag {
			refuse("hiccups", late, limits.Lag, p, "%s: the generator's machine paused it for %.0f us, of %.0f us intended latency", name, f.Hiccup[name], latency)
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
