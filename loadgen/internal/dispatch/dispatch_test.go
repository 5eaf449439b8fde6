package dispatch

import (
	"sync"
	"testing"
	"time"

	"benchbrief/loadgen/internal/arrivals"
	"benchbrief/loadgen/internal/clock"
	"benchbrief/loadgen/internal/stalls"
	"benchbrief/loadgen/internal/workload"
)

func reads(uint64) workload.Kind { return workload.Read }

func plan(t *testing.T, rate float64, poisson bool, end time.Duration, workers, queue int) Plan {
	t.Helper()
	process, err := arrivals.NewSpaced([]arrivals.Segment{{Rate: rate}}, false, poisson, 2)
	if err != nil {
		t.Fatal(err)
	}
	return Plan{Arrivals: process, Kind: reads, End: int64(end), Workers: workers, Queue: queue}
}

func TestEachOperationIsHandedOutOnceAndNoneBeforeItIsDue(t *testing.T) {
	const workers = 8
	c := clock.New()
	o := NewOpen(plan(t, 5000, true, time.Second, workers, 100_000), c)
	var mutex sync.Mutex
	var all sync.WaitGroup
	seen := map[uint64]int{}
	for i := 0; i < workers; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			worker := NewWorker()
			for {
				ticket, more := o.Next(worker)
				if !more {
					return
				}
				if ticket.Start < ticket.Due {
					t.Errorf("started at %d, due at %d", ticket.Start, ticket.Due)
				}
				mutex.Lock()
				seen[ticket.Index]++
				mutex.Unlock()
			}
		}()
	}
	all.Wait()
	counts := o.Tally().Counts[Window][workload.Read]
	if counts.Offered != int64(len(seen)) || counts.Started != counts.Offered || counts.Dropped != 0 {
		t.Errorf("%d seen, %+v", len(seen), counts)
	}
	for index, times := range seen {
		if times != 1 || index >= uint64(len(seen)) {
			t.Fatalf("operation %d was handed out %d times", index, times)
		}
	}
}

func TestWhatFindsTheQueueFullIsDroppedAndTheOldestIsServedFirst(t *testing.T) {
	c := clock.New()
	o := NewOpen(plan(t, 1000, false, time.Hour, 1, 5), c)
	time.Sleep(50 * time.Millisecond) // no worker is there
	tally := o.Tally()
	counts := tally.Counts[Window][workload.Read]
	if counts.Offered < 50 || tally.Queued[Window][workload.Read] != 5 || counts.Dropped != counts.Offered-5 || tally.Longest != 5 {
		t.Fatalf("%+v, longest %d", counts, tally.Longest)
	}
	worker := NewWorker()
	for index := uint64(0); index < 5; index++ {
		if ticket, _ := o.Next(worker); ticket.Index != index || ticket.Due != int64(index)*1e6 {
			t.Errorf("%+v in place of operation %d", ticket, index)
		}
	}
	if ticket, _ := o.Next(worker); ticket.Index < uint64(counts.Offered) {
		t.Errorf("operation %d was dropped before", ticket.Index)
	}
}

func TestWithoutAQueueAnOperationNeedsAnIdleWorker(t *testing.T) {
	c := clock.New()
	o := NewOpen(plan(t, 1000, false, 200*time.Millisecond, 1, 0), c)
	worker := NewWorker()
	for {
		if _, more := o.Next(worker); !more {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	counts := o.Tally().Counts[Window][workload.Read]
	// Each takes 10 ms or more, in which ten others come and go.
	if counts.Offered != 200 || counts.Started > 20 || counts.Started < 1 || counts.Dropped != 200-counts.Started {
		t.Errorf("%+v", counts)
	}
}

func TestTheGeneratorIsNotLateForAServerThatIsSlow(t *testing.T) {
	c := clock.New()
	p := plan(t, 1000, false, 500*time.Millisecond, 1, 1000)
	var late, waited int64
	o := NewOpen(p, c)
	worker := NewWorker()
	for n := 0; n < 20; n++ {
		ticket, _ := o.Next(worker)
		waited += ticket.Start - ticket.Due
		late += ticket.Late
		time.Sleep(20 * time.Millisecond) // the target
		worker.Spent(c.Now() - ticket.Start)
	}
	if late > waited/5 || waited < int64(time.Second) {
		t.Errorf("late by %d of %d ns that operations waited", late, waited)
	}
}

func TestWhatTheGeneratorItselfIsBusyWithIsItsLateness(t *testing.T) {
	c := clock.New()
	p := plan(t, 1000, false, 500*time.Millisecond, 1, 1000)
	var late, waited int64
	o := NewOpen(p, c)
	worker := NewWorker()
	for n := 0; n < 20; n++ {
		ticket, _ := o.Next(worker)
		waited += ticket.Start - ticket.Due
		late += ticket.Late
		time.Sleep(20 * time.Millisecond) // not the target
	}
	if late < waited*9/10 {
		t.Errorf("late by %d of %d ns that operations waited", late, waited)
	}
}

func TestStopEndsAllWorkersAndAbandonsTheQueue(t *testing.T) {
	c := clock.New()
	o := NewOpen(plan(t, 0.001, false, 0, 4, 10), c)
	var all sync.WaitGroup
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			worker := NewWorker()
			for more := true; more; {
				_, more = o.Next(worker)
			}
		}()
	}
	time.Sleep(20 * time.Millisecond) // one was handed out at once, the next is due in 1000 s
	o.Stop()
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("workers still wait")
	}
}

// drain takes all operations of a source, with so many workers, and returns within 10 s.
func drain(t *testing.T, from Source, workers ...*Worker) {
	t.Helper()
	var all sync.WaitGroup
	for _, worker := range workers {
		all.Add(1)
		go func(worker *Worker) {
			defer all.Done()
			for more := true; more; {
				_, more = from.Next(worker)
			}
		}(worker)
	}
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("workers still wait")
	}
}

func TestAScheduleThatEndsSoonOffersAllThatIsDueBefore(t *testing.T) {
	o := NewOpen(plan(t, 1000, false, time.Hour, 2, 100_000), clock.New())
	time.Sleep(50 * time.Millisecond)
	end := o.EndSoon()
	drain(t, o, NewWorker(), NewWorker())
	counts := o.Tally().Counts[Window][workload.Read]
	// One that is due at the end itself is of no window.
	if due := end / int64(time.Millisecond); end%int64(time.Second) != 0 || counts.Offered != due || counts.Started != due || counts.Dropped != 0 {
		t.Errorf("ended at %d: %+v", end, counts)
	}
}

func TestAScheduleThatEndsSoonDoesNotWaitForWhatIsDueAfter(t *testing.T) {
	o := NewOpen(plan(t, 0.001, false, time.Hour, 2, 10), clock.New())
	time.AfterFunc(50*time.Millisecond, func() { o.EndSoon() }) // one was handed out at once, the next is due in 1000 s
	drain(t, o, NewWorker(), NewWorker())
	if counts := o.Tally().Counts[Window][workload.Read]; counts.Offered != 1 || counts.Started != 1 {
		t.Errorf("%+v", counts)
	}
}

func TestAScheduleNeverEndsAfterItsPlan(t *testing.T) {
	p := plan(t, 1000, false, 300*time.Millisecond, 1, 10)
	open, closed := NewOpen(p, clock.New()), NewClosed(p, clock.New())
	for _, source := range []Source{open, closed} {
		if end := source.EndSoon(); end != p.End {
			t.Errorf("%d in place of %d", end, p.End)
		}
	}
}

func TestTheEndIsAWholeSecondOfTheWindow(t *testing.T) {
	p := Plan{WarmUp: 700, End: 0}
	for now, want := range map[int64]int64{0: 1_000_000_700, 700: 1_000_000_700, 1_000_000_699: 1_000_000_700, 1_000_000_700: 2_000_000_700} {
		if got := p.soon(now); got != want {
			t.Errorf("at %d: %d in place of %d", now, got, want)
		}
	}
}

func TestAClosedLoopEndsSoon(t *testing.T) {
	c := clock.New()
	loop, worker := NewClosed(Plan{Kind: reads, End: int64(time.Hour)}, c), NewWorker()
	loop.Join(worker)
	end := loop.EndSoon()
	drain(t, loop, worker)
	if now := c.Now(); now < end || end != int64(time.Second) {
		t.Errorf("ended at %d, and the schedule at %d", now, end)
	}
}

func TestAClosedLoopGivesTheNextAtOnceUntilItsCount(t *testing.T) {
	c := clock.New()
	loop := NewClosed(Plan{Kind: reads, Operations: 1000}, c)
	var all sync.WaitGroup
	for i := 0; i < 3; i++ {
		worker := NewWorker()
		loop.Join(worker)
		all.Add(1)
		go func() {
			defer all.Done()
			for more := true; more; {
				_, more = loop.Next(worker)
			}
		}()
	}
	all.Wait()
	if counts := loop.Tally().Counts[Window][workload.Read]; counts.Started != 1000 || counts.Offered != 1000 || counts.Dropped != 0 {
		t.Errorf("%+v", counts)
	}
}

func BenchmarkHandOut(b *testing.B) {
	process, _ := arrivals.NewSpaced([]arrivals.Segment{{Rate: arrivals.MaxRate}}, false, true, 1)
	o := NewOpen(Plan{Arrivals: process, Kind: reads, Workers: 1, Queue: 5_000_000}, clock.New())
	worker := NewWorker()
	for i := 0; i < b.N; i++ {
		o.Next(worker)
	}
}

func TestTheBacklogOfAStallIsTheGeneratorsUntilNothingWaits(t *testing.T) {
	c := clock.New()
	p := plan(t, 1000, false, time.Hour, 1, 1000)
	p.Stalls = stalls.NewWatch()
	o := NewOpen(p, c)
	worker := NewWorker()
	o.Next(worker)
	time.Sleep(100 * time.Millisecond) // no thread calls Awake; the target answers meanwhile
	worker.Spent(c.Now())
	for n := 0; n < 50; n++ { // these wait for a busy worker, behind those that were due in the stall
		ticket, _ := o.Next(worker)
		if wait := ticket.Start - ticket.Due; ticket.Late < wait*9/10 {
			t.Fatalf("operation %d: %d of %d ns", ticket.Index, ticket.Late, wait)
		}
		time.Sleep(100 * time.Microsecond)
		worker.Spent(c.Now() - ticket.Start)
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.owed < int64(90*time.Millisecond) || o.owed > o.lost+int64(50*time.Millisecond) {
		t.Errorf("%d ns owed, of %d lost", o.owed, o.lost)
	}
}
