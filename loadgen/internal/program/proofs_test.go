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
	"os/signal"
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
	if journal := os.Getenv("OPENLOAD_TEST_PEER"); journal != "" {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		fmt.Println(listener.Addr())
		script := peer.Script{Servers: 1, Mean: 1000, Journal: peer.NewJournal()}
		if pause, err := time.ParseDuration(os.Getenv("OPENLOAD_TEST_PAUSE")); err == nil {
			script.PauseLength = int64(pause)
		}
		go peer.Serve(listener, script)
		ended := make(chan os.Signal, 1)
		signal.Notify(ended, syscall.SIGTERM)
		<-ended
		if script.Journal.Save(journal) != nil {
			os.Exit(1)
		}
		os.Exit(0)
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

// scheduled gives each operation of the schedule of some flags: when it is due, and its number.
func scheduled(t *testing.T, flags string, each func(due int64, number uint64)) {
	t.Helper()
	s := newSettings(proven, "schedule")
	if err := s.parse(strings.Fields("--record-count 1099511627776 --insert-order ordered --read 1 " + flags)); err != nil {
		t.Fatal(err)
	}
	o, err := s.offer()
	if err != nil {
		t.Fatal(err)
	}
	var op workload.Operation
	for index := uint64(0); ; index++ {
		due, more := o.process.Next()
		if !more || due >= o.end {
			return
		}
		o.work.At(index, &op)
		each(due, uint64(op.Number))
	}
}

// exact is what a perfect client of a perfect server would measure: the schedule of the same flags, through the script's arithmetic.
func exact(t *testing.T, flags string, script peer.Script) (times []float64) {
	t.Helper()
	station := script.Station(0)
	scheduled(t, flags, func(due int64, number uint64) {
		times = append(times, float64(station.Serve(due, script.Service(number))-due)/1e3)
	})
	sort.Float64s(times)
	return times
}

// replied is what a perfect client would have measured: from when each operation of a run was due until the server really answered it.
func replied(t *testing.T, flags string, final *record.Run, journal *peer.Journal) (times []float64) {
	t.Helper()
	zero := int64(final.StartedAt * 1e9)
	scheduled(t, flags, func(due int64, number uint64) {
		at, ok := journal.At(number)
		if !ok {
			t.Fatalf("request %d was never answered", number)
		}
		times = append(times, float64(at-zero-due)/1e3)
	})
	sort.Float64s(times)
	return times
}

func quantile(sorted []float64, p float64) float64 {
	return sorted[int(p/100*float64(len(sorted))+0.5)-1] // as the library rounds
}

const (
	resolution = 0.002   // of a histogram with three digits, and half of one for a value's bucket
	wayUs      = 1000    // of an answer to the thread that waits for it, on a machine with other work
	mostUs     = 100_000 // by which a machine may be late that proves something, beside whatever else it does
	clockUs    = 2.0     // the record tells its start to less than a microsecond
)

// agree holds the mean and the percentiles of a run against what follows from the server's real answers. What is measured is never less.
// It is more by the way of an answer, and by how late a thread woke that waited for it: as late as threads of this process did in this run, and
// not more than 100 ms, where it does other work.
func agree(final *record.Run, times []float64, percentiles ...float64) (differences []string, agreed bool) {
	agreed = final.Offered == int64(len(times)) && final.Completed == final.Offered
	look := func(name string, want, woke float64) {
		woke = math.Min(woke, mostUs)
		got, verdict := final.All.Intended[name], "agrees"
		if got < want*(1-resolution)-clockUs || got > (want+woke)*(1+resolution)+wayUs {
			verdict, agreed = "DIFFERS", false
		}
		differences = append(differences, fmt.Sprintf("%s: %.0f us by the answers, %.0f us measured, threads late by %.0f us: %s", name, want, got, woke, verdict))
	}
	sum := 0.0
	for _, each := range times {
		sum += each
	}
	look("mean", sum/float64(len(times)), final.Self.Hiccup["mean"])
	for _, p := range percentiles {
		name := record.PercentileName(p)
		look(name, quantile(times, p), final.Self.Hiccup[name])
	}
	return differences, agreed
}

// proves runs up to six times: other work on this machine may keep threads from reading answers, never make a wrong generator right.
func proves(t *testing.T, flags string, script peer.Script, percentiles ...float64) {
	t.Helper()
	for attempt := 1; ; attempt++ {
		script.Journal = peer.NewJournal()
		final, _ := measured(t, flags+" --target peer --peer "+serving(t, script))
		differences, agreed := agree(final, replied(t, flags, final, script.Journal), percentiles...)
		t.Log(strings.Join(differences, "; "))
		if agreed {
			return
		}
		if attempt == 6 {
			t.Fatal("six times")
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
			if testing.Short() && load < 0.9 {
				continue // queues are longest at the highest load
			}
			t.Run(fmt.Sprintf("%s at %g", model.name, load), func(t *testing.T) {
				t.Parallel()
				script := peer.Script{Servers: model.servers, Mean: int64(load * float64(model.servers) * 2e6), Exponential: model.exponential}
				proves(t, "--arrivals poisson --rate 500 --duration 4 --seed 3 --workers 500", script, 50, 90, 99)
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
func stoppable(t *testing.T, more ...string) (address string, process *os.Process, journal func() *peer.Journal) {
	t.Helper()
	server := exec.Command(os.Args[0])
	path := filepath.Join(t.TempDir(), fmt.Sprint(atomic.AddInt32(&runs, 1)))
	server.Env = append(append(os.Environ(), "OPENLOAD_TEST_PEER="+path), more...)
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
	return address, server.Process, func() *peer.Journal {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
		found := peer.NewJournal()
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, &found.Replied)
		}
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
}

// stopped runs with a server that gets SIGSTOP for a second, and gives how long it was stopped.
func stopped(t *testing.T, flags string) (*record.Run, float64, *peer.Journal) {
	t.Helper()
	address, process, journal := stoppable(t)
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
	return final, <-length * 1e6, journal()
}

// seesTheStop holds one run against the server's real answers; and these against the closed form, so that they are those of a stop.
func seesTheStop(t *testing.T) bool {
	const flags = "--arrivals constant --rate 1000 --duration 5 --workers 1500"
	final, length, journal := stopped(t, flags)
	times := replied(t, flags, final, journal)
	differences, agreed := agree(final, times, 50, 99, 99.9)
	t.Log(strings.Join(differences, "; "))
	// Of 5,000 operations 1,000 were due in the stop. It can only be longer for the server than for who stopped it.
	for _, closed := range []struct{ p, us float64 }{{90, length - 500_000}, {99, length - 50_000}, {99.9, length - 5000}} {
		by := quantile(times, closed.p)
		t.Logf("p%g: closed form %.0f us, %.0f us by the answers", closed.p, closed.us, by)
		agreed = agreed && math.Abs(by-closed.us) <= 0.1*length
	}
	return agreed
}

func TestASecondOfSIGSTOPIsSeenByTheOpenLoopAndHiddenByTheClosedOne(t *testing.T) {
	// As above: other work may keep the server from answering when it goes on.
	if !seesTheStop(t) && !seesTheStop(t) && !seesTheStop(t) {
		t.Error("three runs differ from the closed form")
	}
	final, length, _ := stopped(t, "--arrivals closed --workers 1 --duration 4")
	if worst := final.All.Intended["max"]; worst < 0.9*length {
		t.Errorf("the closed loop's worst is %.0f us", worst)
	}
	if p99 := final.All.Intended["p99"]; p99 > 100_000 {
		t.Errorf("a closed loop of one worker should hide the stop: its p99 is %.0f us", p99)
	}
}

func TestTenThousandOperationsInFlightNeedBoundedMemory(t *testing.T) {
	const files = 10_500 // each operation has a connection, whose other end is in another process
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if limit.Cur < files {
		raised := syscall.Rlimit{Cur: files, Max: limit.Max}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &raised); err != nil {
			t.Fatalf("%d files may be open, %d at most, and %d are needed: raise `ulimit -Hn` (%v)", limit.Cur, limit.Max, files, err)
		}
		t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit) })
	}
	address, _, _ := stoppable(t, "OPENLOAD_TEST_PAUSE=3s")
	final, _ := measured(t, "--arrivals constant --rate 6000 --duration 2 --workers 10000 --queue 100000 --target peer --peer "+address)
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
