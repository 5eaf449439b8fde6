package program

import (
	"encoding/json"
	"os"
	"runtime"
	"syscall"
	"time"

	"benchbrief/loadgen/internal/clock"
	"benchbrief/loadgen/internal/dispatch"
	"benchbrief/loadgen/internal/record"
	"benchbrief/loadgen/internal/selfcheck"
)

// How a run can end.
const (
	endedWhole       = "whole"
	endedGaveUp      = "gave-up"
	endedInterrupted = "interrupted"
)

// lastGrace is how long operations in flight may still end once a run is cut.
const lastGrace = 500 * time.Millisecond

// progress is what was counted at the end of a second.
type progress struct {
	at                                           int64
	offered, dropped, started, completed, failed int64
	queued                                       int64
	cpu                                          time.Duration
}

func (p progress) inFlight() int64 { return p.started - p.completed - p.failed }

// watch follows a run to its end: it closes each second, prints it, and decides whether to go on.
func (r *running) watch(signals <-chan os.Signal) string {
	clock.Background()
	defer runtime.UnlockOSThread()
	before := progress{}
	ended, second, windowed := endedWhole, 0, false
	lastSuccess := int64(0)
	give := int64(seconds(r.settings.giveUp))
	next := int64(time.Second)
	overAt := int64(0)
	for ended == endedWhole {
		if !windowed && r.offer.warmUp < next {
			// The window starts within this second.
			windowed = r.wait(r.offer.warmUp, signals, &ended)
			if windowed {
				r.monitor.Begin()
			}
		}
		whole := ended == endedWhole && r.wait(next, signals, &ended)
		second++
		now := r.look()
		r.closeSecond(second, before, now)
		r.lookForSteady(now.at)
		switch {
		case now.completed > before.completed, now.inFlight() == 0 && now.queued == 0 && now.failed == before.failed:
			lastSuccess = now.at
		case now.at-lastSuccess > give && ended == endedWhole && whole:
			ended = endedGaveUp
		}
		if overAt == 0 && r.end.Load() > 0 && now.at > r.end.Load() {
			overAt = now.at
		}
		// What is still out when the schedule is over must end, too; so long and no longer.
		if overAt > 0 && now.at-overAt > give+int64(seconds(r.settings.timeout)) && ended == endedWhole && whole {
			ended = endedGaveUp
		}
		before = now
		next += int64(time.Second)
		if !whole && ended == endedWhole {
			break // all workers have ended
		}
	}
	r.source.Stop()
	if ended == endedWhole {
		r.lookForSteady(r.end.Load()) // nothing more is due, which may be known before
	} else {
		r.stopped = r.clock.Now()
		select {
		case <-r.done:
		case <-time.After(lastGrace):
		}
		r.closeSecond(second+1, before, r.look())
	}
	r.monitor.End()
	r.monitor.Stop()
	return ended
}

// wait returns true at a time of the clock, and false when the run ended or was interrupted before it.
func (r *running) wait(until int64, signals <-chan os.Signal, ended *string) bool {
	timer := time.NewTimer(time.Duration(until - r.clock.Now()))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.done:
		r.stopped = r.clock.Now()
		return false
	case received := <-signals:
		*ended = endedInterrupted
		r.settings.received, _ = received.(syscall.Signal)
		return false
	}
}

func (r *running) look() progress {
	// Ended first: what ends in between is then seen as in flight, never the other way round.
	var now progress
	now.completed, now.failed = r.recorder.Progress()
	tally := r.source.Tally()
	for phase := range tally.Counts {
		for kind, counts := range tally.Counts[phase] {
			now.offered += counts.Offered
			now.dropped += counts.Dropped
			now.started += counts.Started
			now.queued += tally.Queued[phase][kind]
		}
	}
	now.at, now.cpu = r.clock.Now(), selfcheck.CPU()
	if n := now.inFlight(); n > r.mostInFlight {
		r.mostInFlight = n
	}
	return now
}

func (r *running) phase(at int64) string {
	switch {
	case at < r.offer.warmUp:
		return dispatch.WarmUp.String()
	case r.end.Load() == 0 || at < r.end.Load():
		return dispatch.Window.String()
	}
	return "drain"
}

// closeSecond puts a second into the log, and onto standard output.
func (r *running) closeSecond(second int, before, now progress) {
	r.monitor.Second()
	if r.end.Load() == 0 || before.at < r.end.Load() {
		r.monitor.End() // the window so far; the drain is not of it
	}
	intended, service, lag := r.totals.Second(before.at, now.at)
	r.monitor.Hiccup.Second(r.log, "hiccup", before.at, now.at)
	if r.log.Flush() != nil {
		r.source.Stop() // what can't be kept need not be measured
	}
	length := float64(now.at-before.at) / 1e9
	if r.settings.quiet || length <= 0 {
		return
	}
	_ = printLine(record.Second{
		Kind: "second", Second: second, Phase: r.phase((before.at + now.at) / 2), Elapsed: float64(now.at) / 1e9,
		Offered: now.offered - before.offered, Started: now.started - before.started, Dropped: now.dropped - before.dropped,
		Completed: now.completed - before.completed, Failed: now.failed - before.failed, Queued: now.queued,
		InFlight: now.inFlight(), Intended: intended, Service: service, Lag: lag,
		CPUShare: (now.cpu - before.cpu).Seconds() / length / r.cores,
	})
}

func printLine(value any) error { return json.NewEncoder(stdout).Encode(value) }

func (s *settings) signalled() int { return int(s.received) }
