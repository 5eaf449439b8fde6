package program

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"benchbrief/loadgen/internal/record"
	"benchbrief/loadgen/internal/target"
)

// counting reads the target's counters in the window, and writes how much each has grown.
type counting struct {
	stop, done chan struct{}
	err        error
}

// startCounting starts, where the target was asked to count.
func (s *settings) startCounting(opened target.Target, r *running) (*counting, error) {
	from, ok := opened.(target.Counting)
	if !ok || from.CountEvery() == 0 {
		return nil, nil
	}
	file, err := os.Create(filepath.Join(s.output, record.StatisticsFile))
	if err != nil {
		return nil, err
	}
	c := &counting{stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(c.done)
		defer file.Close()
		c.err = c.read(from, r, json.NewEncoder(file))
	}()
	return c, nil
}

func (c *counting) read(from target.Counting, r *running, to *json.Encoder) error {
	every := int64(from.CountEvery())
	at := r.offer.warmUp
	if !c.wait(r, at) {
		return nil
	}
	before, last := from.Counters(), r.clock.Now()
	for end := r.end.Load(); end == 0 || at+every <= end; end = r.end.Load() {
		at += every
		if !c.wait(r, at) {
			break
		}
		counters, now := from.Counters(), r.clock.Now()
		grew := map[string]int64{}
		for name, count := range counters {
			grew[name] = count - before[name]
		}
		ended := float64(r.clock.Zero().UnixNano()+now) / 1e9
		if err := to.Encode(record.Grown{Ended: ended, Seconds: float64(now-last) / 1e9, Grew: grew}); err != nil {
			return fmt.Errorf("the counters can't be written: %w", err)
		}
		before, last = counters, now
	}
	return nil
}

func (c *counting) wait(r *running, until int64) bool {
	timer := time.NewTimer(time.Duration(until - r.clock.Now()))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.stop:
		return false
	}
}

// end waits until all is written.
func (c *counting) end() error {
	if c == nil {
		return nil
	}
	close(c.stop)
	<-c.done
	return c.err
}
