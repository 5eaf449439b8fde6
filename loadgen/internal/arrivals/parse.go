package arrivals

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// MaxTrace bounds the memory of a trace: 8 bytes an arrival.
const MaxTrace = 20_000_000

// ParseSteps reads `1000x30,2000x30`: rates and seconds.
func ParseSteps(text string) ([]Segment, error) {
	var steps []Segment
	for _, step := range strings.Split(text, ",") {
		rate, length, found := strings.Cut(strings.TrimSpace(step), "x")
		r, rateErr := strconv.ParseFloat(rate, 64)
		l, lengthErr := strconv.ParseFloat(length, 64)
		if !found || rateErr != nil || lengthErr != nil {
			return nil, fmt.Errorf("step %q is not a rate and seconds, such as 1000x30", step)
		}
		if !(l > 0) || math.IsInf(l, 0) {
			return nil, fmt.Errorf("step %q lasts %g s: it must be above 0", step, l)
		}
		steps = append(steps, Segment{Rate: r, Length: l})
	}
	return steps, nil
}

// Bursts has a burst at the start of each period, and the base rate for the rest of it.
func Bursts(base, rate, every, length float64) ([]Segment, error) {
	if !(length > 0 && length < every) {
		return nil, fmt.Errorf("bursts of %g s every %g s: a burst must be shorter than the time between starts", length, every)
	}
	return []Segment{{Rate: rate, Length: length}, {Rate: base, Length: every - length}}, nil
}

// ReadTrace reads one due time a line, in seconds. A line out of order, a line that is no time, and a time of more than
// gap seconds without arrivals are errors that name the line: such a trace is not the load that was recorded.
func ReadTrace(from io.Reader, gap float64) (*Recorded, error) {
	lines := bufio.NewScanner(from)
	var due []int64
	previous, number := 0.0, 0
	for lines.Scan() {
		number++
		text := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(text, "#") {
			continue
		}
		at, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil:
			return nil, fmt.Errorf("line %d of the trace: %q is no time in seconds", number, text)
		case !(at >= 0) || at > 1e8:
			return nil, fmt.Errorf("line %d of the trace: %g s must be from 0 to 1e8", number, at)
		case at < previous:
			return nil, fmt.Errorf("line %d of the trace: %g s is before the line above it (%g s): sort the trace", number, at, previous)
		case at-previous > gap:
			return nil, fmt.Errorf("line %d of the trace: nothing arrives from %g s to %g s, longer than --trace-gap (%g s)", number, previous, at, gap)
		case len(due) == MaxTrace:
			return nil, fmt.Errorf("the trace has more than %d arrivals: use a part of it", MaxTrace)
		}
		previous = at
		due = append(due, int64(math.Round(at*float64(time.Second))))
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d of the trace can't be read: %w", number+1, err)
	}
	if len(due) == 0 {
		return nil, fmt.Errorf("the trace has no arrivals")
	}
	return &Recorded{due: due}, nil
}
