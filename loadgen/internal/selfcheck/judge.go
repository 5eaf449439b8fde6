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
	refuse := func(code string, value, limit float64, advice, format string, values ...any) {
		refusals = append(refusals, record.Refusal{
			Code: code, Value: value, Limit: limit, Text: fmt.Sprintf(format, values...), Advice: advice,
		})
	}
	if f.Completed == 0 {
		refuse("nothing", 0, 0, "", "no operation of the window succeeded")
	}
	refusals = append(refusals, tooMany("drops", f.Dropped, f.Offered, limits.Drops, "operations found the queue full and were dropped", "")...)
	refusals = append(refusals, tooMany("errors", f.Failed, f.Started, limits.Errors, "operations failed", "")...)
	refusals = append(refusals, tooMany("not-found", f.Absent, f.Started, limits.Errors, "operations found no record", "look whether all records are still there that were loaded")...)
	if f.OpenLoop {
		refusals = append(refusals, judgeLateness(limits, f)...)
	} else if f.StallShare > limits.Stalls {
		// Nothing says which operations it held up: a worker that stands still asks for none.
		refuse("hiccups", f.StallShare, limits.Stalls, room, "no thread of the generator ran for %.1f %% of the time, and %.1f %% is accepted",
			f.StallShare*100, limits.Stalls*100)
	}
	if f.CPUShare > limits.CPU && !f.InProcess {
		refuse("cpu", f.CPUShare, limits.CPU, room, "the generator used %.0f %% of the processor time that it can have", f.CPUShare*100)
	}
	if f.PauseShare > limits.Pauses {
		refuse("pauses", f.PauseShare, limits.Pauses, "", "the generator stood still for its garbage collection %.1f %% of the time", f.PauseShare*100)
	}
	if step := f.ClockStep; step > limits.ClockStep || -step > limits.ClockStep {
		refuse("clock", step, limits.ClockStep, "", "the wall clock was set by %+.3f s during the run: its times can't be laid beside others", step)
	}
	return refusals
}

const room = "give it idle cores, or a host of its own, without a limit on its processor time"

// tooMany is the refusal where more than a share of the operations came to a bad end; nothing else.
func tooMany(code string, count, of int64, limit float64, what, advice string) []record.Refusal {
	found := share(count, of)
	if found <= limit {
		return nil
	}
	text := fmt.Sprintf("%d of %d %s", count, of, what)
	return []record.Refusal{{Code: code, Value: found, Limit: limit, Text: text, Advice: advice, Count: &count, Of: &of}}
}

// judgeLateness holds the generator's own lateness against the latencies that will be reported: of each operation at each percentile, and their mean and max.
func judgeLateness(limits Limits, f Facts) []record.Refusal {
	var refusals []record.Refusal
	names := make([]string, 0, len(f.Judged))
	for name := range f.Judged {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		for _, judged := range limits.Judged {
			at, times := judged.Name, f.Judged[name]
			latency := times.Intended[at]
			hold := func(code string, late float64, what, advice string) {
				if latency <= 0 || late/latency <= limits.Lag {
					return
				}
				refusals = append(refusals, record.Refusal{
					Code: code, Value: late / latency, Limit: limits.Lag, Percentile: judged.Percentile,
					Text: fmt.Sprintf("%s of %s: %s by %s, of %s intended latency, and %.3g %% is accepted",
						at, name, what, milliseconds(late), milliseconds(latency), limits.Lag*100),
					Advice: advice, Statistic: at, Operation: name, LateUs: &late, IntendedUs: &latency,
				})
			}
			hold("lag", times.Lag[at], "the generator itself was late", room+", or offer less")
			if at != "max" { // a longest hiccup may have held up no operation; the longest lateness of one says more
				hold("hiccups", f.Hiccup[at], "a thread of the generator woke late", room)
			}
		}
	}
	return refusals
}

// milliseconds has three digits, or all of those before the point.
func milliseconds(us float64) string {
	if us >= 1e6 {
		return fmt.Sprintf("%.0f ms", us/1e3)
	}
	return fmt.Sprintf("%.3g ms", us/1e3)
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
	return append(refusals, tooMany("errors", failed, completed+failed, accepted, "records could not be put in", "")...)
}
