package program

import (
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"benchbrief/loadgen/internal/clock"
	"benchbrief/loadgen/internal/dispatch"
	"benchbrief/loadgen/internal/record"
	"benchbrief/loadgen/internal/selfcheck"
	"benchbrief/loadgen/internal/stalls"
	"benchbrief/loadgen/internal/target"
	"benchbrief/loadgen/internal/workload"
)

// run is the command: nothing is sent before all that can be wrong was looked at.
func (s *settings) run(p Program) error {
	offered, err := s.offer()
	if err != nil {
		return err
	}
	if err := s.makeOutput(record.RecordFile); err != nil {
		return err
	}
	opened, err := s.openTarget(p, false)
	if err != nil {
		return err
	}
	defer opened.Close()
	cores := s.prepare(opened.InProcess())
	sessions, err := s.sessions(opened)
	if err != nil {
		return failure{exitTarget, err}
	}
	file, err := os.Create(filepath.Join(s.output, record.LogFile))
	if err != nil {
		return failure{exitOutput, err}
	}
	defer file.Close()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	stale, _ := opened.(target.Stale)
	r := s.newRunning(offered, sessions, file, p.Name, cores, stale != nil && stale.Stale(), opened.InProcess())
	counted, err := s.startCounting(opened, r)
	if err != nil {
		return failure{exitOutput, err}
	}
	ended := r.watch(signals)
	if err := counted.end(); err != nil {
		return failure{exitOutput, err}
	}
	final := s.final(p, opened, r, ended)
	final.Refusals = selfcheck.Judge(s.limits, r.facts(final, opened.InProcess()))
	if err := r.log.Flush(); err != nil {
		return failure{exitOutput, fmt.Errorf("the log can't be written: %w", err)}
	}
	if err := file.Close(); err != nil {
		return failure{exitOutput, err}
	}
	return s.finish(final, final.Head)
}

func (s *settings) sessions(from target.Target) ([]target.Session, error) {
	sessions := make([]target.Session, s.workers)
	for i := range sessions {
		session, err := from.Session(i)
		if err != nil {
			return nil, fmt.Errorf("session %d of %d: %w", i+1, s.workers, err)
		}
		sessions[i] = session
	}
	return sessions, nil
}

// finish writes the final record, and tells in words and by the code what it means.
func (s *settings) finish(final any, head record.Head) error {
	if err := record.Save(s.output, final); err != nil {
		return failure{exitOutput, fmt.Errorf("the record can't be written: %w", err)}
	}
	if err := printLine(final); err != nil {
		return failure{exitOutput, err}
	}
	for _, refusal := range head.Refusals {
		fmt.Fprintf(os.Stderr, "refused (%s): %s\n", refusal.Code, refusal)
	}
	switch {
	case head.Ended == endedGaveUp:
		return failure{exitGaveUp, fmt.Errorf("nothing succeeded for %g s, so the run was cut", s.giveUp)}
	case head.Ended == endedInterrupted:
		return failure{exitSignalled + s.signalled(), nil}
	case len(head.Refusals) > 0:
		return failure{exitRefused, nil}
	}
	return nil
}

// running is a run while it goes on.
type running struct {
	settings *settings
	offer    *offer
	clock    clock.Clock
	source   dispatch.Source
	recorder *record.Recorder
	totals   *record.Totals
	stalls   *stalls.Watch
	monitor  *selfcheck.Monitor
	log      *record.Log
	failures *failures
	cores    float64
	stale    bool          // what this run inserts may not be found at once
	yields   bool          // its workers never wait
	done     chan struct{} // closed when all workers have ended
	end      atomic.Int64  // of the window; 0 where it is not known yet
	steady   *steadying    // nil where nobody asks

	mostInFlight int64
	stopped      int64 // nanoseconds: when the last worker ended, or the run was cut
}

// newRunning starts the clock, the workers and the schedule.
func (s *settings) newRunning(o *offer, sessions []target.Session, file *os.File, program string, cores float64, stale, inProcess bool) *running {
	shards := int(math.Ceil(cores))
	if shards > 8 {
		shards = 8
	}
	r := &running{
		settings: s, offer: o, stalls: stalls.NewWatch(), failures: newFailures(), cores: cores, stale: stale,
		yields: o.process == nil && inProcess, done: make(chan struct{}),
		recorder: record.NewRecorder(shards, o.warmUp, o.end, o.process != nil),
	}
	r.end.Store(o.end)
	if s.steadyWithin > 0 {
		r.steady = s.newSteadying(o)
		r.recorder.CountBatches(int64(r.steady.batch))
	}
	workers := make([]*dispatch.Worker, len(sessions))
	for i := range workers {
		workers[i] = dispatch.NewWorker()
	}
	r.clock = clock.New()
	if o.begin != nil {
		o.begin(r.clock.Zero())
	}
	r.log = record.NewLog(file, program+" "+Version, r.clock.Zero())
	r.totals = record.NewTotals(r.recorder, r.log)
	r.monitor = selfcheck.NewMonitor(r.clock, r.stalls, cores, o.warmUp, o.end, r.yields)
	plan := dispatch.Plan{
		Arrivals: o.process, Kind: o.work.KindAt, WarmUp: o.warmUp, End: o.end, Operations: s.operations,
		Queue: s.queue, Workers: len(workers), Stalls: r.stalls,
	}
	if o.process == nil {
		closed := dispatch.NewClosed(plan, r.clock)
		for _, worker := range workers {
			closed.Join(worker)
		}
		r.source = closed
	} else {
		r.source = dispatch.NewOpen(plan, r.clock)
	}
	ended := make(chan struct{}, len(workers))
	for i, session := range sessions {
		go func(i int, session target.Session) {
			r.work(i, workers[i], session)
			ended <- struct{}{}
		}(i, session)
	}
	go func() {
		for range workers {
			<-ended
		}
		close(r.done)
	}()
	return r
}

// turn is how long a worker of a closed loop on a library runs at most, in nanoseconds, before it lets Go's scheduler have a look. It
// never waits: the scheduler would take its place away every 10 ms, and then look for more such places every 20 us, which are thousands
// of wakes a second beside the workers. Where operations wait, these looks are of use.
const turn = 5 * int64(time.Millisecond)

// work is what each worker does until there is nothing left.
func (r *running) work(number int, worker *dispatch.Worker, session target.Session) {
	var op workload.Operation
	timeout := int64(seconds(r.settings.timeout))
	yielded := int64(0)
	for {
		ticket, more := r.source.Next(worker)
		if !more {
			return
		}
		r.offer.work.At(ticket.Index, &op)
		sent := r.clock.Now()
		outcome := session.Do(&op)
		ended := r.clock.Now()
		worker.Spent(ended - sent)
		if r.yields && ended-yielded > turn {
			runtime.Gosched()
			yielded = ended
		}
		r.stalls.Awake(ended)
		r.offer.work.Ended(&op)
		late, absent := outcome.Err == nil && ended-sent > timeout, false
		if late {
			r.failures.add("an operation took longer than --timeout")
		} else if outcome.Err != nil {
			r.failures.add(outcome.Err.Error())
		} else if outcome.NotFound && r.mustBeThere(op.Number) {
			absent = true
			r.failures.add("no record was found under a key that was loaded or inserted")
		}
		r.recorder.Record(number, record.Result{
			Kind: op.Kind, Phase: ticket.Phase, Due: ticket.Due, Sent: sent, Ended: ended,
			Late:   ticket.Late + sent - ticket.Start + r.stalls.Within(sent, ended),
			Failed: late || absent || outcome.Err != nil, NotFound: outcome.NotFound,
		})
	}
}

// mustBeThere says that a record must be found: keys are chosen only among those that were loaded, and those whose insert has ended.
func (r *running) mustBeThere(number int64) bool {
	return !r.stale || number < r.settings.start+r.settings.recordCount
}
