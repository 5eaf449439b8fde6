package steady

import (
	"encoding/json"
	"math"
	"math/rand"
	"os"
	"testing"
)

// noisy is a series of independent normal values.
func noisy(seed int64, count int, mean, deviation float64) []int64 {
	source, values := rand.New(rand.NewSource(seed)), make([]int64, count)
	for i := range values {
		values[i] = int64(math.Round(mean + deviation*source.NormFloat64()))
	}
	return values
}

func batches(completed []int64) []Batch {
	found := make([]Batch, len(completed))
	for i, n := range completed {
		found[i] = Batch{Completed: n, Latency: 1000}
	}
	return found
}

func TestTheCutIsWhatWhitesStatisticSays(t *testing.T) {
	for seed := int64(0); seed < 200; seed++ {
		values := noisy(seed, 40, 1000, 50)
		for i := 0; i < int(seed%20); i++ {
			values[i] += 300
		}
		least, want := math.Inf(1), 0
		for cut := 0; cut <= len(values)-5; cut++ {
			rest, mean, squares := values[cut:], 0.0, 0.0
			for _, value := range rest {
				mean += float64(value) / float64(len(rest))
			}
			for _, value := range rest {
				squares += (float64(value) - mean) * (float64(value) - mean)
			}
			if error := squares / float64(len(rest)*len(rest)); error < least-1e-9 {
				least, want = error, cut
			}
		}
		if cut := Cut(values); cut != want {
			t.Fatalf("seed %d: cut %d in place of %d", seed, cut, want)
		}
	}
}

func TestASeriesThatDoesNotMoveIsNotCut(t *testing.T) {
	same := make([]int64, 30)
	for i := range same {
		same[i] = 5000
	}
	verdict := Rule{Within: 1e-9, Latency: true}.Judge(batches(same))
	if !verdict.Steady || verdict.Cut != 0 || verdict.Throughput.HalfWidth != 0 || verdict.Throughput.Mean != 5000 {
		t.Errorf("%+v", verdict)
	}
}

// The interval of ten values by hand: mean 100, standard deviation 1.4907, t(9) = 2.26216, so 1.0664 to either side.
func TestTheHalfWidthIsStudents(t *testing.T) {
	values := []int64{98, 102, 99, 101, 100, 100, 99, 101, 98, 102}
	found := estimate(values)
	deviation := math.Sqrt(20.0 / 9)
	if want := 2.262157 * deviation / math.Sqrt(10) / 100; math.Abs(found.HalfWidth-want) > 1e-6 {
		t.Errorf("%g in place of %g", found.HalfWidth, want)
	}
	// About the mean: -2 2 -1 1 0 0 -1 1 -2 2. Products of neighbours: -4 -2 -1 0 0 0 -1 -2 -4, over 20.
	if math.Abs(found.Autocorrelation+14.0/20) > 1e-12 {
		t.Errorf("autocorrelation %g", found.Autocorrelation)
	}
}

func TestStudentsQuantilesAreThoseOfTheTables(t *testing.T) {
	for freedom, want := range map[float64]float64{4: 2.776445, 5: 2.570582, 9: 2.262157, 20: 2.085963, 60: 2.000298, 1000: 1.962339} {
		if got := student(freedom); math.Abs(got/want-1) > 4e-4 {
			t.Errorf("t(%g) = %g in place of %g", freedom, got, want)
		}
	}
}

func TestABeginningThatIsSlowerIsCutAndOneThatReachesTheSecondHalfIsNotSteady(t *testing.T) {
	values := noisy(1, 40, 1000, 10)
	for i := 0; i < 12; i++ {
		values[i] /= 2
	}
	rule := Rule{Within: 0.02}
	if verdict := rule.Judge(batches(values)); !verdict.Steady || verdict.Cut < 12 || verdict.Cut > 14 {
		t.Errorf("%+v", verdict)
	}
	for i := 12; i < 25; i++ {
		values[i] /= 2
	}
	if verdict := rule.Judge(batches(values)); verdict.Steady || verdict.Cut >= 0 || verdict.Throughput != nil {
		t.Errorf("%+v", verdict)
	}
}

func TestTheWidthOfTheIntervalDecides(t *testing.T) {
	judge := func(count int) Verdict { return Rule{Within: 0.02}.Judge(batches(noisy(3, count, 1000, 100))) }
	if verdict := judge(12); verdict.Steady || verdict.Throughput.HalfWidth < 0.02 {
		t.Errorf("%+v", verdict)
	}
	if verdict := judge(300); !verdict.Steady || verdict.Throughput.HalfWidth > 0.02 {
		t.Errorf("%+v", verdict)
	}
}

func TestLatencyMustBeSteadyTooWhereItIsAsked(t *testing.T) {
	made := batches(noisy(4, 40, 1000, 5))
	for i := range made {
		made[i].Latency = int64(100_000 + 5_000*i) // it grows all the time
	}
	if verdict := (Rule{Within: 0.02}).Judge(made); !verdict.Steady || verdict.Latency != nil {
		t.Errorf("%+v", verdict)
	}
	if verdict := (Rule{Within: 0.02, Latency: true}).Judge(made); verdict.Steady {
		t.Errorf("%+v", verdict)
	}
}

func TestABatchWithoutASuccessAfterTheCutIsNotSteady(t *testing.T) {
	made := batches(noisy(5, 400, 1000, 5))
	made[350] = Batch{}
	if verdict := (Rule{Within: 0.5}).Judge(made); verdict.Steady {
		t.Errorf("%+v", verdict)
	}
}

func TestFewerThanTenBatchesAreNeverSteady(t *testing.T) {
	if verdict := (Rule{Within: 0.5}).Judge(batches(noisy(6, 9, 1000, 1))); verdict.Steady || verdict.Cut >= 0 {
		t.Errorf("%+v", verdict)
	}
}

// verdicts are those that the reader of records finds, too: `tests/runners/test_steady_ends.py`.
func TestTheReaderOfRecordsFindsTheSame(t *testing.T) {
	text, err := os.ReadFile("testdata/verdicts.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name      string
		Judges    bool `json:"judges_latency"`
		Completed []int64
		Latency   []int64
		Cut       int
		Estimates []*[3]float64
		Steady    [3]bool
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		made := make([]Batch, len(c.Completed))
		for i := range made {
			made[i] = Batch{Completed: c.Completed[i], Latency: c.Latency[i]}
		}
		for i, within := range []float64{0.001, 0.02, 0.5} {
			verdict := Rule{Within: within, Latency: c.Judges}.Judge(made)
			if verdict.Cut != c.Cut || verdict.Steady != c.Steady[i] {
				t.Errorf("%s, within %g: %+v", c.Name, within, verdict)
			}
			for number, found := range []*Estimate{verdict.Throughput, verdict.Latency} {
				var want *[3]float64
				if number < len(c.Estimates) {
					want = c.Estimates[number]
				}
				if (found == nil) != (want == nil) {
					t.Errorf("%s: %+v in place of %v", c.Name, found, want)
				}
				if found == nil || want == nil {
					continue
				}
				for k, value := range []float64{found.Mean, found.HalfWidth, found.Autocorrelation} {
					if math.Abs(value-want[k]) > 1e-12*math.Max(1, math.Abs(want[k])) {
						t.Errorf("%s: %g in place of %g", c.Name, value, want[k])
					}
				}
			}
		}
	}
}

// Looking again and again stops at a moment at which the interval is narrow by chance: it holds the true mean less often than the 95 %
// that it is said to. Batches that follow each other make it worse.
func TestHowOftenTheMeanIsInsideTheIntervalAtTheEnd(t *testing.T) {
	const runs, mean, deviation, most = 400, 10_000.0, 500.0, 200
	for _, c := range []struct{ follows, least float64 }{{0, 0.80}, {0.5, 0.5}} {
		inside, ended, taken := 0, 0, 0
		for seed := int64(0); seed < runs; seed++ {
			source, state, made := rand.New(rand.NewSource(seed)), 0.0, []Batch{}
			for len(made) < most {
				state = c.follows*state + math.Sqrt(1-c.follows*c.follows)*source.NormFloat64()
				made = append(made, Batch{Completed: int64(math.Round(mean + deviation*state))})
				verdict := Rule{Within: 0.02}.Judge(made)
				if !verdict.Steady {
					continue
				}
				ended++
				taken += len(made)
				if math.Abs(verdict.Throughput.Mean-mean) <= verdict.Throughput.HalfWidth*verdict.Throughput.Mean {
					inside++
				}
				break
			}
		}
		share := float64(inside) / float64(ended)
		t.Logf("autocorrelation %g: %d of %d ended, after %.1f batches; the mean is inside in %.1f %%",
			c.follows, ended, runs, float64(taken)/float64(ended), 100*share)
		if ended < runs*9/10 || share < c.least || share > 0.96 {
			t.Errorf("autocorrelation %g: %d ended, %g inside", c.follows, ended, share)
		}
	}
}
