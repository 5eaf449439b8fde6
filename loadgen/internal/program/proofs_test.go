package program

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"benchbrief/loadgen/internal/peer"
	"benchbrief/loadgen/internal/record"
	"benchbrief/loadgen/internal/target"
	"benchbrief/loadgen/internal/workload"
)

// The test binary is the scripted server, too: one that can be stopped must be a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("OPENLOAD_TEST_PEER") != "" {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		fmt.Println(listener.Addr())
		peer.Serve(listener, peer.Script{Servers: 1, Mean: 1000})
	}
	if os.Getenv("OPENLOAD_TEST_RUN") != "" {
		os.Exit(Main(proven, os.Args[1:]))
	}
	batchLength = 100 * time.Millisecond // ten of which take a second, in place of fifty
	stdout = io.Discard                  // what is measured is read from the record
	os.Exit(m.Run())
}

var proven = Program{
	Name: "openload-test", Target: "none",
	Flags: func(*flag.FlagSet) Opener {
		return func(target.Options, workload.Records) (target.Target, error) { return nil, fmt.Errorf("no target") }
	},
}

var runs int32

// measured runs the program and gives its record and code. Each number of a record is asked for once, nearly: there are 2^40.
func measured(t *testing.T, flags string) (*record.Run, int) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), fmt.Sprint(atomic.AddInt32(&runs, 1)))
	words := strings.Fields("run --record-count 1099511627776 --insert-order ordered --read 1 --accept-lag 1e6 --accept-stalls 1 --quiet --output " + folder + " " + flags)
	code := Main(proven, words)
	text, err := os.ReadFile(filepath.Join(folder, record.RecordFile))
	if err != nil {
		t.Fatalf("code %d: %v", code, err)
	}
	final := &record.Run{}
	if err := json.Unmarshal(text, final); err != nil {
		t.Fatal(err)
	}
	return final, code
}

func serving(t *testing.T, script peer.Script) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go peer.Serve(listener, script)
	return listener.Addr().String()
}

// exact is what a perfect client would measure: the schedule of the same flags, through the script's arithmetic.
func exact(t *testing.T, flags string, script peer.Script) []float64 {
	t.Helper()
	s := newSettings(proven, "schedule")
	if err := s.parse(strings.Fields("--record-count 1099511627776 --insert-order ordered --read 1 " + flags)); err != nil {
		t.Fatal(err)
	}
	o, err := s.offer()
	if err != nil {
		t.Fatal(err)
	}
	var times []float64
	var op workload.Operation
	station := script.Station(0)
	for index := uint64(0); ; index++ {
		due, more := o.process.Next()
		if !more || due >= o.end {
			sort.Float64s(times)
			return times
		}
		o.work.At(index, &op)
		times = append(times, float64(station.Serve(due, script.Service(uint64(op.Number)))-due)/1e3)
	}
}

func quantile(sorted []float64, p float64) float64 {
	return sorted[int(p/100*float64(len(sorted))+0.5)-1] // as the library rounds
}

// agree holds each percentile of a run against the exact one. A measured one may differ by as much as the generator and the machine were
// late at that percentile, and by a few per cent, where operations overtake each other on their way.
func agree(final *record.Run, times []float64, percentiles ...float64) (differences []string, agreed bool) {
	agreed = final.Offered == int64(len(times)) && final.Completed == final.Offered
	for _, p := range percentiles {
		name, want := record.PercentileName(p), quantile(times, p)
		got, late := final.All.Intended[name], final.Self.Lag["p99"]+final.Self.Hiccup["p99"]+2000
		if late > 25_000 {
			late = 25_000 // a machine that is later than this proves nothing
		}
		verdict := "agrees"
		if got < want*0.98-late || got > want*1.05+late {
			verdict, agreed = "DIFFERS", false
		}
		differences = append(differences, fmt.Sprintf("%s: exact %.0f us, measured %.0f us, the machine was late by %.0f us: %s", name, want, got, late, verdict))
	}
	return differences, agreed
}

// proves runs up to three times: other work on this machine may keep the server from its script, never make a wrong generator right.
func proves(t *testing.T, flags string, script peer.Script, percentiles ...float64) {
	t.Helper()
	times := exact(t, flags, script)
	for attempt := 1; ; attempt++ {
		final, _ := measured(t, flags+" --target peer --peer "+serving(t, script))
		differences, agreed := agree(final, times, percentiles...)
		t.Log(strings.Join(differences, "; "))
		if agreed {
			return
		}
		if attempt == 3 {
			t.Fatal("three times")
		}
	}
}

func TestMeasuredQueuesAreWhatTheArithmeticSays(t *testing.T) {
	for _, model := range []struct {
		name        string
		servers     int
		exponential bool
	}{{"M/M/1", 1, true}, {"M/M/4", 4, true}, {"M/D/1", 1, false}} {
		for _, load := range []float64{0.3, 0.7, 0.9} {
			model, load := model, load
			t.Run(fmt.Sprintf("%s at %g", model.name, load), func(t *testing.T) {
				t.Parallel()
				script := peer.Script{Servers: model.servers, Mean: int64(load * float64(model.servers) * 10e6), Exponential: model.exponential}
				proves(t, "--arrivals poisson --rate 100 --duration 4 --seed 3 --workers 200", script, 50, 90, 99)
			})
		}
	}
}

func TestAServerThatStandsStillForASecondCostsWhatTheClosedFormSays(t *testing.T) {
	script := peer.Script{Servers: 1, Mean: 1000, PauseFrom: 2e9, PauseLength: 1e9}
	flags := "--arrivals constant --rate 1000 --duration 5 --workers 1500"
	times := exact(t, flags, script)
	// Of 5,000 operations 1,000 are due in the pause, one after the other a millisecond closer to its end.
	for _, closed := range []struct{ p, us float64 }{{50, 1}, {80, 1}, {81, 50_000}, {90, 500_000}, {99, 950_000}, {99.9, 995_000}} {
		if got := quantile(times, closed.p); math.Abs(got-closed.us) > 1001 {
			t.Errorf("p%g is %.0f us by arithmetic, %.0f us by the closed form", closed.p, got, closed.us)
		}
	}
	proves(t, flags, script, 50, 90, 99, 99.9)
}

// stoppable starts the scripted server as a process.
func stoppable(t *testing.T) (address string, process *os.Process) {
	t.Helper()
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), "OPENLOAD_TEST_PEER=1")
	output, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	if _, err := fmt.Fscanln(output, &address); err != nil {
		t.Fatal(err)
	}
	return address, server.Process
}

// stopped runs with a server that gets SIGSTOP for a second, and gives how long it was stopped.
func stopped(t *testing.T, flags string) (*record.Run, float64) {
	t.Helper()
	address, process := stoppable(t)
	length := make(chan float64, 1)
	go func() {
		time.Sleep(1500 * time.Millisecond)
		_ = process.Signal(syscall.SIGSTOP)
		start := time.Now()
		time.Sleep(time.Second)
		_ = process.Signal(syscall.SIGCONT)
		length <- time.Since(start).Seconds()
	}()
	final, _ := measured(t, flags+" --target peer --peer "+address)
	return final, <-length * 1e6
}

// seesTheStop holds one run against the closed form: of 5,000 operations 1,000 were due in the stop.
func seesTheStop(t *testing.T) bool {
	final, length := stopped(t, "--arrivals constant --rate 1000 --duration 5 --workers 1500")
	slack := final.Self.Lag["p99"] + final.Self.Hiccup["p99"] + 30_000 // a thousand waiting requests are answered in a burst
	seen := true
	for _, closed := range []struct{ p, us float64 }{{90, length - 500_000}, {99, length - 50_000}, {99.9, length - 5000}} {
		got := final.All.Intended[record.PercentileName(closed.p)]
		t.Logf("p%g: closed form %.0f us, measured %.0f us, of which %.0f us may be the machine's", closed.p, closed.us, got, slack)
		seen = seen && math.Abs(got-closed.us) <= slack
	}
	return seen
}

func TestASecondOfSIGSTOPIsSeenByTheOpenLoopAndHiddenByTheClosedOne(t *testing.T) {
	// As above: other work may keep the server from answering when it goes on.
	if !seesTheStop(t) && !seesTheStop(t) && !seesTheStop(t) {
		t.Error("three runs differ from the closed form")
	}
	final, length := stopped(t, "--arrivals closed --workers 1 --duration 4")
	if worst := final.All.Intended["max"]; worst < 0.9*length {
		t.Errorf("the closed loop's worst is %.0f us", worst)
	}
	if p99 := final.All.Intended["p99"]; p99 > 100_000 {
		t.Errorf("a closed loop of one worker should hide the stop: its p99 is %.0f us", p99)
	}
}

func TestTenThousandOperationsInFlightNeedBoundedMemory(t *testing.T) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < 21_000 {
		t.Skipf("each has a connection, with two ends here, and %d files may be open", limit.Cur)
	}
	script := peer.Script{Servers: 1, Mean: 1000, PauseFrom: 0, PauseLength: 3e9}
	final, _ := measured(t, "--arrivals constant --rate 6000 --duration 2 --workers 10000 --queue 100000 --target peer --peer "+serving(t, script))
	if final.MostInFlight < 9900 || final.Completed != 12_000 || !final.Complete {
		t.Errorf("%d in flight, %d completed", final.MostInFlight, final.Completed)
	}
	if final.Self.MemoryPeak > 600<<20 {
		t.Errorf("%d MB of memory", final.Self.MemoryPeak>>20)
	}
}

func TestARateThatCannotBeOfferedIsRefused(t *testing.T) {
	final, code := measured(t, "--target null --arrivals constant --rate 1e7 --duration 0.5 --workers 2 --queue 1000")
	if code != exitRefused || final.Dropped == 0 || final.Offered != 5_000_000 || len(final.Refusals) == 0 {
		t.Errorf("code %d, %d of %d dropped, %v", code, final.Dropped, final.Offered, final.Refusals)
	}
	// There is no target: all that an operation waited was the generator's.
	if late := final.Self.Lag["p50"] / final.All.Intended["p50"]; late < 0.5 {
		t.Errorf("the generator takes %.2f of the latency for its own", late)
	}
}
