// Package steady decides whether a run is steady, by the batches so far: MSER-5 finds what is a transient at the beginning, and
// Student's interval of the mean says how well the rest is known.
//
// MSER is K. P. White's ("An effective truncation heuristic for bias reduction in simulation output", Simulation 69, 1997). All sums
// are whole numbers, so that a decision recomputed from the same batches finds the same cut.
package steady

import (
	"math"
	"math/big"
)

const (
	// FewestBatches are needed before a run can be steady: with fewer, the cut is mostly found by chance.
	FewestBatches = 10
	fewestLeft    = 5 // with fewer, the error of a mean is small by chance
)

// Batch is what succeeded in a few seconds.
type Batch struct {
	Completed int64
	Latency   int64 // mean, nanoseconds; 0 where nothing succeeded
}

// Rule says when a run is steady.
type Rule struct {
	Within  float64 // half the width of the mean's interval over the mean, at most
	Latency bool    // of the latency, too: where the load is offered, throughput is what was offered
}

// Estimate is what is known of the batches after the cut.
type Estimate struct {
	Mean            float64
	HalfWidth       float64 // of the 95 % interval of the mean, as a share of the mean
	Autocorrelation float64 // of batches that follow each other; the interval assumes 0
}

// Verdict is a look at the batches so far. Cut is how many are a transient; below 0 where the transient goes into the second half,
// and nothing is reported.
type Verdict struct {
	Steady     bool
	Cut        int
	Throughput *Estimate // operations in a batch
	Latency    *Estimate // nanoseconds
}

// Judge looks at all batches of a window.
func (r Rule) Judge(batches []Batch) Verdict {
	none := Verdict{Cut: -1}
	if len(batches) < FewestBatches {
		return none
	}
	completed, latency := make([]int64, len(batches)), make([]int64, len(batches))
	for i, batch := range batches {
		completed[i], latency[i] = batch.Completed, batch.Latency
	}
	cut := Cut(completed)
	if r.Latency {
		if other := Cut(latency); other > cut {
			cut = other
		}
	}
	if 2*cut > len(batches) {
		return none
	}
	found := Verdict{Steady: true, Cut: cut}
	for _, n := range completed[cut:] {
		found.Steady = found.Steady && n > 0
	}
	found.Throughput = estimate(completed[cut:])
	found.Steady = found.Steady && found.Throughput != nil && found.Throughput.HalfWidth <= r.Within
	if r.Latency {
		found.Latency = estimate(latency[cut:])
		found.Steady = found.Steady && found.Latency != nil && found.Latency.HalfWidth <= r.Within
	}
	return found
}

// sums are of a series: how many, their sum and the sum of their squares.
type sums struct{ n, total, squares *big.Int }

func newSums() sums { return sums{new(big.Int), new(big.Int), new(big.Int)} }

func (s sums) add(value int64) {
	v := big.NewInt(value)
	s.n.Add(s.n, big.NewInt(1))
	s.total.Add(s.total, v)
	s.squares.Add(s.squares, v.Mul(v, v))
}

// spread is n times the sum of the squares about the mean: n * squares - total^2.
func (s sums) spread() *big.Int {
	spread := new(big.Int).Mul(s.n, s.squares)
	return spread.Sub(spread, new(big.Int).Mul(s.total, s.total))
}

// Cut is how many values of a series are a transient: those without which the standard error of the rest's mean is least. Of two
// that are as good, the shorter one.
func Cut(values []int64) int {
	// The squared error is spread / n^3, with n as long as the rest is.
	sum, cut := newSums(), 0
	var least, cubed *big.Int
	for at := len(values) - 1; at >= 0; at-- {
		sum.add(values[at])
		if len(values)-at < fewestLeft {
			continue
		}
		error, n := sum.spread(), new(big.Int).Exp(sum.n, big.NewInt(3), nil)
		if least == nil || new(big.Int).Mul(error, cubed).Cmp(new(big.Int).Mul(least, n)) <= 0 {
			least, cubed, cut = error, n, at
		}
	}
	return cut
}

// estimate is nil where there is no mean to compare with.
func estimate(values []int64) *Estimate {
	sum := newSums()
	for _, value := range values {
		sum.add(value)
	}
	if sum.total.Sign() <= 0 {
		return nil
	}
	n, total, spread := float64(len(values)), float(sum.total), float(sum.spread())
	found := &Estimate{Mean: total / n, HalfWidth: student(n-1) * math.Sqrt(spread/(n-1)) / total}
	if spread > 0 {
		found.Autocorrelation = float(following(values, sum)) / (n * spread)
	}
	return found
}

// following is n^2 times the sum of the products, about the mean, of values that follow each other.
func following(values []int64, sum sums) *big.Int {
	products, last := new(big.Int), len(values)-1
	for i := 0; i < last; i++ {
		products.Add(products, new(big.Int).Mul(big.NewInt(values[i]), big.NewInt(values[i+1])))
	}
	inner := new(big.Int).Lsh(sum.total, 1) // each value is in a product twice, but for the two at the ends
	inner.Sub(inner, big.NewInt(values[0])).Sub(inner, big.NewInt(values[last]))
	found := products.Mul(products, sum.n).Mul(products, sum.n)
	found.Sub(found, inner.Mul(inner, sum.n).Mul(inner, sum.total))
	mean := new(big.Int).Mul(sum.total, sum.total)
	return found.Add(found, mean.Mul(mean, big.NewInt(int64(last))))
}

func float(whole *big.Int) float64 {
	f, _ := new(big.Float).SetInt(whole).Float64()
	return f
}

// student is the 97.5 % quantile of Student's t, by Fisher's expansion in 1 / degrees of freedom. It is 0.03 % low at 4, the fewest
// here, and right to six digits from 13 on.
func student(freedom float64) float64 {
	const z = 1.959963984540054
	z2 := z * z
	series := []float64{
		z,
		z * (z2 + 1) / 4,
		z * ((5*z2+16)*z2 + 3) / 96,
		z * (((3*z2+19)*z2+17)*z2 - 15) / 384,
		z * ((((79*z2+776)*z2+1482)*z2-1920)*z2 - 945) / 92160,
	}
	t := 0.0
	for i := len(series) - 1; i >= 0; i-- {
		t = t/freedom + series[i]
	}
	return t
}
