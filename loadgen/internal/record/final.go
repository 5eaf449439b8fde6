package record

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// The names of the files.
const (
	RecordFile = "record.json"
	LogFile    = "histograms.hlog"

	StatisticsFile = "statistics.jsonl"
)

// Grown is how much the target's counters have grown in some seconds, which ended at a time of the wall clock.
type Grown struct {
	Ended   float64          `json:"ended_at"`
	Seconds float64          `json:"seconds_s"`
	Grew    map[string]int64 `json:"grew"`
}

// Counts are of operations by what became of them.
type Counts struct {
	Offered    int64 `json:"offered"`
	Started    int64 `json:"started"`
	Dropped    int64 `json:"dropped"`
	Abandoned  int64 `json:"abandoned"`
	Completed  int64 `json:"completed"`
	Failed     int64 `json:"failed"`
	Unfinished int64 `json:"unfinished"`
}

// Plus adds up.
func (c Counts) Plus(o Counts) Counts {
	return Counts{
		c.Offered + o.Offered, c.Started + o.Started, c.Dropped + o.Dropped, c.Abandoned + o.Abandoned,
		c.Completed + o.Completed, c.Failed + o.Failed, c.Unfinished + o.Unfinished,
	}
}

// Operation is the record of one kind of operation in the window.
type Operation struct {
	Counts
	NotFound int64   `json:"not_found"`
	Intended Latency `json:"intended_us"`
	Service  Latency `json:"service_us"`
	Lag      Latency `json:"lag_us"`
}

// Latencies are of all operations together.
type Latencies struct {
	Intended Latency `json:"intended_us"`
	Service  Latency `json:"service_us"`
}

// Refusal is why a run's numbers don't stand. Text is what was found, and Advice what helps. The rest is what Text is made of, where it
// has a meaning: so many operations of so many, or a lateness of the generator and the latency of operations that it is held against.
type Refusal struct {
	Code       string   `json:"code"`
	Value      float64  `json:"value"`
	Limit      float64  `json:"limit"`
	Percentile *float64 `json:"percentile"`
	Text       string   `json:"text"`
	Advice     string   `json:"advice"`
	Statistic  string   `json:"statistic"` // p99, mean or max
	Operation  string   `json:"operation"`
	LateUs     *float64 `json:"late_us"`
	IntendedUs *float64 `json:"intended_us"`
	Count      *int64   `json:"count"`
	Of         *int64   `json:"of"`
}

// String is what was found, and what helps.
func (r Refusal) String() string {
	if r.Advice == "" {
		return r.Text
	}
	return r.Text + ": " + r.Advice
}

// Failure is an error and how often it was met.
type Failure struct {
	Text  string `json:"text"`
	Count int64  `json:"count"`
}

// Self is what the generator saw of itself in the window.
type Self struct {
	Lag             Latency `json:"lag_us"`
	Hiccup          Latency `json:"hiccup_us"`
	StallShare      float64 `json:"stall_share"`
	StallLongestUs  float64 `json:"stall_longest_us"`
	Pauses          int64   `json:"gc_pauses"`
	PauseShare      float64 `json:"gc_pause_share"`
	PauseLongestUs  float64 `json:"gc_pause_longest_us"`
	CPUPerOperation float64 `json:"cpu_us_per_operation"`
	CPUShare        float64 `json:"cpu_share"`
	Cores           float64 `json:"cores"`
	MemoryPeak      int64   `json:"memory_peak_bytes"`
	ClockStep       float64 `json:"clock_step_s"`
	Clamped         int64   `json:"clamped"`
}

// Head is what the final records of `run` and `load` share.
type Head struct {
	Kind      string            `json:"kind"` // final
	Format    int               `json:"format"`
	Program   string            `json:"program"`
	Version   string            `json:"version"`
	Library   string            `json:"library"`
	Target    string            `json:"target"`
	Command   string            `json:"command"`
	Settings  map[string]string `json:"settings"`
	Complete  bool              `json:"complete"`
	Ended     string            `json:"ended"`
	Refusals  []Refusal         `json:"refusals"`
	StartedAt float64           `json:"started_at"`
	Errors    []Failure         `json:"errors"`
}

// Steady is whether the window was steady, and when that was seen. What has no value is null.
type Steady struct {
	Steady       bool      `json:"steady"`
	BatchSeconds float64   `json:"batch_s"`
	SeenSeconds  float64   `json:"seen_s"`
	CutSeconds   *float64  `json:"cut_s"`
	Throughput   *Estimate `json:"throughput_per_s"`
	Latency      *Estimate `json:"intended_us"`
	Completed    []int64   `json:"completed"`
	LatencyNs    []int64   `json:"intended_ns"`
}

// Estimate is of the batches after the cut.
type Estimate struct {
	Mean            float64 `json:"mean"`
	HalfWidth       float64 `json:"half_width_share"`
	Autocorrelation float64 `json:"autocorrelation"`
}

// Run is the final record of `run`.
type Run struct {
	Head
	WarmUpSeconds float64 `json:"warm_up_s"`
	WindowSeconds float64 `json:"window_s"`
	Counts
	OfferedRate  float64              `json:"offered_per_s"`
	Throughput   float64              `json:"throughput_per_s"`
	LongestQueue int64                `json:"longest_queue"`
	MostInFlight int64                `json:"most_in_flight"`
	WarmUp       Counts               `json:"warm_up"`
	Operations   map[string]Operation `json:"operations"`
	All          Latencies            `json:"all"`
	Self         Self                 `json:"self"`
	Steady       *Steady              `json:"steady"`
}

// Load is the final record of `load`.
type Load struct {
	Head
	Seconds   float64 `json:"seconds_s"`
	Records   int64   `json:"records"`
	Completed int64   `json:"completed"`
	Failed    int64   `json:"failed"`
	Rate      float64 `json:"rate_per_s"`
}

// Second is the line of a second of `run`.
type Second struct {
	Kind      string             `json:"kind"` // second
	Second    int                `json:"second"`
	Phase     string             `json:"phase"`
	Elapsed   float64            `json:"elapsed_s"`
	Offered   int64              `json:"offered"`
	Started   int64              `json:"started"`
	Dropped   int64              `json:"dropped"`
	Completed int64              `json:"completed"`
	Failed    int64              `json:"failed"`
	Queued    int64              `json:"queued"`
	InFlight  int64              `json:"in_flight"`
	Intended  map[string]float64 `json:"intended_us"`
	Service   map[string]float64 `json:"service_us"`
	Lag       map[string]float64 `json:"lag_us"`
	CPUShare  float64            `json:"cpu_share"`
}

// LoadSecond is the line of a second of `load`.
type LoadSecond struct {
	Kind      string  `json:"kind"` // second
	Second    int     `json:"second"`
	Phase     string  `json:"phase"` // load
	Elapsed   float64 `json:"elapsed_s"`
	Records   int64   `json:"records"`
	Completed int64   `json:"completed"`
	Failed    int64   `json:"failed"`
	Rate      float64 `json:"rate_per_s"`
	Share     float64 `json:"share"`
}

// Save writes a final record into a folder: whole, or not at all.
func Save(folder string, final any) error {
	text, err := json.Marshal(final)
	if err != nil {
		return err
	}
	path := filepath.Join(folder, RecordFile)
	file, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	if _, err = file.Write(append(text, '\n')); err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
