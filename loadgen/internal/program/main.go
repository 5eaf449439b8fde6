package program

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"

	"benchbrief/loadgen/internal/selfcheck"
	"benchbrief/loadgen/internal/target"
	"benchbrief/loadgen/internal/target/null"
	"benchbrief/loadgen/internal/target/peer"
)

// Version is the generator's own.
const Version = "1.4.0"

// Exit codes.
const (
	exitWhole     = 0
	exitRefused   = 1
	exitUsage     = 2
	exitTarget    = 3
	exitGaveUp    = 4
	exitOutput    = 5
	exitSignalled = 128
)

// stdout is where the lines go; tests let them go nowhere.
var stdout io.Writer = os.Stdout

// failure is an error with the code that the process ends with.
type failure struct {
	code int
	err  error
}

func (f failure) Error() string { return f.err.Error() }

const usage = `Usage: %[1]s load|run|schedule FLAGS
       %[1]s version

Offers load at a schedule that is fixed before the first operation, and measures latency from when each operation was due.
Its README.md has all flags, the output's fields and the exit codes. The flags of each command: %[1]s COMMAND --help
`

// Main runs a command line and gives the exit code.
func Main(p Program, arguments []string) int {
	err := command(p, arguments)
	if err == nil {
		return exitWhole
	}
	var f failure
	if !errors.As(err, &f) {
		f = failure{exitUsage, err}
	}
	if f.err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", p.Name, Masked(f.err.Error()))
	}
	return f.code
}

func command(p Program, arguments []string) error {
	if len(arguments) == 0 {
		return fmt.Errorf("no command: load, run, schedule or version (%s --help says more)", p.Name)
	}
	name, arguments := arguments[0], arguments[1:]
	switch name {
	case "-h", "-help", "--help", "help":
		fmt.Fprintf(stdout, usage, p.Name)
		return nil
	case "version":
		return version(p, arguments)
	case "load", "run", "schedule":
	default:
		return fmt.Errorf("there is no command %q: it is load, run, schedule or version", name)
	}
	s := newSettings(p, name)
	if err := s.parse(arguments); errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(stdout, "Flags of %s %s:\n", p.Name, name)
		s.flags.SetOutput(stdout)
		s.flags.PrintDefaults()
		return nil
	} else if err != nil {
		return err
	}
	switch name {
	case "load":
		return s.load(p)
	case "run":
		return s.run(p)
	}
	return s.printSchedule(stdout)
}

func version(p Program, arguments []string) error {
	if len(arguments) > 0 {
		return fmt.Errorf("version takes no %q", arguments[0])
	}
	library, err := p.Facts()
	if err != nil {
		return failure{exitTarget, err}
	}
	return json.NewEncoder(stdout).Encode(map[string]any{
		"program": p.Name, "version": Version, "format": 1, "target": p.Target, "library": library, "go": runtime.Version(),
	})
}

// openTarget makes the target that --target names.
func (s *settings) openTarget(p Program, load bool) (target.Target, error) {
	var opened target.Target
	var err error
	switch s.target {
	case p.Target:
		opened, err = s.open(s.options(load), s.records())
	case "null":
		opened = null.Open()
	case "peer":
		opened, err = peer.Open(s.peer, s.options(load))
	default:
		return nil, fmt.Errorf("--target %q: it is %s, null or peer", s.target, p.Target)
	}
	if err != nil {
		return nil, failure{exitTarget, err}
	}
	return opened, nil
}

// prepare sets the runtime up, and says how many cores the process may use.
func (s *settings) prepare(inProcess bool) float64 {
	cores := selfcheck.Cores()
	// A thread that sleeps in the kernel, or waits in a library, holds its place for a while: with places to spare nothing waits for one.
	places := int(math.Ceil(cores)) + 2
	if inProcess {
		if places += s.workers; places > 512 {
			places = 512
		}
	}
	runtime.GOMAXPROCS(places)
	// Little is alive at any time, so the collector may wait for more garbage: a pause less often, and less processor time. On a
	// busy machine a pause lasts until the kernel has run each thread that is to stop, and operations are late by as much.
	debug.SetGCPercent(800)
	ballast = make([]byte, ballastSize)
	runtime.GC() // counts the ballast
	return cores
}

// ballast is alive and never touched, so that it takes no memory: there are nine times as many bytes, 144 MiB, before the
// collector runs.
var ballast []byte

const ballastSize = 16 << 20

// makeOutput makes the folder of the results.
func (s *settings) makeOutput(recordFile string) error {
	if s.output == "" {
		return fmt.Errorf("--output is missing: the folder for the results")
	}
	if err := os.MkdirAll(s.output, 0o777); err != nil {
		return failure{exitOutput, err}
	}
	if _, err := os.Stat(s.output + "/" + recordFile); err == nil {
		return fmt.Errorf("--output %s has a %s already: take another folder", s.output, recordFile)
	}
	return nil
}
