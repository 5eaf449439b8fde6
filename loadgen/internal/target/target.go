// Package target is what load goes to.
package target

import (
	"time"

	"benchbrief/loadgen/internal/workload"
)

// Outcome is what became of an operation. Whether a record that is not there is a failure, the caller decides.
type Outcome struct {
	Err      error
	NotFound bool
}

// Session serves one worker.
type Session interface {
	Do(op *workload.Operation) Outcome
	// Insert puts records in, for loading; it gives how many are in.
	Insert(records []*workload.Operation) (int, error)
}

// Target is a server or a library.
type Target interface {
	Name() string
	// Library is what the target is spoken to through, with its version.
	Library() string
	// InProcess says that the target's own work is done in this process.
	InProcess() bool
	Session(worker int) (Session, error)
	Close()
}

// Options are what the command line tells every target.
type Options struct {
	Workers int
	Timeout time.Duration
	Fields  int
	Load    bool // records are to be put in: the place is made if need be
}

// Settling is a target that has work left after a load, such as compactions: Settle ends when that is done, or when stopped says so.
type Settling interface {
	Settle(stopped func() bool) error
}

// Stale is a target that may not show at once what it has acknowledged, such as a replica that is behind.
type Stale interface{ Stale() bool }

// Counting is a target with counters of its own, to be read every so often in the window; 0 for never.
type Counting interface {
	CountEvery() time.Duration
	Counters() map[string]int64
}
