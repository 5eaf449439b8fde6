package record

import (
	"bufio"
	"fmt"
	"io"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Log is an HdrHistogram interval log, version 1.3, as HistogramLogReader reads it. The library's own writer misspells
// the base time and writes an interval's end where its length belongs.
type Log struct {
	to  *bufio.Writer
	err error
}

// NewLog writes the head of a log whose time 0 is given.
func NewLog(to io.Writer, program string, zero time.Time) *Log {
	l := &Log{to: bufio.NewWriter(to)}
	seconds := float64(zero.UnixNano()) / 1e9
	l.printf("#[Logged with %s; values are nanoseconds]\n#[Histogram log format version 1.3]\n", program)
	l.printf("#[StartTime: %.3f (seconds since epoch), %s]\n", seconds, zero.UTC().Format(time.RFC3339))
	l.printf("#[BaseTime: %.3f (seconds since epoch)]\n#[MaxValueDivisor: 1000000.0]\n", seconds)
	l.printf("\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n")
	return l
}

func (l *Log) printf(format string, values ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.to, format, values...)
	}
}

// write adds one interval; from and until are nanoseconds of the run's clock.
func (l *Log) write(tag string, from, until int64, h *hdr.Histogram) {
	if l.err != nil || h.TotalCount() == 0 {
		return
	}
	encoded, err := h.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		l.err = err
		return
	}
	l.printf("Tag=%s,%.3f,%.3f,%.3f,%s\n", tag, float64(from)/1e9, float64(until-from)/1e9, float64(h.Max())/1e6, encoded)
}

// Flush passes on what is written, and gives the first error so far.
func (l *Log) Flush() error {
	if l.err == nil {
		l.err = l.to.Flush()
	}
	return l.err
}
