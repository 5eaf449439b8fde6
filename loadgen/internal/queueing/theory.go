package queueing

import "math"

// Theory is the distribution of the time that an operation is in a station: waiting and served. Times are seconds.
type Theory interface {
	Mean() float64
	// Beyond is the share of operations that take longer.
	Beyond(seconds float64) float64
}

// Quantile is the time that a share of the operations does not exceed.
func Quantile(t Theory, share float64) float64 {
	low, high := 0.0, t.Mean()
	for t.Beyond(high) > 1-share {
		high *= 2
	}
	for i := 0; i < 200; i++ {
		middle := (low + high) / 2
		if t.Beyond(middle) > 1-share {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// MMC has Poisson arrivals and servers of exponential service times (Erlang 1917; Kleinrock, Queueing Systems I, 3.5).
type MMC struct {
	Arrivals, Service float64 // a second; of one server
	Servers           int
}

// waits is Erlang's C: the share of operations that find all servers busy.
func (q MMC) waits() float64 {
	a, c := q.Arrivals/q.Service, float64(q.Servers)
	blocked := 1.0 // Erlang's B, by its recursion over the servers
	for k := 1; k <= q.Servers; k++ {
		blocked = a * blocked / (float64(k) + a*blocked)
	}
	return c * blocked / (c - a*(1-blocked))
}

// Mean implements Theory.
func (q MMC) Mean() float64 {
	return 1/q.Service + q.waits()/(float64(q.Servers)*q.Service-q.Arrivals)
}

// Beyond implements Theory.
func (q MMC) Beyond(t float64) float64 {
	spare, mu, c := float64(q.Servers)*q.Service-q.Arrivals, q.Service, q.waits()
	if math.Abs(spare-mu) < 1e-9*mu {
		return math.Exp(-mu*t) * (1 + c*mu*t)
	}
	return (1-c)*math.Exp(-mu*t) + c*(spare*math.Exp(-mu*t)-mu*math.Exp(-spare*t))/(spare-mu)
}

// MD1 has Poisson arrivals and one server of a fixed service time (Erlang 1909; Crommelin 1932).
type MD1 struct{ Arrivals, Seconds float64 }

// Mean implements Theory, by Pollaczek and Khinchine.
func (q MD1) Mean() float64 {
	load := q.Arrivals * q.Seconds
	return q.Seconds + load*q.Seconds/(2*(1-load))
}

// Beyond implements Theory. The series alternates; it is right to 1e-6 for times up to 25 services.
func (q MD1) Beyond(t float64) float64 {
	wait := t - q.Seconds
	if wait < 0 {
		return 1
	}
	sum := 0.0
	for k := 0; float64(k) <= wait/q.Seconds; k++ {
		x := q.Arrivals * (float64(k)*q.Seconds - wait) // at most 0
		factorial, _ := math.Lgamma(float64(k) + 1)
		term := 1.0
		if k > 0 {
			term = math.Exp(float64(k)*math.Log(-x) - factorial - x)
			if k%2 == 1 {
				term = -term
			}
		} else {
			term = math.Exp(-x)
		}
		sum += term
	}
	return 1 - (1-q.Arrivals*q.Seconds)*sum
}
