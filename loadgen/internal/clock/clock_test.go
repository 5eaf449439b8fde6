package clock

import (
	"testing"
	"time"
)

func never() bool { return false }

func TestSleepNeverWakesBeforeItsTime(t *testing.T) {
	c := New()
	for _, wait := range []time.Duration{0, time.Microsecond, 300 * time.Microsecond, 3 * time.Millisecond, 45 * time.Millisecond} {
		until := c.Now() + int64(wait)
		c.Sleep(until, never)
		if now := c.Now(); now < until {
			t.Errorf("%s: %d ns too early", wait, until-now)
		}
	}
}

func TestSleepIsFinerThanGosOwnTimers(t *testing.T) {
	// The best of many: other work on the machine makes the rest late.
	best := time.Hour
	for i := 0; i < 200; i++ {
		start := time.Now()
		Nap(200 * time.Microsecond)
		if late := time.Since(start) - 200*time.Microsecond; late < best {
			best = late
		}
	}
	if best > 100*time.Microsecond {
		t.Errorf("at best %s late", best)
	}
}

func TestALongSleepEndsSoonAfterTheStop(t *testing.T) {
	c, start := New(), time.Now()
	c.Sleep(int64(time.Hour), func() bool { return time.Since(start) > 50*time.Millisecond })
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("%s", took)
	}
}

func TestAClockThatIsNotSetHasNoStep(t *testing.T) {
	if moved := New().Step(); moved > time.Second || moved < -time.Second {
		t.Errorf("%s", moved)
	}
	if step(-time.Hour, time.Second) != -time.Hour-time.Second || step(time.Hour+time.Second, time.Second) != time.Hour {
		t.Error("a clock that is set is not seen")
	}
}
