package program

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"benchbrief/loadgen/internal/peer"
	"benchbrief/loadgen/internal/record"
	"benchbrief/loadgen/internal/steady"
)

// decided recomputes a record's decision from its batches, look by look.
func decided(t *testing.T, final *record.Run, rule steady.Rule) {
	t.Helper()
	said := final.Steady
	from, err := strconv.ParseFloat(final.Settings["steady-from"], 64)
	if err != nil {
		t.Fatal(err)
	}
	made := []steady.Batch{}
	for i := range said.Completed {
		if float64(len(made))*said.BatchSeconds > from-1e-9 && rule.Judge(made).Steady {
			t.Errorf("it was steady after %d of %d batches", len(made), len(said.Completed))
		}
		made = append(made, steady.Batch{Completed: said.Completed[i], Latency: said.LatencyNs[i]})
	}
	verdict := rule.Judge(made)
	if verdict.Steady != said.Steady || (verdict.Cut >= 0) != (said.CutSeconds != nil) {
		t.Errorf("%+v, and by its batches %+v", said, verdict)
	}
	if said.CutSeconds != nil && math.Abs(*said.CutSeconds-float64(verdict.Cut)*said.BatchSeconds) > 1e-9 {
		t.Errorf("a cut of %g s, and by its batches of %d", *said.CutSeconds, verdict.Cut)
	}
	if said.SeenSeconds > final.WindowSeconds+1e-9 || math.Abs(said.SeenSeconds-float64(len(made))*said.BatchSeconds) > 1e-9 {
		t.Errorf("seen after %g s of %g, in %d batches", said.SeenSeconds, final.WindowSeconds, len(made))
	}
}

func TestAnOpenLoopEndsByItselfOnceItIsSteady(t *testing.T) {
	address := serving(t, peer.Script{Servers: 8, Mean: 2000})
	final, code := measured(t, "--target peer --peer "+address+
		" --arrivals constant --rate 500 --warm-up 0.5 --duration 60 --steady-within 0.5 --steady-from 1.5 --accept-pauses 1")
	if code != 0 || !final.Complete || final.Ended != endedWhole || !final.Steady.Steady {
		t.Fatalf("code %d: %+v", code, final.Steady)
	}
	if final.WindowSeconds < 2 || final.WindowSeconds >= 60 || final.WindowSeconds != math.Floor(final.WindowSeconds) {
		t.Errorf("a window of %g s", final.WindowSeconds)
	}
	if due := int64(500 * final.WindowSeconds); final.Offered != due || final.Completed != due || final.Abandoned != 0 {
		t.Errorf("%+v in %g s", final.Counts, final.WindowSeconds)
	}
	if final.Steady.SeenSeconds < 1.5 || final.Steady.Latency == nil || final.Steady.Throughput == nil {
		t.Errorf("%+v", final.Steady)
	}
	if mean := final.Steady.Throughput.Mean; math.Abs(mean/500-1) > 0.5 {
		t.Errorf("%g operations a second in place of 500", mean)
	}
	decided(t, final, steady.Rule{Within: 0.5, Latency: true})
}

func TestARunThatIsNeverSteadyEndsAtItsDurationAndSaysSo(t *testing.T) {
	final, code := measured(t, "--target null --arrivals poisson --rate 200 --duration 3 --steady-within 0.000001 --steady-from 1 --accept-pauses 1")
	if code != 0 || !final.Complete || final.Steady.Steady || final.WindowSeconds != 3 || final.Steady.SeenSeconds != 3 {
		t.Fatalf("code %d, %g s: %+v", code, final.WindowSeconds, final.Steady)
	}
	ended := int64(0)
	for _, n := range final.Steady.Completed {
		ended += n
	}
	// Those that end after the window are of no batch.
	if len(final.Steady.Completed) != 30 || ended > final.Completed || float64(ended) < 0.8*float64(final.Completed) {
		t.Errorf("%d batches with %d of %d operations", len(final.Steady.Completed), ended, final.Completed)
	}
	decided(t, final, steady.Rule{Within: 0.000001, Latency: true})
}

func TestAClosedLoopIsJudgedByItsThroughputAlone(t *testing.T) {
	address := serving(t, peer.Script{Servers: 2, Mean: 2000})
	final, code := measured(t, "--target peer --peer "+address+
		" --arrivals closed --workers 2 --duration 60 --steady-within 0.5 --steady-from 1 --accept-pauses 1")
	if code != 0 || !final.Steady.Steady || final.Steady.Latency != nil || final.WindowSeconds >= 60 {
		t.Fatalf("code %d, %g s: %+v", code, final.WindowSeconds, final.Steady)
	}
	decided(t, final, steady.Rule{Within: 0.5})
}

func TestARunThatWasNotAskedSaysNothingOfItsSteadiness(t *testing.T) {
	if final, _ := measured(t, "--target null --arrivals constant --rate 100 --duration 1"); final.Steady != nil {
		t.Errorf("%+v", final.Steady)
	}
}

func TestFlagsThatCannotFindASteadyStateAreRefused(t *testing.T) {
	for flags, why := range map[string]string{
		"--rate 9 --duration 60 --arrivals constant --steady-within 0":                       "above 0",
		"--rate 9 --duration 60 --arrivals constant --steady-within 0.51":                    "at most 0.5",
		"--rate 9 --duration 60 --arrivals constant --steady-within 0.1 --steady-from 0.9":   "needs 10 batches",
		"--rate 9 --duration 60 --arrivals constant --steady-within 0.1 --steady-from 60":    "below --duration",
		"--rate 9 --arrivals constant --operations 9 --steady-within 0.1 --steady-from 1":    "--operations",
		"--rate 9 --duration 60 --arrivals constant --steady-from 5":                         "without --steady-within",
		"--steps 9x9,8x9 --arrivals steps --steady-within 0.1 --steady-from 1 --duration 18": "rate is not to be steady",
		"--rate 9 --duration 60 --arrivals constant --steady-within nan --steady-from 2":     "above 0",
		"--rate 9 --duration 60 --arrivals constant --steady-within 0.1 --steady-from nan":   "needs 10 batches",
	} {
		s := newSettings(proven, "run")
		if err := s.parse(strings.Fields("--record-count 9 --read 1 --output x " + flags)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.offer(); err == nil || !strings.Contains(fmt.Sprint(err), why) {
			t.Errorf("%s: %v", flags, err)
		}
	}
}
