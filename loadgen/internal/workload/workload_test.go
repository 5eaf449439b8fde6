package workload

import (
	"fmt"
	"math"
	"sort"
	"testing"
)

func spec(letter string, count int64) Spec {
	return Spec{
		Records: Records{Count: count, Hashed: true, Padding: 1, Fields: 10, FieldLength: 100}, Shares: Mixes[letter].Shares,
		Distribution: Mixes[letter].Distribution, Theta: 0.99, HotSet: 0.2, HotOps: 0.8, LongestScan: 100, ReadAll: true, Seed: 4,
	}
}

func made(t *testing.T, s Spec) *Workload {
	t.Helper()
	w, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestKeysAreThoseOfYCSB(t *testing.T) {
	// The first documents of `ycsb.sh load`, workload A.
	for number, want := range map[int64]string{0: "user6284781860667377211", 1: "user8517097267634966620", 2: "user1820151046732198393"} {
		if key := string(AppendKey(nil, number, true, 1)); key != want {
			t.Errorf("%d: %s", number, key)
		}
	}
	if key := string(AppendKey(nil, 42, false, 8)); key != "user00000042" {
		t.Error(key)
	}
}

func TestMixesHaveTheirShares(t *testing.T) {
	const n = 200_000
	for letter, mix := range Mixes {
		w := made(t, spec(letter, 1000))
		var counts [Kinds]float64
		for i := uint64(0); i < n; i++ {
			counts[w.KindAt(i)]++
		}
		for kind, share := range mix.Shares {
			if limit := 4.5 * math.Sqrt(n*share*(1-share)); math.Abs(counts[kind]-n*share) > limit {
				t.Errorf("%s: %g of %s for a share of %g", letter, counts[kind], Kind(kind), share)
			}
		}
	}
}

// counted gives how often each record was chosen, most often first.
func counted(t *testing.T, s Spec, n uint64) []float64 {
	t.Helper()
	w := made(t, s)
	counts := make([]float64, s.Records.Count)
	var op Operation
	for i := uint64(0); i < n; i++ {
		w.At(i, &op)
		counts[op.Number]++
	}
	return counts
}

func TestUniformKeysPassAChiSquareTest(t *testing.T) {
	s := spec("c", 1000)
	s.Distribution = "uniform"
	chi := 0.0
	for _, c := range counted(t, s, 1_000_000) {
		chi += (c - 1000) * (c - 1000) / 1000
	}
	// 999 degrees of freedom: mean 999, standard deviation 44.7.
	if math.Abs(chi-999) > 4.5*44.7 {
		t.Errorf("chi square is %g", chi)
	}
}

func TestLatestFollowsZipfsLaw(t *testing.T) {
	s := spec("c", 1000)
	s.Distribution = "latest"
	const n = 1_000_000
	counts := counted(t, s, n)
	zeta := Zeta(1000, 0.99)
	// Gray's method is exact for the two first ranks.
	for age := 0; age < 2; age++ {
		want := n * math.Pow(float64(age+1), -0.99) / zeta
		if got := counts[999-age]; math.Abs(got-want) > 4.5*math.Sqrt(want) {
			t.Errorf("the record before %d others: %g of %g", age, got, want)
		}
	}
	half := 0.0
	for age := 0; age < 22; age++ {
		half += counts[999-age] / n
	}
	if want := Zeta(22, 0.99) / zeta; math.Abs(half-want) > 0.02 {
		t.Errorf("the 22 latest have %g of %g", half, want)
	}
}

func TestScrambledZipfianHasYCSBsHotRecords(t *testing.T) {
	s := spec("c", 1000)
	const n = 500_000
	counts := counted(t, s, n)
	hottest := HashNumber(0) % 1001
	if share := counts[hottest] / n; math.Abs(share-1/scrambledZeta) > 0.003 {
		t.Errorf("the hottest record has %g of %g", share, 1/scrambledZeta)
	}
	sort.Sort(sort.Reverse(sort.Float64Slice(counts)))
	if counts[999] == 0 {
		t.Error("a record is never chosen")
	}
}

func TestHotspotGivesTheHotSetItsOperations(t *testing.T) {
	s := spec("c", 1000)
	s.Distribution = "hotspot"
	hot := 0.0
	for _, c := range counted(t, s, 200_000)[:200] {
		hot += c
	}
	if math.Abs(hot/200_000-0.8) > 0.005 {
		t.Errorf("%g", hot/200_000)
	}
}

func TestZetaByFormulaIsTheSum(t *testing.T) {
	sum := 0.0
	for i := 1; i <= 3_000_000; i++ {
		sum += math.Pow(float64(i), -0.99)
	}
	if got := Zeta(3_000_000, 0.99); math.Abs(got-sum) > 1e-9 {
		t.Errorf("%.12f, %.12f", got, sum)
	}
	if got := Zeta(scrambledItems, 0.99); math.Abs(got-scrambledZeta) > 1e-6 {
		t.Errorf("YCSB's constant: %.12f", got)
	}
}

func TestNoReadGoesToARecordThatIsNotAcknowledged(t *testing.T) {
	for _, distribution := range []string{"uniform", "zipfian", "latest", "hotspot"} {
		s := spec("d", 100)
		s.Distribution, s.ExpectedNew = distribution, 1000
		w := made(t, s)
		var pending []Operation
		acknowledged, furthest := int64(99), int64(0)
		for i := uint64(0); i < 20_000; i++ {
			var op Operation
			w.At(i, &op)
			if op.Kind == Insert {
				pending = append(pending, op)
				if len(pending) == 10 { // they end in another order than they began in
					for _, n := range []int{3, 0, 9, 1, 8, 2, 7, 4, 6, 5} {
						w.Ended(&pending[n])
					}
					acknowledged, pending = acknowledged+10, nil
				}
			} else if op.Number > acknowledged {
				t.Fatalf("%s: record %d of %d", distribution, op.Number, acknowledged)
			} else if op.Number > furthest {
				furthest = op.Number
			}
		}
		if fresh := furthest > 99; fresh != (distribution == "zipfian" || distribution == "latest") {
			t.Errorf("%s: the last record that was read is %d", distribution, furthest)
		}
	}
}

func TestAnOperationIsDecidedByItsPlaceAlone(t *testing.T) {
	w, other := made(t, spec("a", 1000)), made(t, spec("a", 1000))
	var op, again Operation
	for _, index := range []uint64{7, 3, 7, 1000} {
		w.At(index, &op)
		other.At(index, &again)
		if op.Kind != w.KindAt(index) || fmt.Sprint(op) != fmt.Sprint(again) {
			t.Errorf("operation %d differs", index)
		}
	}
}

func TestFieldsAreFilledAsLongAsTheyAre(t *testing.T) {
	var op Operation
	Records{Count: 1, Hashed: true, Fields: 3, FieldLength: 17}.Record(5, 1, &op)
	for _, value := range op.Values {
		for _, b := range value {
			if b < ' ' || b > '~' {
				t.Fatalf("%q", value)
			}
		}
	}
	if len(op.Values) != 3 || len(op.Values[2]) != 17 || string(op.Values[0]) == string(op.Values[1]) {
		t.Errorf("%q", op.Values)
	}
}

func TestAWorkloadThatMeansNothingIsRefused(t *testing.T) {
	for name, change := range map[string]func(*Spec){
		"shares of 0.9":    func(s *Spec) { s.Shares[Read] = 0.4 },
		"a negative share": func(s *Spec) { s.Shares = [Kinds]float64{1.5, -0.5} },
		"no records":       func(s *Spec) { s.Records.Count = 0 },
		"no fields":        func(s *Spec) { s.Records.Fields = 0 },
		"a distribution":   func(s *Spec) { s.Distribution = "normal" },
		"theta of 1":       func(s *Spec) { s.Theta = 1 },
		"a hotspot of 2":   func(s *Spec) { s.Distribution, s.HotSet = "hotspot", 2 },
		"no scans":         func(s *Spec) { s.LongestScan = 0 },
	} {
		s := spec("a", 10)
		change(&s)
		if _, err := New(s); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func BenchmarkOperation(b *testing.B) {
	w, _ := New(spec("b", 1_000_000))
	var op Operation
	for i := 0; i < b.N; i++ {
		w.At(uint64(i), &op)
	}
}
