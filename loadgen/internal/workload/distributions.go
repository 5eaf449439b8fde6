package workload

import (
	"math"

	"benchbrief/loadgen/internal/random"
)

// Zipfian draws ranks from 0 by Gray et al., "Quickly generating billion-record synthetic databases" (SIGMOD 1994), as YCSB does.
type Zipfian struct {
	theta, alpha, zeta2 float64
}

// NewZipfian takes the exponent, which is above 0 and below 1.
func NewZipfian(theta float64) Zipfian {
	return Zipfian{theta: theta, alpha: 1 / (1 - theta), zeta2: Zeta(2, theta)}
}

// Rank is below items. zeta is Zeta(items, theta).
func (z Zipfian) Rank(source *random.Source, items int64, zeta float64) int64 {
	eta := (1 - math.Pow(2/float64(items), 1-z.theta)) / (1 - z.zeta2/zeta)
	u := source.Float64()
	uz := u * zeta
	if uz < 1 {
		return 0
	}
	if uz < 1+math.Pow(0.5, z.theta) && items > 1 {
		return 1
	}
	rank := int64(float64(items) * math.Pow(eta*u-eta+1, z.alpha))
	if rank >= items {
		return items - 1
	}
	return rank
}

// Zeta is the sum of 1/i^theta for i from 1 to n: term by term up to a million, then by the Euler-Maclaurin formula,
// whose error is below 1e-12 from there on.
func Zeta(n int64, theta float64) float64 {
	const exact = 1_000_000
	sum := 0.0
	for i := int64(1); i <= n && i <= exact; i++ {
		sum += math.Pow(float64(i), -theta)
	}
	if n <= exact {
		return sum
	}
	a, b := float64(exact), float64(n)
	f := func(x float64) float64 { return math.Pow(x, -theta) }
	slope := func(x float64) float64 { return -theta * math.Pow(x, -theta-1) }
	integral := (math.Pow(b, 1-theta) - math.Pow(a, 1-theta)) / (1 - theta)
	return sum + integral + (f(b)-f(a))/2 + (slope(b)-slope(a))/12
}

// scrambledItems and scrambledZeta are YCSB's constants: it draws from ten billion ranks and hashes them onto the records.
const (
	scrambledItems = 10_000_000_000
	scrambledTheta = 0.99
	scrambledZeta  = 26.46902820178302
)

// chooser picks the number of a record that is there; last is the highest number that is acknowledged.
type chooser interface {
	choose(source *random.Source, last int64) int64
}

type uniform struct{ first, count int64 }

func (u uniform) choose(source *random.Source, _ int64) int64 { return u.first + source.Below(u.count) }

type scrambled struct {
	zipfian      Zipfian
	zeta         float64
	first, count int64
}

func newScrambled(first, count int64, theta float64) scrambled {
	zeta := scrambledZeta
	if theta != scrambledTheta {
		zeta = Zeta(scrambledItems, theta)
	}
	return scrambled{NewZipfian(theta), zeta, first, count}
}

func (s scrambled) choose(source *random.Source, last int64) int64 {
	// Numbers that are not inserted yet are drawn again, as in YCSB.
	for {
		number := s.first + HashNumber(s.zipfian.Rank(source, scrambledItems, s.zeta))%s.count
		if number <= last {
			return number
		}
	}
}

// latest is a Zipfian over the age of a record. Its zeta grows with the records; it is renewed at each eighth of growth
// by a term-by-term sum of what came since, so a rank is drawn as if over all of them.
type latest struct {
	zipfian Zipfian
	first   int64
	grown   *growingZeta
}

func (l latest) choose(source *random.Source, last int64) int64 {
	items := last - l.first + 1
	return last - l.zipfian.Rank(source, items, l.grown.of(items))
}

type hotspot struct {
	first, hot, cold int64
	hotShare         float64
}

func newHotspot(first, count int64, set, operations float64) hotspot {
	hot := int64(float64(count) * set)
	if hot < 1 {
		hot = 1
	}
	return hotspot{first, hot, count - hot, operations}
}

func (h hotspot) choose(source *random.Source, _ int64) int64 {
	if h.cold == 0 || source.Float64() < h.hotShare {
		return h.first + source.Below(h.hot)
	}
	return h.first + h.hot + source.Below(h.cold)
}
