package program

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"benchbrief/loadgen/internal/arrivals"
	"benchbrief/loadgen/internal/dispatch"
	"benchbrief/loadgen/internal/workload"
)

// offer is what a run offers: when, what, and until when. An end of 0 is not known before.
type offer struct {
	process  arrivals.Process // nil for a closed loop
	work     *workload.Workload
	warmUp   int64 // nanoseconds
	end      int64
	expected float64              // operations, where they can be told
	begin    func(zero time.Time) // lays the schedule onto the wall clock; nil where it has nothing to do with it
}

// offer reads the flags of arrivals and of the workload.
func (s *settings) offer() (*offer, error) {
	o := &offer{warmUp: int64(seconds(s.warmUp))}
	if s.duration > 0 {
		o.end = o.warmUp + int64(seconds(s.duration))
	}
	if err := s.arrive(o); err != nil {
		return nil, err
	}
	if o.end == 0 && s.operations == 0 {
		return nil, fmt.Errorf("--duration or --operations is missing: the run would have no end")
	}
	if o.end > 0 && o.end <= o.warmUp {
		return nil, fmt.Errorf("the run ends after %g s, within its warm-up of %g s", float64(o.end)/1e9, s.warmUp)
	}
	if err := s.checkSteady(); err != nil {
		return nil, err
	}
	if s.operations > 0 && (o.expected == 0 || float64(s.operations) < o.expected) {
		o.expected = float64(s.operations)
	}
	work, err := s.work(o.expected)
	o.work = work
	return o, err
}

// only refuses flags that have no meaning with these arrivals: who gives one expects what will not be.
func (s *settings) only(meant ...string) error {
	for _, name := range []string{"rate", "phase", "spacing", "steps", "burst-rate", "burst-every", "burst-length", "trace", "trace-gap"} {
		has := false
		for _, m := range meant {
			has = has || m == name
		}
		if !has && s.given(name) {
			return fmt.Errorf("--%s has no meaning with --arrivals %s", name, s.arrivals)
		}
	}
	return nil
}

func (s *settings) arrive(o *offer) error {
	if s.spacing != "poisson" && s.spacing != "constant" {
		return fmt.Errorf("--spacing %q: it is poisson or constant", s.spacing)
	}
	poisson := s.spacing == "poisson"
	length := float64(o.end) / 1e9
	// The arrivals have a stream of their own, apart from those of the operations.
	seed := s.seed ^ 0xa5a5a5a5a5a5a5a5
	var err error
	switch s.arrivals {
	case "constant", "poisson":
		meant := []string{"rate", "phase"}
		if s.arrivals == "poisson" {
			meant = meant[:1]
		}
		if err = s.only(meant...); err != nil {
			return err
		}
		o.expected = s.rate * length
		var spaced *arrivals.Spaced
		if spaced, err = arrivals.NewSpaced([]arrivals.Segment{{Rate: s.rate}}, false, s.arrivals == "poisson", seed); err != nil {
			return err
		}
		o.process = spaced
		if s.given("phase") {
			o.begin = func(zero time.Time) { spaced.Begin(s.phase, zero) }
			spaced.Begin(s.phase, time.Unix(0, 0)) // a schedule that is only printed starts with a gap
		}
	case "steps":
		var steps []arrivals.Segment
		if err = s.only("steps", "spacing"); err != nil {
			return err
		}
		if steps, err = arrivals.ParseSteps(s.steps); err != nil {
			return err
		}
		total := 0.0
		for _, step := range steps {
			total += step.Length
			o.expected += step.Rate * step.Length
		}
		if whole := int64(seconds(total)); o.end == 0 || whole < o.end {
			o.end = whole
		}
		o.process, err = arrivals.NewSpaced(steps, false, poisson, seed)
	case "burst":
		var period []arrivals.Segment
		if err = s.only("rate", "burst-rate", "burst-every", "burst-length", "spacing"); err != nil {
			return err
		}
		if period, err = arrivals.Bursts(s.rate, s.burstRate, s.burstEvery, s.burstLength); err != nil {
			return err
		}
		o.expected = length * (s.burstRate*s.burstLength + s.rate*(s.burstEvery-s.burstLength)) / s.burstEvery
		o.process, err = arrivals.NewSpaced(period, true, poisson, seed)
	case "trace":
		if err = s.only("trace", "trace-gap"); err == nil {
			err = s.readTrace(o)
		}
	case "closed":
		err = s.only()
	default:
		err = fmt.Errorf("--arrivals %q: it is constant, poisson, steps, burst, trace or closed", s.arrivals)
	}
	return err
}

func (s *settings) readTrace(o *offer) error {
	file, err := os.Open(s.trace)
	if err != nil {
		return err
	}
	defer file.Close()
	trace, err := arrivals.ReadTrace(file, s.traceGap)
	if err != nil {
		return fmt.Errorf("%s: %w", s.trace, err)
	}
	o.process, o.expected = trace, float64(trace.Len())
	// A trace that ends a little before --duration is followed by a silence, as there may be within it.
	if whole := trace.Last() + 1; o.end == 0 || whole+int64(seconds(s.traceGap)) < o.end {
		o.end = whole
	}
	return nil
}

// work reads the flags of the workload.
func (s *settings) work(expected float64) (*workload.Workload, error) {
	spec := workload.Spec{
		Records: s.records(), Shares: s.shares, Distribution: s.distribution, Theta: s.theta, HotSet: s.hotSet, HotOps: s.hotOperations,
		LongestScan: s.scanLength, ReadAll: s.readAll, WriteAll: s.writeAll, Seed: s.seed,
	}
	if s.workload != "" {
		mix, known := workload.Mixes[s.workload]
		if !known {
			return nil, fmt.Errorf("--workload %q: it is one of a to f", s.workload)
		}
		for kind := workload.Kind(0); kind < workload.Kinds; kind++ {
			if s.given(kind.String()) {
				return nil, fmt.Errorf("--%s has no meaning with --workload", kind)
			}
		}
		spec.Shares = mix.Shares
		if spec.Distribution == "" {
			spec.Distribution = mix.Distribution
		}
	}
	if spec.Distribution == "" {
		spec.Distribution = "uniform"
	}
	spec.ExpectedNew = int64(2 * expected * spec.Shares[workload.Insert])
	return workload.New(spec)
}

// printSchedule writes due time, operation and key of each operation, as a run without a drop would have them.
func (s *settings) printSchedule(to io.Writer) error {
	o, err := s.offer()
	if err != nil {
		return err
	}
	if o.process == nil {
		return fmt.Errorf("a closed loop has no schedule")
	}
	out := bufio.NewWriter(to)
	var op workload.Operation
	for index := uint64(0); s.operations == 0 || int64(index) < s.operations; index++ {
		due, more := o.process.Next()
		if !more || (o.end > 0 && due >= o.end) {
			break
		}
		o.work.At(index, &op)
		o.work.Ended(&op)
		phase := dispatch.Window
		if due < o.warmUp {
			phase = dispatch.WarmUp
		}
		key := string(op.Key)
		if key == "" {
			key = strconv.FormatInt(op.Number, 10)
		}
		if _, err = fmt.Fprintf(out, "%.9f\t%s\t%s\t%s\n", float64(due)/1e9, phase, op.Kind, key); err != nil {
			return err
		}
	}
	return out.Flush()
}
