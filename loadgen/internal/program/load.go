package program

import (
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"benchbrief/loadgen/internal/clock"
	"benchbrief/loadgen/internal/record"
	"benchbrief/loadgen/internal/selfcheck"
	"benchbrief/loadgen/internal/target"
	"benchbrief/loadgen/internal/workload"
)

// loading is a bulk load while it goes on. Its counts are atomic.
type loading struct {
	settings  *settings
	clock     clock.Clock
	records   workload.Records
	from, end int64 // numbers of records
	next      int64
	completed int64
	failed    int64
	busy      int64 // workers that have not ended
	stopped   atomic.Bool
	settled   atomic.Bool // the target need not settle any longer
	failures  *failures
	done      chan struct{}
}

// load is the command: it puts the records in, as many at a time as --batch says.
func (s *settings) load(p Program) error {
	if s.count == 0 {
		s.count = s.recordCount
	}
	if s.count < 0 || s.count > s.recordCount {
		return fmt.Errorf("--insert-count %d: it must be from 1 to --record-count (%d)", s.count, s.recordCount)
	}
	if s.batch < 1 || s.batch > 100_000 {
		return fmt.Errorf("--batch %d: it must be from 1 to 100000", s.batch)
	}
	if err := s.makeOutput(record.RecordFile); err != nil {
		return err
	}
	opened, err := s.openTarget(p, true)
	if err != nil {
		return err
	}
	defer opened.Close()
	s.prepare(opened.InProcess())
	sessions, err := s.sessions(opened)
	if err != nil {
		return failure{exitTarget, err}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	l := &loading{
		settings: s, clock: clock.New(), records: s.records(), from: s.start, end: s.start + s.count, next: s.start,
		busy: int64(len(sessions)), failures: newFailures(), done: make(chan struct{}),
	}
	for _, session := range sessions {
		go l.work(session)
	}
	ended := l.watch(signals)
	elapsed := float64(l.clock.Now()) / 1e9
	if settling, ok := opened.(target.Settling); ok && ended == endedWhole {
		if ended, err = l.settle(settling, signals); err != nil {
			return failure{exitTarget, err}
		}
	}
	completed, failed := atomic.LoadInt64(&l.completed), atomic.LoadInt64(&l.failed)
	final := &record.Load{
		Head:    s.head(p, "load", opened, ended, l.clock.Zero().UnixNano(), l.failures.list()),
		Seconds: elapsed, Records: s.count, Completed: completed, Failed: failed, Rate: float64(completed) / elapsed,
	}
	final.Complete = ended == endedWhole && completed+failed == s.count
	final.Refusals = selfcheck.JudgeLoad(s.limits.Errors, completed, failed)
	return s.finish(final, final.Head)
}

func (l *loading) work(session target.Session) {
	defer func() {
		if atomic.AddInt64(&l.busy, -1) == 0 {
			close(l.done)
		}
	}()
	batch := int64(l.settings.batch)
	if rate := l.settings.rate; rate > 0 && float64(batch) > rate/10 {
		batch = int64(rate/10) + 1 // a limit that is kept within a tenth of a second
	}
	operations := make([]*workload.Operation, batch)
	for i := range operations {
		operations[i] = &workload.Operation{}
	}
	for !l.stopped.Load() {
		first := atomic.AddInt64(&l.next, batch) - batch
		if first >= l.end {
			return
		}
		count := batch
		if first+count > l.end {
			count = l.end - first
		}
		if rate := l.settings.rate; rate > 0 {
			l.clock.Sleep(int64(float64(first-l.from)/rate*1e9), l.stopped.Load)
		}
		for i := int64(0); i < count; i++ {
			l.records.Record(first+i, l.settings.seed, operations[i])
		}
		in, err := session.Insert(operations[:count])
		atomic.AddInt64(&l.completed, int64(in))
		if failed := count - int64(in); failed > 0 {
			atomic.AddInt64(&l.failed, failed)
			if err != nil {
				l.failures.add(err.Error())
			}
		}
	}
}

// settle lets the target end what the load has left it to do. It is not of the load's time.
func (l *loading) settle(target target.Settling, signals <-chan os.Signal) (string, error) {
	done := make(chan error, 1)
	go func() { done <- target.Settle(l.settled.Load) }()
	select {
	case err := <-done:
		return endedWhole, err
	case received := <-signals:
		l.settings.received, _ = received.(syscall.Signal)
		l.settled.Store(true)
		return endedInterrupted, <-done
	}
}

// watch prints a line a second until the load is over.
func (l *loading) watch(signals <-chan os.Signal) string {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var before, beforeFailed int64
	last, lastSuccess := 0.0, 0.0
	for second := 1; ; second++ {
		over, ended := false, endedWhole
		select {
		case <-tick.C:
		case <-l.done:
			over = true
		case received := <-signals:
			over, ended = true, endedInterrupted
			l.settings.received, _ = received.(syscall.Signal)
		}
		completed, failed := atomic.LoadInt64(&l.completed), atomic.LoadInt64(&l.failed)
		now := float64(l.clock.Now()) / 1e9
		if completed > before {
			lastSuccess = now
		} else if now-lastSuccess > l.settings.giveUp && !over {
			over, ended = true, endedGaveUp
		}
		if !l.settings.quiet {
			_ = printLine(record.LoadSecond{
				Kind: "second", Second: second, Phase: "load", Elapsed: now, Records: completed, Completed: completed - before,
				Failed: failed - beforeFailed, Rate: float64(completed-before) / (now - last), Share: float64(completed) / float64(l.end-l.from),
			})
		}
		before, beforeFailed, last = completed, failed, now
		if over {
			l.stopped.Store(true)
			if ended != endedWhole {
				select {
				case <-l.done:
				case <-time.After(lastGrace):
				}
			}
			return ended
		}
	}
}
