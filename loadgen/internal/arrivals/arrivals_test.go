package arrivals

import (
	"math"
	"sort"
	"strings"
	"testing"
	"time"
)

func take(t *testing.T, p Process, until float64) []float64 {
	t.Helper()
	var due []float64
	for {
		at, more := p.Next()
		seconds := float64(at) / 1e9
		if !more || seconds >= until {
			return due
		}
		if len(due) > 0 && seconds < due[len(due)-1] {
			t.Fatalf("%g s after %g s", seconds, due[len(due)-1])
		}
		due = append(due, seconds)
	}
}

func spaced(t *testing.T, segments []Segment, repeat, poisson bool, seed uint64) *Spaced {
	t.Helper()
	p, err := NewSpaced(segments, repeat, poisson, seed)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestConstantArrivalsAreRightToOneOperationAndOneNanosecond(t *testing.T) {
	for _, rate := range []float64{0.3, 7, 999.9, 1000, 123456.7} {
		due := take(t, spaced(t, []Segment{{Rate: rate}}, false, false, 1), 100)
		if math.Abs(float64(len(due))-100*rate) > 1 {
			t.Errorf("%g a second: %d in 100 s", rate, len(due))
		}
		for i, at := range due {
			if math.Abs(at-float64(i)/rate) > 1e-9 {
				t.Fatalf("%g a second: operation %d is due at %.10f s", rate, i, at)
			}
		}
	}
}

// kolmogorovSmirnov is the p value of a sample that should be uniform over [0, 1), by the limiting distribution.
func kolmogorovSmirnov(sample []float64) float64 {
	sort.Float64s(sample)
	n, d := float64(len(sample)), 0.0
	for i, x := range sample {
		d = math.Max(d, math.Max(x-float64(i)/n, float64(i+1)/n-x))
	}
	x := (math.Sqrt(n) + 0.12 + 0.11/math.Sqrt(n)) * d
	p := 0.0
	for k := 1.0; k < 101; k++ {
		p += 2 * math.Pow(-1, k-1) * math.Exp(-2*k*k*x*x)
	}
	return math.Min(1, p)
}

func TestPoissonGapsPassKolmogorovSmirnov(t *testing.T) {
	small := 0
	for seed := uint64(1); seed <= 100; seed++ {
		due := take(t, spaced(t, []Segment{{Rate: 5000}}, false, true, seed), 4)
		var uniform []float64
		for i := 1; i < len(due); i++ {
			uniform = append(uniform, 1-math.Exp(-(due[i]-due[i-1])*5000))
		}
		p := kolmogorovSmirnov(uniform)
		if p < 0.01 {
			small++
		}
		if p < 1e-5 { // the least of 100 is, with a probability of 0.001
			t.Errorf("seed %d: p = %g", seed, p)
		}
	}
	// Of 100 samples of the right distribution, more than 6 are below 0.01 with a probability of 0.0001.
	if small > 6 {
		t.Errorf("%d of 100 seeds have p < 0.01", small)
	}
}

func TestKolmogorovSmirnovFindsArrivalsThatAreNotPoisson(t *testing.T) {
	due := take(t, spaced(t, []Segment{{Rate: 5000}}, false, false, 1), 4)
	var uniform []float64
	for i := 1; i < len(due); i++ {
		uniform = append(uniform, 1-math.Exp(-(due[i]-due[i-1])*5000))
	}
	if p := kolmogorovSmirnov(uniform); p > 1e-6 {
		t.Errorf("constant arrivals have p = %g", p)
	}
}

func TestRegularArrivalsWithPhasesOfTheirOwnTakeTurnsByTheWallClock(t *testing.T) {
	const rate = 333.0
	takeTurns(t, rate, time.Unix(1_700_000_000, 123456789))
}

func TestGeneratorsThatBeginOnBothSidesOfMidnightTakeTurns(t *testing.T) {
	// Neither a day nor a second is a whole number of gaps.
	takeTurns(t, 333.3333, time.Date(2026, 11, 25, 23, 59, 59, 999_000_000, time.UTC))
}

// takeTurns begins three generators of a rate with thirds of a gap between them, the first one at a time by the wall clock.
func takeTurns(t *testing.T, rate float64, first time.Time) {
	t.Helper()
	for _, apart := range []time.Duration{0, 1234567 * time.Nanosecond, 17*time.Second + 89*time.Microsecond} {
		var all []float64
		for i, begun := range []time.Duration{0, apart, 2 * apart} {
			zero := first.Add(begun)
			p := spaced(t, []Segment{{Rate: rate}}, false, false, 1)
			p.Begin(float64(i)/3, zero)
			due := take(t, p, 60)
			if due[0] < 0 || due[0] > 1/rate {
				t.Errorf("the first of generator %d is due after %g s", i, due[0])
			}
			for _, at := range due {
				all = append(all, begun.Seconds()+at)
			}
		}
		sort.Float64s(all)
		for i := 1; i < len(all); i++ {
			// Once all three have begun, and before the first has ended.
			if all[i-1] > 2*apart.Seconds()+1/rate && all[i] < 60 && math.Abs((all[i]-all[i-1])*3*rate-1) > 1e-3 {
				t.Fatalf("%v apart: %g s between arrivals at %g s, and a third of a gap is %g s", apart, all[i]-all[i-1], all[i], 1/rate/3)
			}
		}
	}
}

func TestPoissonCountsHaveTheVarianceOfTheirMean(t *testing.T) {
	counts := make([]float64, 4000)
	for _, at := range take(t, spaced(t, []Segment{{Rate: 50}}, false, true, 3), 4000) {
		counts[int(at)]++
	}
	mean, variance := 0.0, 0.0
	for _, c := range counts {
		mean += c / 4000
	}
	for _, c := range counts {
		variance += (c - mean) * (c - mean) / 3999
	}
	// The standard error of the mean is 0.112, that of the variance 1.12.
	if math.Abs(mean-50) > 0.45 || math.Abs(variance-50) > 4.5 {
		t.Errorf("mean %g and variance %g of 50 a second", mean, variance)
	}
}

func TestAPoissonProcessStaysOneAcrossSteps(t *testing.T) {
	steps, err := ParseSteps("1000x3, 4000x2,500x5")
	if err != nil {
		t.Fatal(err)
	}
	due := take(t, spaced(t, steps, false, true, 9), 100)
	integral := func(at float64) float64 {
		sum := 0.0
		for _, s := range steps {
			sum += s.Rate * math.Min(at, s.Length)
			if at -= s.Length; at <= 0 {
				break
			}
		}
		return sum
	}
	var uniform []float64
	for i := 1; i < len(due); i++ {
		uniform = append(uniform, 1-math.Exp(integral(due[i-1])-integral(due[i])))
	}
	if p := kolmogorovSmirnov(uniform); p < 0.001 {
		t.Errorf("p = %g", p)
	}
	if last := due[len(due)-1]; last >= 10 {
		t.Errorf("an arrival at %g s of 10", last)
	}
}

func TestStepsAndBurstsOfConstantSpacingOfferTheIntegralOfTheRate(t *testing.T) {
	steps, _ := ParseSteps("100x3,0x2,250.5x2")
	if n := len(take(t, spaced(t, steps, false, false, 1), 100)); n != 801 {
		t.Errorf("%d arrivals of 801", n)
	}
	bursts, err := Bursts(10, 1000, 5, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	due := take(t, spaced(t, bursts, true, false, 1), 50)
	inside := 0
	for _, at := range due {
		if math.Mod(at, 5) < 0.5 {
			inside++
		}
	}
	if math.Abs(float64(len(due))-5450) > 1 || math.Abs(float64(inside)-5000) > 10 {
		t.Errorf("%d arrivals of 5450, %d of 5000 in bursts", len(due), inside)
	}
}

func TestTheSameSeedGivesTheSameArrivals(t *testing.T) {
	a := take(t, spaced(t, []Segment{{Rate: 100}}, false, true, 5), 10)
	b := take(t, spaced(t, []Segment{{Rate: 100}}, false, true, 5), 10)
	c := take(t, spaced(t, []Segment{{Rate: 100}}, false, true, 6), 10)
	if len(a) != len(b) || a[100] != b[100] || a[100] == c[100] {
		t.Error("seeds don't decide")
	}
	// Written down once: another build, machine or version of Go must give these.
	if a[0] != golden[0] || a[1] != golden[1] || a[2] != golden[2] {
		t.Errorf("%.9f %.9f %.9f", a[0], a[1], a[2])
	}
}

func TestATraceIsOfferedAsItIs(t *testing.T) {
	trace, err := ReadTrace(strings.NewReader("# a comment\n0\n0.5\n0.5\n3.25\n"), 10)
	if err != nil {
		t.Fatal(err)
	}
	if due := take(t, trace, 100); len(due) != 4 || due[3] != 3.25 {
		t.Errorf("%v", due)
	}
}

func TestATraceThatIsNotWhatWasRecordedIsRefusedByItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"0\n2\n1\n":                  "line 3 of the trace: 1 s is before the line above it (2 s)",
		"0\n\n1\n":                   "line 2 of the trace: \"\" is no time",
		"0\n1\n12\n":                 "line 3 of the trace: nothing arrives from 1 s to 12 s",
		"11\n":                       "line 1 of the trace: nothing arrives from 0 s to 11 s",
		"-1\n":                       "line 1 of the trace: -1 s must be",
		"NaN\n":                      "line 1 of the trace: NaN s must be",
		"0\nread\n":                  "line 2 of the trace: \"read\" is no time",
		"":                           "no arrivals",
		"# only comments\n":          "no arrivals",
		strings.Repeat("1", 100_000): "line 1 of the trace can't be read",
	} {
		if _, err := ReadTrace(strings.NewReader(text), 10); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func TestRatesAndStepsThatMeanNothingAreRefused(t *testing.T) {
	for _, segments := range [][]Segment{
		{{Rate: 0}}, {{Rate: -1}}, {{Rate: math.NaN()}}, {{Rate: math.Inf(1)}}, {{Rate: 2 * MaxRate}},
		{{Rate: 1, Length: 0}, {Rate: 1, Length: 1}}, {{Rate: 1, Length: math.Inf(1)}},
	} {
		if _, err := NewSpaced(segments, false, true, 1); err == nil {
			t.Errorf("%v", segments)
		}
	}
	for _, text := range []string{"", "1000", "1000x", "x30", "1000x0", "1000x-1", "1000x30,", "1e3xInf"} {
		if _, err := ParseSteps(text); err == nil {
			t.Errorf("%q", text)
		}
	}
	if _, err := Bursts(1, 2, 5, 5); err == nil {
		t.Error("a burst as long as its period")
	}
}

var golden = [3]float64{0.039041227, 0.040160256, 0.060101203}
