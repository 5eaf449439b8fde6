package queueing

import (
	"fmt"
	"math"
	"testing"

	"benchbrief/loadgen/internal/arrivals"
	"benchbrief/loadgen/internal/random"
)

// batches are the means of equal parts of a sample, whose spread tells the confidence of the whole although neighbours depend on
// each other (batch means; Law, Simulation Modeling and Analysis, 9.5.3).
func batches(sample []float64) (mean, standardError float64) {
	const parts = 50
	size := len(sample) / parts
	means := make([]float64, parts)
	for i := range means {
		for _, x := range sample[i*size : (i+1)*size] {
			means[i] += x / float64(size)
		}
		mean += means[i] / parts
	}
	for _, m := range means {
		standardError += (m - mean) * (m - mean) / (parts - 1)
	}
	return mean, math.Sqrt(standardError / parts)
}

func within(t *testing.T, what string, sample []float64, want float64) {
	t.Helper()
	mean, standardError := batches(sample)
	// 4 standard errors of 50 batches: one right run in 5,000 is outside.
	if math.Abs(mean-want) > 4*standardError {
		t.Errorf("%s: %g (standard error %g), by theory %g", what, mean, standardError, want)
	}
	if standardError > 0.25*want {
		t.Errorf("%s: a standard error of %g for %g proves nothing", what, standardError, want)
	}
}

// TestScheduleAndStationFollowTheory puts the generator's own Poisson arrivals through the station, a million at each load.
func TestScheduleAndStationFollowTheory(t *testing.T) {
	const count, rate = 1_000_000, 1000.0
	for _, load := range []float64{0.3, 0.7, 0.9} {
		for _, c := range []struct {
			name    string
			servers int
			fixed   bool
			theory  Theory
		}{
			{"M/M/1", 1, false, MMC{rate, rate / load, 1}},
			{"M/M/4", 4, false, MMC{rate, rate / load / 4, 4}},
			{"M/D/1", 1, true, MD1{rate, load / rate}},
		} {
			t.Run(fmt.Sprint(c.name, " at ", load), func(t *testing.T) {
				process, err := arrivals.NewSpaced([]arrivals.Segment{{Rate: rate}}, false, true, 11)
				if err != nil {
					t.Fatal(err)
				}
				station, source := NewStation(c.servers), random.New(12)
				mean := load / rate * float64(c.servers) * 1e9
				percentiles := []float64{0.5, 0.9, 0.99}
				times, beyond := make([]float64, count), make([][]float64, len(percentiles))
				for i := range beyond {
					beyond[i] = make([]float64, count)
				}
				limits := []float64{Quantile(c.theory, 0.5), Quantile(c.theory, 0.9), Quantile(c.theory, 0.99)}
				for n := range times {
					due, _ := process.Next()
					service := mean
					if !c.fixed {
						service *= source.Exponential()
					}
					times[n] = float64(station.Serve(due, int64(service))-due) / 1e9
					for i, limit := range limits {
						if times[n] > limit*(1+1e-6) {
							beyond[i][n] = 1
						}
					}
				}
				within(t, "mean", times, c.theory.Mean())
				for i, p := range percentiles {
					if c.fixed && c.theory.Beyond(limits[i]) < (1-p)*0.999 {
						continue // more than this share takes one service exactly: no single time has it
					}
					within(t, fmt.Sprintf("beyond p%g", p*100), beyond[i], 1-p)
				}
			})
		}
	}
}

func TestTheoryHasItsKnownValues(t *testing.T) {
	for _, c := range []struct{ got, want float64 }{
		{MMC{0.5, 1, 1}.Mean(), 2},
		{MMC{0.5, 1, 1}.Beyond(2), math.Exp(-1)},
		{MMC{2, 1, 3}.waits(), 4.0 / 9},                      // Kleinrock's formula by hand
		{MMC{2, 1, 3}.Beyond(1), math.Exp(-1) * (1 + 4.0/9)}, // as much spare capacity as one server
		{MD1{0.5, 1}.Mean(), 1.5},
		{MD1{0.5, 1}.Beyond(1), 0.5}, // who finds it idle does not wait
		{Quantile(MMC{0.5, 1, 1}, 0.99), 2 * math.Log(100)},
	} {
		if math.Abs(c.got-c.want) > 1e-6 {
			t.Errorf("%g, not %g", c.got, c.want)
		}
	}
}

func TestAPausedStationDoesEverythingSoMuchLater(t *testing.T) {
	s := NewStation(1)
	s.Pause(100, 200)
	for _, c := range [][3]int64{{0, 10, 10}, {95, 10, 205}, {150, 10, 215}, {300, 10, 310}} {
		if done := s.Serve(c[0], c[1]); done != c[2] {
			t.Errorf("arrived at %d: done at %d, not %d", c[0], done, c[2])
		}
	}
}
