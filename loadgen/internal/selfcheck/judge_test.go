package selfcheck

import (
	"strings"
	"testing"

	"benchbrief/loadgen/internal/record"
)

var strict = Limits{Lag: 0.1, Stalls: 0.05, CPU: 0.9, Pauses: 0.01, ClockStep: 0.1, Judged: []Statistic{percentile(50), percentile(99)}}

func percentile(p float64) Statistic { return Statistic{record.PercentileName(p), &p} }

func sound() Facts {
	return Facts{
		Offered: 1000, Started: 1000, Completed: 1000, OpenLoop: true, CPUShare: 0.5,
		Judged: map[string]Times{"read": {record.Latency{"p50": 1000, "p99": 5000}, record.Latency{"p50": 20, "p99": 400}}},
		Hiccup: record.Latency{"p50": 20, "p99": 300},
	}
}

func TestASoundRunIsNotRefused(t *testing.T) {
	if refusals := Judge(strict, sound()); len(refusals) != 0 {
		t.Errorf("%+v", refusals)
	}
}

func TestEachThingThatMakesANumberTheGeneratorsIsRefused(t *testing.T) {
	for code, change := range map[string]func(*Facts){
		"drops":   func(f *Facts) { f.Dropped, f.Started, f.Completed = 1, 999, 999 },
		"errors":  func(f *Facts) { f.Failed, f.Completed = 1, 999 },
		"nothing": func(f *Facts) { f.Offered, f.Started, f.Completed, f.Judged = 0, 0, 0, nil },
		"lag":     func(f *Facts) { f.Judged["read"].Lag["p99"] = 501 },
		"hiccups": func(f *Facts) { f.Hiccup = record.Latency{"p50": 101, "p99": 300} },
		"cpu":     func(f *Facts) { f.CPUShare = 0.91 },
		"pauses":  func(f *Facts) { f.PauseShare = 0.011 },
		"clock":   func(f *Facts) { f.ClockStep = -3600 },
	} {
		f := sound()
		change(&f)
		refusals := Judge(strict, f)
		if len(refusals) != 1 || refusals[0].Code != code || refusals[0].Text == "" || strings.Contains(refusals[0].Text, "give it") {
			t.Errorf("%s: %+v", code, refusals)
		}
	}
}

func TestOperationsThatFindNoRecordAreErrorsAndSayMore(t *testing.T) {
	f := sound()
	f.Failed, f.Absent, f.Completed = 108, 100, 892
	limits := strict
	codes := func() (found []string) {
		for _, refusal := range Judge(limits, f) {
			found = append(found, refusal.Code)
		}
		return found
	}
	if found := codes(); len(found) != 2 || found[0] != "errors" || found[1] != "not-found" {
		t.Errorf("%v", found)
	}
	limits.Errors = 0.105
	if found := codes(); len(found) != 1 || found[0] != "errors" {
		t.Errorf("%v", found)
	}
	limits.Errors = 0.11
	if found := codes(); len(found) != 0 {
		t.Errorf("%v", found)
	}
}

func TestAClosedLoopHasNoLagAndALibrarysWorkIsNotTheGenerators(t *testing.T) {
	f := sound()
	f.OpenLoop, f.InProcess, f.CPUShare, f.Hiccup = false, true, 1, record.Latency{"p50": 9000}
	if refusals := Judge(strict, f); len(refusals) != 0 {
		t.Errorf("%+v", refusals)
	}
}

func TestWhatIsAcceptedIsNotRefused(t *testing.T) {
	f := sound()
	f.Dropped, f.Failed, f.Completed, f.Started = 100, 90, 810, 900
	limits := strict
	limits.Drops, limits.Errors = 0.1, 0.1
	if refusals := Judge(limits, f); len(refusals) != 0 {
		t.Errorf("%+v", refusals)
	}
}

func TestMeanAndMaxAreJudgedWhereTheyAreReported(t *testing.T) {
	for _, name := range []string{"mean", "max"} {
		f, limits := sound(), strict
		f.Judged["read"] = Times{record.Latency{"p50": 1000, "p99": 5000, name: 6000}, record.Latency{"p50": 20, "p99": 400, name: 601}}
		if refusals := Judge(limits, f); len(refusals) != 0 {
			t.Errorf("%s is not reported: %+v", name, refusals)
		}
		limits.Judged = append([]Statistic{{Name: name}}, limits.Judged...)
		refusals := Judge(limits, f)
		if len(refusals) != 1 || refusals[0].Code != "lag" || refusals[0].Percentile != nil || !strings.HasPrefix(refusals[0].Text, name+" of read") {
			t.Errorf("%s: %+v", name, refusals)
		}
		f.Judged["read"].Lag[name] = 600
		if refusals := Judge(limits, f); len(refusals) != 0 {
			t.Errorf("%s at its limit: %+v", name, refusals)
		}
	}
}

func TestALongestHiccupThatHeldUpNoOperationRefusesNothing(t *testing.T) {
	f, limits := sound(), strict
	limits.Judged = []Statistic{{Name: "max"}}
	f.Judged["read"] = Times{record.Latency{"max": 6000}, record.Latency{"max": 60}}
	f.Hiccup = record.Latency{"max": 9000}
	if refusals := Judge(limits, f); len(refusals) != 0 {
		t.Errorf("%+v", refusals)
	}
}

func TestAFastOperationIsJudgedBesideSlowOnes(t *testing.T) {
	f := sound()
	f.Judged["scan"] = Times{record.Latency{"p50": 90_000, "p99": 500_000}, record.Latency{"p50": 20, "p99": 500}}
	f.Judged["read"].Lag["p50"] = 101
	f.Judged["all operations"] = Times{record.Latency{"p50": 80_000, "p99": 400_000}, record.Latency{"p50": 20, "p99": 450}}
	refusals := Judge(strict, f)
	if len(refusals) != 1 || refusals[0].Code != "lag" || !strings.HasPrefix(refusals[0].Text, "p50 of read: the generator itself was late by 0.101 ms, of 1 ms intended latency, and 10 % is accepted") {
		t.Errorf("%+v", refusals)
	}
}

func TestAClosedLoopIsJudgedByTheTimeThatItLost(t *testing.T) {
	f := sound()
	f.OpenLoop, f.StallShare = false, 0.0501
	refusals := Judge(strict, f)
	if len(refusals) != 1 || refusals[0].Code != "hiccups" || refusals[0].Percentile != nil || refusals[0].Limit != 0.05 {
		t.Errorf("%+v", refusals)
	}
	if f.StallShare = 0.05; len(Judge(strict, f)) != 0 {
		t.Error("what is accepted is refused")
	}
}
