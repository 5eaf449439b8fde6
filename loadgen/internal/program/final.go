package program

import (
	"benchbrief/loadgen/internal/dispatch"
	"benchbrief/loadgen/internal/record"
	"benchbrief/loadgen/internal/selfcheck"
	"benchbrief/loadgen/internal/target"
	"benchbrief/loadgen/internal/workload"
)

// head is what final records of run and load share.
func (s *settings) head(p Program, command string, opened target.Target, ended string, startedAt int64, errors []record.Failure) record.Head {
	return record.Head{
		Kind: "final", Format: 1, Program: p.Name, Version: Version, Library: opened.Library(), Target: opened.Name(),
		Command: command, Settings: s.text(), Ended: ended, Refusals: []record.Refusal{}, StartedAt: float64(startedAt) / 1e9, Errors: errors,
	}
}

// final is the record of a run that has ended.
func (s *settings) final(p Program, opened target.Target, r *running, ended string) *record.Run {
	tally, outcomes := r.source.Tally(), r.totals.Ended()
	stopped := r.stopped
	if stopped == 0 {
		stopped = r.clock.Now()
	}
	until := stopped
	byTime := ended == endedWhole && s.operations == 0 // then the window is whole, even if nothing was due at its end
	if end := r.end.Load(); end > 0 && (end < until || byTime) {
		until = end
	}
	if until < r.offer.warmUp {
		until = r.offer.warmUp
	}
	window := float64(until-r.offer.warmUp) / 1e9
	percentiles := s.percentiles()
	final := &record.Run{
		Head:          s.head(p, "run", opened, ended, r.clock.Zero().UnixNano(), r.failures.list()),
		WarmUpSeconds: s.warmUp, WindowSeconds: window, LongestQueue: tally.Longest, MostInFlight: r.mostInFlight,
		Operations: map[string]record.Operation{},
	}
	for kind := workload.Kind(0); kind < workload.Kinds; kind++ {
		warmUp := sum(tally, outcomes, dispatch.WarmUp, kind)
		counts := sum(tally, outcomes, dispatch.Window, kind)
		final.WarmUp = final.WarmUp.Plus(warmUp)
		if counts.Offered == 0 {
			continue
		}
		final.Counts = final.Counts.Plus(counts)
		operation := record.Operation{Counts: counts, NotFound: outcomes[dispatch.Window][kind].NotFound}
		operation.Intended, operation.Service, operation.Lag = r.totals.Latencies(kind, percentiles)
		final.Operations[kind.String()] = operation
	}
	final.All.Intended, final.All.Service = r.totals.All(percentiles)
	if window > 0 {
		final.OfferedRate = float64(final.Offered) / window
		final.Throughput = float64(r.totals.InWindow()) / window
	}
	both := final.Counts.Plus(final.WarmUp)
	final.Complete = ended == endedWhole && both.Abandoned == 0 && both.Unfinished == 0
	final.Self = r.monitor.Self(r.totals.InWindow(), r.totals.Clamped(), r.totals.Lag(percentiles), r.monitor.Hiccup.Total(percentiles))
	if r.steady != nil {
		final.Steady = r.steady.record()
	}
	return final
}

func sum(tally dispatch.Tally, outcomes [dispatch.Phases][workload.Kinds]record.Ended, phase dispatch.Phase, kind workload.Kind) record.Counts {
	from, ended := tally.Counts[phase][kind], outcomes[phase][kind]
	return record.Counts{
		Offered: from.Offered, Started: from.Started, Dropped: from.Dropped, Abandoned: tally.Queued[phase][kind],
		Completed: ended.Completed, Failed: ended.Failed, Unfinished: from.Started - ended.Completed - ended.Failed,
	}
}

// facts are what a run is judged by.
func (r *running) facts(final *record.Run, inProcess bool) selfcheck.Facts {
	var absent int64
	for _, ended := range r.totals.Ended()[dispatch.Window] {
		absent += ended.Absent
	}
	judged := map[string]selfcheck.Times{}
	for name, operation := range final.Operations {
		judged[name] = selfcheck.Times{Intended: operation.Intended, Lag: operation.Lag}
	}
	if len(judged) > 1 {
		judged["all operations"] = selfcheck.Times{Intended: final.All.Intended, Lag: final.Self.Lag}
	}
	return selfcheck.Facts{
		Offered: final.Offered, Started: final.Started, Dropped: final.Dropped, Completed: final.Completed, Failed: final.Failed,
		Absent: absent,
		Judged: judged, Hiccup: final.Self.Hiccup, StallShare: final.Self.StallShare,
		OpenLoop: r.offer.process != nil, InProcess: inProcess,
		CPUShare: final.Self.CPUShare, PauseShare: final.Self.PauseShare, ClockStep: final.Self.ClockStep,
	}
}
