package stalls

import "testing"

const ms = int64(1e6)

// awake calls once a millisecond, but for the stalls.
func awake(until int64, stalls ...stall) *Watch {
	w := NewWatch()
	for now := int64(0); now <= until; now += ms {
		asleep := false
		for _, s := range stalls {
			asleep = asleep || (now > s.from && now < s.until)
		}
		if !asleep {
			w.Awake(now)
		}
	}
	return w
}

func TestATimeWithoutAnyThreadIsLost(t *testing.T) {
	w := awake(5000*ms, stall{1000 * ms, 2000 * ms}, stall{3000 * ms, 3100 * ms})
	if w.Lost() != 1098*ms || w.Longest() != 999*ms || w.Ended() != 3100*ms {
		t.Errorf("%d ns lost, the longest %d, the last until %d", w.Lost(), w.Longest(), w.Ended())
	}
	for _, c := range []struct{ from, until, lost int64 }{
		{0, 900, 0}, {0, 1500, 499}, {1500, 1600, 100}, {1900, 3050, 149}, {0, 5000, 1098}, {3100, 5000, 0},
	} {
		if lost := w.Within(c.from*ms, c.until*ms); lost != c.lost*ms {
			t.Errorf("from %d to %d ms: %d ns", c.from, c.until, lost)
		}
	}
}

func TestThreadsThatAreAwakeInTurnLoseNothing(t *testing.T) {
	w := NewWatch()
	for now := int64(0); now < 1000*ms; now += ms * 19 / 10 {
		w.Awake(now)
		w.Awake(now - ms) // one that was held up before it called
	}
	if w.Lost() != 0 || w.Within(0, 1000*ms) != 0 {
		t.Errorf("%d ns lost", w.Lost())
	}
}

func TestOldStallsAreForgottenAndNotTheirSum(t *testing.T) {
	w := NewWatch()
	const n = 2*kept + 5
	for i := int64(0); i <= n; i++ {
		w.Awake(i * 3 * ms)
	}
	if w.Lost() != 2*n*ms || w.Within(0, n*3*ms) != 2*kept*ms || len(w.stalls) != kept {
		t.Errorf("%d ns lost, %d within, %d kept", w.Lost(), w.Within(0, n*3*ms), len(w.stalls))
	}
}
