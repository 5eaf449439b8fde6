package workload

import (
	"fmt"
	"math"

	"benchbrief/loadgen/internal/random"
)

// Kind is what an operation does.
type Kind int

// The kinds, in the order of YCSB's shares.
const (
	Read Kind = iota
	Update
	Insert
	Scan
	ReadModifyWrite
	Kinds // how many there are
)

var names = [Kinds]string{"read", "update", "insert", "scan", "read-modify-write"}

func (k Kind) String() string { return names[k] }

// Records is how the records are named and filled.
type Records struct {
	Count       int64 // that were loaded
	Start       int64 // the number of the first
	Hashed      bool
	Padding     int
	Fields      int
	FieldLength int
	Numbered    bool // a key is the number alone: the target makes it, and Key stays empty
}

// Spec is a workload as the command line tells it.
type Spec struct {
	Records        Records
	Shares         [Kinds]float64
	Distribution   string
	Theta          float64
	HotSet, HotOps float64
	LongestScan    int64
	ReadAll        bool
	WriteAll       bool
	ExpectedNew    int64 // twice the inserts that the run expects, by which YCSB widens the scrambled Zipfian
	Seed           uint64
}

// Mixes are YCSB's core workloads: shares and distribution.
var Mixes = map[string]struct {
	Shares       [Kinds]float64
	Distribution string
}{
	"a": {[Kinds]float64{0.5, 0.5, 0, 0, 0}, "zipfian"},
	"b": {[Kinds]float64{0.95, 0.05, 0, 0, 0}, "zipfian"},
	"c": {[Kinds]float64{1, 0, 0, 0, 0}, "zipfian"},
	"d": {[Kinds]float64{0.95, 0, 0.05, 0, 0}, "latest"},
	"e": {[Kinds]float64{0, 0, 0.05, 0.95, 0}, "zipfian"},
	"f": {[Kinds]float64{0.5, 0, 0, 0, 0.5}, "zipfian"},
}

// Operation is one, ready to be sent. Key, Fields and Values are valid until the worker's next one.
type Operation struct {
	Kind   Kind
	Number int64
	Key    []byte
	Length int      // Scan: records
	Field  int      // the field that is read or written; -1 for all
	Values [][]byte // by field; those that are written are filled
	Source random.Source
}

// Workload makes operations of places in a schedule. It is safe for use by several goroutines.
type Workload struct {
	spec   Spec
	choose chooser
	insert *sequence
}

// New checks a spec.
func New(spec Spec) (*Workload, error) {
	r := spec.Records
	sum := 0.0
	for kind, share := range spec.Shares {
		if !(share >= 0 && share <= 1) {
			return nil, fmt.Errorf("a share of %g of %s: it must be from 0 to 1", share, Kind(kind))
		}
		sum += share
	}
	switch {
	case math.Abs(sum-1) > 1e-9:
		return nil, fmt.Errorf("the shares of operations sum up to %g, not to 1", sum)
	case r.Count < 1 || r.Count > 1<<53:
		return nil, fmt.Errorf("%d records: there must be at least one", r.Count)
	case r.Fields < 1 || r.FieldLength < 0:
		return nil, fmt.Errorf("%d fields of %d bytes: at least one field of 0 bytes", r.Fields, r.FieldLength)
	case !(spec.Theta > 0 && spec.Theta < 1):
		return nil, fmt.Errorf("a Zipfian constant of %g: it must be above 0 and below 1", spec.Theta)
	case spec.LongestScan < 1:
		return nil, fmt.Errorf("scans of at most %d records: it must be at least 1", spec.LongestScan)
	}
	w := &Workload{spec: spec, insert: newSequence(r.Start + r.Count)}
	switch spec.Distribution {
	case "uniform":
		w.choose = uniform{r.Start, r.Count}
	case "zipfian":
		// YCSB takes the upper end as included.
		w.choose = newScrambled(r.Start, r.Count+spec.ExpectedNew+1, spec.Theta)
	case "latest":
		w.choose = latest{NewZipfian(spec.Theta), r.Start, newGrowingZeta(r.Count, spec.Theta)}
	case "hotspot":
		if !(spec.HotSet >= 0 && spec.HotSet <= 1 && spec.HotOps >= 0 && spec.HotOps <= 1) {
			return nil, fmt.Errorf("a hotspot of %g of the keys for %g of the operations: both are shares", spec.HotSet, spec.HotOps)
		}
		w.choose = newHotspot(r.Start, r.Count, spec.HotSet, spec.HotOps)
	default:
		return nil, fmt.Errorf("distribution %q: it is uniform, zipfian, latest or hotspot", spec.Distribution)
	}
	return w, nil
}

// KindAt is what the operation at a place of the schedule does, whether or not it is ever started.
func (w *Workload) KindAt(index uint64) Kind {
	source := random.At(w.spec.Seed, index)
	return w.kind(&source)
}

func (w *Workload) kind(source *random.Source) Kind {
	u := source.Float64()
	last := Read
	for kind, share := range &w.spec.Shares {
		if share == 0 {
			continue
		}
		last = Kind(kind)
		if u -= share; u < 0 {
			return last
		}
	}
	return last // the shares' sum was a rounding error below 1
}

// At fills in the operation at a place of the schedule. Its numbers of new records are given out in the order of the calls, so that
// a dropped insert leaves no hole.
func (w *Workload) At(index uint64, op *Operation) {
	op.Source = random.At(w.spec.Seed, index)
	source := &op.Source
	op.Kind = w.kind(source)
	if op.Kind == Insert {
		op.Number = w.insert.take()
	} else {
		op.Number = w.choose.choose(source, w.insert.acknowledged())
	}
	r := w.spec.Records
	if !r.Numbered {
		op.Key = AppendKey(op.Key[:0], op.Number, r.Hashed, r.Padding)
	}
	op.Field = -1
	switch op.Kind {
	case Scan:
		op.Length = int(1 + source.Below(w.spec.LongestScan))
	case Insert:
		fill(op, r, -1)
	case Update, ReadModifyWrite:
		if !w.spec.WriteAll {
			op.Field = int(source.Below(int64(r.Fields)))
		}
		fill(op, r, op.Field)
	}
	if op.Kind == Read && !w.spec.ReadAll {
		op.Field = int(source.Below(int64(r.Fields)))
	}
}

// Ended says that an operation is over.
func (w *Workload) Ended(op *Operation) {
	if op.Kind == Insert {
		w.insert.end(op.Number)
	}
}

// Record fills in the insert of a record by its number, for loading.
func (r Records) Record(number int64, seed uint64, op *Operation) {
	op.Kind, op.Number, op.Field = Insert, number, -1
	op.Source = random.At(seed, uint64(number))
	op.Key = AppendKey(op.Key[:0], number, r.Hashed, r.Padding)
	fill(op, r, -1)
}

// fill writes printable bytes into one field, or all.
func fill(op *Operation, r Records, only int) {
	if len(op.Values) != r.Fields {
		op.Values = make([][]byte, r.Fields)
		for i := range op.Values {
			op.Values[i] = make([]byte, r.FieldLength)
		}
	}
	for i, value := range op.Values {
		if only >= 0 && only != i {
			continue
		}
		for at := 0; at < len(value); {
			bits := op.Source.Uint64()
			for n := 0; n < 10 && at < len(value); n++ {
				value[at] = ' ' + byte(bits&63)
				bits >>= 6
				at++
			}
		}
	}
}
