// Package null does nothing, as fast as can be: what is measured is the generator.
package null

import (
	"benchbrief/loadgen/internal/target"
	"benchbrief/loadgen/internal/workload"
)

type nothing struct{}

// Open gives the target.
func Open() target.Target { return nothing{} }

func (nothing) Name() string                                { return "null" }
func (nothing) Library() string                             { return "none" }
func (nothing) InProcess() bool                             { return false }
func (nothing) Session(int) (target.Session, error)         { return nothing{}, nil }
func (nothing) Close()                                      {}
func (nothing) Do(*workload.Operation) target.Outcome       { return target.Outcome{} }
func (nothing) Insert(r []*workload.Operation) (int, error) { return len(r), nil }
