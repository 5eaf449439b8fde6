package program

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"benchbrief/loadgen/internal/peer"
	"benchbrief/loadgen/internal/record"
)

// standingStill runs the program as a process of its own, by its own limits, and stops it: from a second after its start, so often, for so
// long, a second apart.
func standingStill(t *testing.T, flags string, times int, long time.Duration) *record.Run {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "out")
	words := "run --record-count 1000000 --insert-order ordered --read 1 --quiet --output " + folder + " " + flags
	generator := exec.Command(os.Args[0], strings.Fields(words)...)
	generator.Env = append(os.Environ(), "OPENLOAD_TEST_RUN=1")
	if err := generator.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	for n := 0; n < times; n++ {
		_ = generator.Process.Signal(syscall.SIGSTOP)
		time.Sleep(long)
		_ = generator.Process.Signal(syscall.SIGCONT)
		time.Sleep(time.Second - long)
	}
	_ = generator.Wait()
	if code := generator.ProcessState.ExitCode(); code != exitRefused {
		t.Errorf("code %d", code)
	}
	text, err := os.ReadFile(filepath.Join(folder, record.RecordFile))
	if err != nil {
		t.Fatal(err)
	}
	final := &record.Run{}
	if err := json.Unmarshal(text, final); err != nil {
		t.Fatal(err)
	}
	t.Logf("%v; lag %v, intended %v, stalls %.3f", final.Refusals, final.Self.Lag, final.All.Intended, final.Self.StallShare)
	return final
}

func refused(final *record.Run, code string) bool {
	for _, refusal := range final.Refusals {
		if refusal.Code == code {
			return true
		}
	}
	return false
}

func TestAGeneratorThatStandsStillTakesTheBacklogForItsOwn(t *testing.T) {
	address := serving(t, peer.Script{Servers: 8, Mean: 1e6})
	for _, c := range []struct {
		name, flags string
		times       int
		long        time.Duration
		at          string
		least       float64
	}{
		{"once, eight workers", "--workers 8", 1, time.Second, "p99", 500_000},
		{"once, one worker", "--workers 1 --queue 100000", 1, time.Second, "p99", 500_000},
		{"a tenth of each second", "--workers 8 --judge 95", 4, 100 * time.Millisecond, "p95", 40_000},
	} {
		c := c
		if testing.Short() && c.times == 1 {
			continue // many short stops are the harder case
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			final := standingStill(t, "--target peer --peer "+address+" --arrivals constant --rate 400 --duration 5 "+c.flags, c.times, c.long)
			late, latency := final.Self.Lag[c.at], final.All.Intended[c.at]
			if !refused(final, "lag") || !refused(final, "hiccups") || latency < c.least || late < 0.8*latency {
				t.Errorf("%s: %.0f us late of %.0f us, %v", c.at, late, latency, final.Refusals)
			}
		})
	}
}

func TestAClosedLoopThatStandsStillIsRefused(t *testing.T) {
	t.Parallel()
	address := serving(t, peer.Script{Servers: 8, Mean: 1e6})
	final := standingStill(t, "--target peer --peer "+address+" --arrivals closed --workers 4 --duration 5", 1, time.Second)
	if share := final.Self.StallShare; !refused(final, "hiccups") || share < 0.15 || final.Self.StallLongestUs < 900_000 {
		t.Errorf("%.3f of the time lost, %v", share, final.Refusals)
	}
}

func TestAServerThatStandsStillIsNotTakenForTheGenerator(t *testing.T) {
	// Other work on this machine may keep the generator from running, too: so the best of three.
	// A stop of the generator itself is its own whole: more than nine tenths.
	for attempt := 1; ; attempt++ {
		final, length, _ := stopped(t, "--arrivals constant --rate 400 --duration 5 --workers 8")
		late, latency := final.Self.Lag["p99"], final.All.Intended["p99"]
		t.Logf("%.0f us late of %.0f us; stalls %.3f", late, latency, final.Self.StallShare)
		if latency > 0.8*length && late < 0.5*latency {
			return
		}
		if attempt == 3 {
			t.Fatal("three times")
		}
	}
}
