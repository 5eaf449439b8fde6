// Package program is the command line that all of the load generators share.
package program

import (
	"flag"
	"fmt"
	"io"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"benchbrief/loadgen/internal/record"
	"benchbrief/loadgen/internal/selfcheck"
	"benchbrief/loadgen/internal/target"
	"benchbrief/loadgen/internal/workload"
)

// Opener makes the target of a program; it fails when the target can't be used.
type Opener func(options target.Options, records workload.Records) (target.Target, error)

// Program is one of the load generators.
type Program struct {
	Name   string                             // openload-mongodb
	Target string                             // mongodb
	Flags  func(flags *flag.FlagSet) Opener   // adds the target's own flags
	Facts  func() (library string, err error) // for `version`
	// Records changes how records are laid out, once the flags are read; it may be nil.
	Records func(*workload.Records)
}

// settings are the flags as they were given.
type settings struct {
	flags  *flag.FlagSet
	open   Opener
	adjust func(*workload.Records)

	target, peer                 string
	timeout                      float64
	recordCount, start, count    int64
	fieldCount, fieldLength      int
	order                        string
	padding                      int
	readAll, writeAll            bool
	workload, distribution       string
	shares                       [workload.Kinds]float64
	theta, hotSet, hotOperations float64
	scanLength                   int64

	arrivals                           string
	rate                               float64
	spacing, steps                     string
	burstRate, burstEvery, burstLength float64
	phase                              float64
	trace                              string
	traceGap                           float64
	seed                               uint64
	warmUp, duration                   float64
	operations                         int64
	steadyWithin, steadyFrom           float64
	workers, queue, batch              int

	limits selfcheck.Limits
	judge  string
	judged []float64 // the percentiles among what is judged
	giveUp float64
	output string
	quiet  bool

	received syscall.Signal // that ended the run
}

// newSettings makes the flags of a command: run, load or schedule.
func newSettings(p Program, command string) *settings {
	s := &settings{flags: flag.NewFlagSet(p.Name+" "+command, flag.ContinueOnError)}
	f := s.flags
	f.SetOutput(io.Discard)
	s.open, s.adjust = p.Flags(f), p.Records
	f.StringVar(&s.target, "target", p.Target, "what the load goes to")
	f.StringVar(&s.peer, "peer", "", "host:port of the scripted server")
	f.Float64Var(&s.timeout, "timeout", 10, "seconds")
	f.Int64Var(&s.recordCount, "record-count", 0, "records that are loaded")
	f.Int64Var(&s.start, "insert-start", 0, "the number of the first record")
	f.IntVar(&s.fieldCount, "field-count", 10, "fields of a record")
	f.IntVar(&s.fieldLength, "field-length", 100, "bytes of a field")
	f.StringVar(&s.order, "insert-order", "hashed", "hashed or ordered")
	f.IntVar(&s.padding, "zero-padding", 1, "digits of a record's number")
	f.Uint64Var(&s.seed, "seed", 1, "of all that is random")
	f.IntVar(&s.workers, "workers", 64, "operations in flight")
	f.Float64Var(&s.rate, "rate", 0, "operations a second")
	f.Float64Var(&s.limits.Errors, "accept-errors", 0, "share of operations")
	f.Float64Var(&s.giveUp, "give-up", 30, "seconds without a success")
	f.StringVar(&s.output, "output", "", "a directory")
	f.BoolVar(&s.quiet, "quiet", false, "no line a second")
	if command == "load" {
		f.Int64Var(&s.count, "insert-count", 0, "records that this process loads")
		f.IntVar(&s.batch, "batch", 1000, "records a request")
		return s
	}
	f.BoolVar(&s.readAll, "read-all-fields", true, "")
	f.BoolVar(&s.writeAll, "write-all-fields", false, "")
	f.StringVar(&s.workload, "workload", "", "a to f")
	for kind := workload.Kind(0); kind < workload.Kinds; kind++ {
		f.Float64Var(&s.shares[kind], kind.String(), 0, "share of operations")
	}
	f.StringVar(&s.distribution, "distribution", "", "of keys")
	f.Float64Var(&s.theta, "zipfian-constant", 0.99, "")
	f.Float64Var(&s.hotSet, "hotspot-set", 0.2, "share of keys")
	f.Float64Var(&s.hotOperations, "hotspot-operations", 0.8, "share of operations")
	f.Int64Var(&s.scanLength, "scan-length", 100, "records")
	f.StringVar(&s.arrivals, "arrivals", "", "")
	f.StringVar(&s.spacing, "spacing", "poisson", "")
	f.StringVar(&s.steps, "steps", "", "")
	f.Float64Var(&s.burstRate, "burst-rate", 0, "")
	f.Float64Var(&s.burstEvery, "burst-every", 0, "")
	f.Float64Var(&s.burstLength, "burst-length", 0, "")
	f.Float64Var(&s.phase, "phase", 0, "share of a gap")
	f.StringVar(&s.trace, "trace", "", "")
	f.Float64Var(&s.traceGap, "trace-gap", 10, "seconds")
	f.Float64Var(&s.warmUp, "warm-up", 0, "seconds")
	f.Float64Var(&s.duration, "duration", 0, "seconds")
	f.Int64Var(&s.operations, "operations", 0, "")
	f.Float64Var(&s.steadyWithin, "steady-within", 0, "share of the mean")
	f.Float64Var(&s.steadyFrom, "steady-from", 120, "seconds of the window")
	f.IntVar(&s.queue, "queue", 10000, "operations")
	f.Float64Var(&s.limits.Drops, "accept-drops", 0, "")
	f.Float64Var(&s.limits.Lag, "accept-lag", 0.1, "")
	f.StringVar(&s.judge, "judge", "99", "percentiles, mean, max")
	f.Float64Var(&s.limits.Stalls, "accept-stalls", 0.08, "")
	f.Float64Var(&s.limits.CPU, "accept-cpu", 0.9, "")
	f.Float64Var(&s.limits.Pauses, "accept-pauses", 0.01, "")
	f.Float64Var(&s.limits.ClockStep, "accept-clock-step", 0.1, "seconds")
	return s
}

const (
	mostWorkers = 20_000
	mostQueued  = 5_000_000
)

// parse reads the command line, and checks what can be checked without the target.
func (s *settings) parse(arguments []string) error {
	if err := s.once(arguments); err != nil {
		return err
	}
	if err := s.flags.Parse(arguments); err != nil {
		return err
	}
	if rest := s.flags.Args(); len(rest) > 0 {
		return fmt.Errorf("%q is no flag", rest[0])
	}
	for _, f := range []struct {
		name     string
		value    float64
		from, to float64
	}{
		{"timeout", s.timeout, 0.001, 3600}, {"give-up", s.giveUp, 0.1, 86400}, {"warm-up", s.warmUp, 0, 1e7},
		{"duration", s.duration, 0, 1e7}, {"rate", s.rate, 0, 1e7}, {"trace-gap", s.traceGap, 0, 1e8},
		{"accept-errors", s.limits.Errors, 0, 1}, {"accept-drops", s.limits.Drops, 0, 1},
		{"accept-lag", s.limits.Lag, 0, 1e6}, {"accept-cpu", s.limits.CPU, 0, 1e3},
		{"accept-stalls", s.limits.Stalls, 0, 1}, {"phase", s.phase, 0, 1},
		{"accept-pauses", s.limits.Pauses, 0, 1}, {"accept-clock-step", s.limits.ClockStep, 0, 1e9},
		{"workers", float64(s.workers), 1, mostWorkers}, {"queue", float64(s.queue), 0, mostQueued},
		{"zero-padding", float64(s.padding), 0, 100}, {"insert-start", float64(s.start), 0, 1 << 53},
		{"operations", float64(s.operations), 0, 1 << 53},
		{"field-count", float64(s.fieldCount), 1, 10_000}, {"field-length", float64(s.fieldLength), 0, 16 << 20},
	} {
		if !(f.value >= f.from && f.value <= f.to) {
			return fmt.Errorf("--%s %g: it must be from %g to %g", f.name, f.value, f.from, f.to)
		}
	}
	if s.order != "hashed" && s.order != "ordered" {
		return fmt.Errorf("--insert-order %q: it is hashed or ordered", s.order)
	}
	if s.recordCount < 1 {
		return fmt.Errorf("--record-count is missing, or below 1")
	}
	return s.parseJudge()
}

// once refuses a flag that is there twice: the flag package would take the last.
func (s *settings) once(arguments []string) error {
	seen := map[string]bool{}
	for i := 0; i < len(arguments); i++ {
		if !strings.HasPrefix(arguments[i], "-") {
			continue
		}
		name, _, joined := strings.Cut(strings.TrimLeft(arguments[i], "-"), "=")
		known := s.flags.Lookup(name)
		if known == nil {
			continue
		}
		if seen[name] {
			return fmt.Errorf("--%s is there twice", name)
		}
		seen[name] = true
		if boolean, ok := known.Value.(interface{ IsBoolFlag() bool }); !joined && !(ok && boolean.IsBoolFlag()) {
			i++ // its value
		}
	}
	return nil
}

func (s *settings) parseJudge() error {
	if s.judge == "" {
		return nil
	}
	for _, text := range strings.Split(s.judge, ",") {
		name := strings.TrimSpace(text)
		if name == "mean" || name == "max" {
			s.limits.Judged = append(s.limits.Judged, selfcheck.Statistic{Name: name})
			continue
		}
		p, err := strconv.ParseFloat(name, 64)
		if err != nil || !(p > 0 && p < 100) {
			return fmt.Errorf("--judge %q: it lists mean, max, and percentiles above 0 and below 100, such as mean,50,99.9", s.judge)
		}
		s.judged = append(s.judged, p)
		s.limits.Judged = append(s.limits.Judged, selfcheck.Statistic{Name: record.PercentileName(p), Percentile: &p})
	}
	return nil
}

func (s *settings) given(name string) bool {
	found := false
	s.flags.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// percentiles are those of each record, and those that are judged.
func (s *settings) percentiles() []float64 {
	all := append([]float64{}, record.Percentiles...)
	return append(all, s.judged...)
}

func (s *settings) records() workload.Records {
	records := workload.Records{
		Count: s.recordCount, Start: s.start, Hashed: s.order == "hashed", Padding: s.padding,
		Fields: s.fieldCount, FieldLength: s.fieldLength,
	}
	if s.adjust != nil {
		s.adjust(&records)
	}
	return records
}

func (s *settings) options(load bool) target.Options {
	return target.Options{
		Workers: s.workers, Timeout: seconds(s.timeout), Fields: s.fieldCount, Load: load,
	}
}

// text is every flag with its value; no password is among them.
func (s *settings) text() map[string]string {
	all := map[string]string{}
	s.flags.VisitAll(func(f *flag.Flag) { all[f.Name] = Masked(f.Value.String()) })
	return all
}

var password = regexp.MustCompile(`(://[^:/@\s]*:)[^@/\s]*@`)

// Masked hides the passwords of addresses in a text.
func Masked(text string) string {
	if address, err := url.Parse(text); err == nil && address.User != nil {
		if secret, set := address.User.Password(); set && secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return password.ReplaceAllString(text, "${1}***@")
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }
