// Package selfcheck is what the generator knows of itself, and whether its numbers can be its target's.
package selfcheck

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"benchbrief/loadgen/internal/clock"
	"benchbrief/loadgen/internal/dispatch"
	"benchbrief/loadgen/internal/record"
	"benchbrief/loadgen/internal/stalls"
)

// Monitor watches the process. Begin, Second and End are called by one goroutine.
type Monitor struct {
	clock   clock.Clock
	stalls  *stalls.Watch
	Hiccup  *record.Gauge
	stopped atomic.Bool
	from    int64        // nanoseconds: the window
	until   atomic.Int64 // 0 for no end

	cores       float64
	lostFrom    int64
	lost        int64
	yields      bool
	pauses      int64
	paused      time.Duration
	longest     time.Duration
	collections int64
	cpuFrom     time.Duration
	begun       int64
	cpu         time.Duration
	length      time.Duration
	step        time.Duration
}

// NewMonitor starts watching; cores are those that the process may use. The window's end is 0 where it is not known yet. With yields
// its thread gives its place up, as the workers do: see program.turn.
func NewMonitor(c clock.Clock, w *stalls.Watch, cores float64, from, until int64, yields bool) *Monitor {
	m := &Monitor{clock: c, stalls: w, Hiccup: record.NewGauge(), cores: cores, from: from, yields: yields}
	m.until.Store(until)
	m.Begin()
	go m.hiccups()
	return m
}

// hiccups does what jHiccup does: what keeps a thread from waking after a millisecond is apt to keep others from working, too.
func (m *Monitor) hiccups() {
	const interval = stalls.Interval
	for n := 0; !m.stopped.Load(); n++ {
		if m.yields && n%5 == 0 {
			runtime.Gosched()
		}
		before := m.clock.Now()
		clock.Nap(interval)
		now := m.clock.Now()
		m.stalls.Awake(now)
		phase := dispatch.Window
		if until := m.until.Load(); before < m.from || (until > 0 && before >= until) {
			phase = dispatch.WarmUp
		}
		m.Hiccup.Add(now-before-int64(interval), int64(interval), phase)
	}
}

// Until changes the window's end to one that has not come yet.
func (m *Monitor) Until(until int64) { m.until.Store(until) }

// Begin says that the window starts.
func (m *Monitor) Begin() {
	m.readPauses()
	m.pauses, m.paused, m.longest = 0, 0, 0
	m.stalls.Forget()
	m.lostFrom = m.stalls.Lost()
	m.cpuFrom, m.begun = CPU(), m.clock.Now()
}

// Second reads what must be read often.
func (m *Monitor) Second() {
	m.readPauses()
	if step := m.clock.Step(); abs(step) > abs(m.step) {
		m.step = step
	}
}

// End says that the window is over.
func (m *Monitor) End() {
	m.Second()
	m.lost = m.stalls.Lost() - m.lostFrom
	m.cpu, m.length = CPU()-m.cpuFrom, time.Duration(m.clock.Now()-m.begun)
}

// Stop ends watching.
func (m *Monitor) Stop() { m.stopped.Store(true) }

func (m *Monitor) readPauses() {
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	fresh := stats.NumGC - m.collections
	m.collections = stats.NumGC
	for i := int64(0); i < fresh && i < int64(len(stats.Pause)); i++ {
		m.pauses++
		m.paused += stats.Pause[i]
		if stats.Pause[i] > m.longest {
			m.longest = stats.Pause[i]
		}
	}
}

// Self is the record of the window; operations are those that ended in it.
func (m *Monitor) Self(operations, clamped int64, lag, hiccup record.Latency) record.Self {
	self := record.Self{
		Lag: lag, Hiccup: hiccup, Pauses: m.pauses, PauseLongestUs: float64(m.longest) / 1e3, Cores: m.cores,
		StallLongestUs: float64(m.stalls.Longest()) / 1e3, MemoryPeak: memoryPeak(), ClockStep: m.step.Seconds(), Clamped: clamped,
	}
	if m.length > 0 {
		self.StallShare = float64(m.lost) / float64(m.length)
		self.PauseShare = m.paused.Seconds() / m.length.Seconds()
		self.CPUShare = m.cpu.Seconds() / m.length.Seconds() / m.cores
	}
	if operations > 0 {
		self.CPUPerOperation = float64(m.cpu) / 1e3 / float64(operations)
	}
	return self
}

// CPU is the processor time of the process so far.
func CPU() time.Duration {
	usage := usage()
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func memoryPeak() int64 {
	usage := usage()
	return usage.Maxrss * 1024
}

func usage() (usage syscall.Rusage) {
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage
}

func abs(d time.Duration) time.Duration {
	if d < 0 {
		return -d
	}
	return d
}
