//go:build cgo

// Package rocksdb speaks to a RocksDB directory through librocksdb, in this process.
package rocksdb

/*
#cgo CFLAGS: -O2 -Wall -Wextra
#cgo LDFLAGS: -ldl
#include "library.h"
#include <stdlib.h>
*/
import "C"

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"benchbrief/loadgen/internal/target"
	"benchbrief/loadgen/internal/workload"
)

// What this program is made for: the C API of another version may differ.
const (
	soname  = "librocksdb.so.7.8"
	fitting = "7.8."
)

var fileVersion = regexp.MustCompile(`librocksdb\.so\.([0-9]+(?:\.[0-9]+)+)$`)

// library loads librocksdb and gives its version.
func library(name string) (string, error) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	var path *C.char
	if err := failed(C.library_load(text, &path)); err != nil {
		return "", fmt.Errorf("%s can't be used (%w): install RocksDB %sx, Debian's librocksdb7.8", name, err, fitting)
	}
	found := fileVersion.FindStringSubmatch(C.GoString(path))
	if found == nil || !strings.HasPrefix(found[1], fitting) {
		if other := C.GoString(path); other != name {
			name += ", which is " + other + ","
		}
		return "", fmt.Errorf("%s is not RocksDB %sx: give the library of that version, Debian's librocksdb7.8", name, fitting)
	}
	return found[1], nil
}

// Library is librocksdb with its version.
func Library() (string, error) {
	version, err := library(soname)
	return "librocksdb " + version, err
}

func failed(message *C.char) error {
	if message == nil {
		return nil
	}
	defer C.free(unsafe.Pointer(message))
	return errors.New(C.GoString(message))
}

// The layouts of data.
const (
	layoutDBBench = "db_bench"
	layoutYCSB    = "ycsb"
	familyYCSB    = "usertable"
	namesYCSB     = "CF_NAMES" // the file by which YCSB's binding knows the column families
)

type options struct {
	path, layout, library string
	file, own             string // an options file, and further options
	keySize, valueSize    int
	cache                 uint64
	noWAL, sync           bool
	statistics            string
	every                 float64
}

// Flags adds the target's flags.
func Flags(flags *flag.FlagSet) (open func(target.Options, workload.Records) (target.Target, error), adjust func(*workload.Records)) {
	o := &options{}
	flags.StringVar(&o.path, "db-path", "", "the directory of the database")
	flags.StringVar(&o.layout, "layout", layoutDBBench, "db_bench or ycsb")
	flags.StringVar(&o.library, "library", soname, "the library, by its name or path")
	flags.IntVar(&o.keySize, "key-size", 16, "bytes, of layout db_bench")
	flags.IntVar(&o.valueSize, "value-size", 100, "bytes, of layout db_bench")
	flags.Uint64Var(&o.cache, "cache-size", 8<<20, "bytes of the block cache")
	flags.BoolVar(&o.noWAL, "disable-wal", false, "write without a log")
	flags.BoolVar(&o.sync, "sync", false, "each write waits for the disk")
	flags.StringVar(&o.file, "options-file", "", "an options file of RocksDB's")
	flags.StringVar(&o.own, "options", "", "options in RocksDB's words: name=value;...")
	flags.StringVar(&o.statistics, "statistics", "", "counters of RocksDB's to keep, separated by commas")
	flags.Float64Var(&o.every, "statistics-every", 1, "seconds")
	open = func(t target.Options, records workload.Records) (target.Target, error) { return o.open(t, records) }
	adjust = func(records *workload.Records) {
		if o.layout == layoutDBBench { // a value has no fields, and a key is the number
			records.Fields, records.FieldLength, records.Numbered = 1, o.valueSize, true
		}
	}
	return open, adjust
}

type database struct {
	options
	store    *C.store
	version  string
	fields   []string
	counters []string
}

// looked is how many of the first records may be missing before a database counts as empty: fillrandom leaves gaps.
const looked = 1000

func (o *options) open(t target.Options, records workload.Records) (target.Target, error) {
	family := "default"
	switch {
	case o.path == "":
		return nil, errors.New("--db-path is missing: the directory of the database")
	case o.layout == layoutYCSB:
		family = familyYCSB
	case o.layout != layoutDBBench:
		return nil, fmt.Errorf("--layout %q: it is db_bench or ycsb", o.layout)
	case o.keySize < 8 || o.keySize > 4096 || o.valueSize < 1 || o.valueSize > 64<<20:
		return nil, fmt.Errorf("keys of %d and values of %d bytes: from 8 to 4096, and from 1 to 64 MiB", o.keySize, o.valueSize)
	}
	if o.every < 0.1 || o.every > 3600 {
		return nil, fmt.Errorf("--statistics-every %g: it must be from 0.1 to 3600", o.every)
	}
	version, err := library(o.library)
	if err != nil {
		return nil, err
	}
	_, missing := os.Stat(filepath.Join(o.path, "CURRENT"))
	if missing != nil && !t.Load {
		return nil, fmt.Errorf("%s is no RocksDB database: load it first", o.path)
	}
	d := &database{options: *o, version: version}
	for i := 0; i < t.Fields; i++ {
		d.fields = append(d.fields, "field"+strconv.Itoa(i))
	}
	if o.statistics != "" && !t.Load {
		d.counters = strings.Split(o.statistics, ",")
	}
	if err := d.openStore(family, missing != nil); err != nil {
		return nil, fmt.Errorf("%s can't be opened: %w", o.path, err)
	}
	if missing != nil && o.layout == layoutYCSB {
		if err := os.WriteFile(filepath.Join(o.path, namesYCSB), []byte("default\n"+familyYCSB+"\n"), 0o666); err != nil {
			return nil, err
		}
	}
	if !t.Load {
		return d, d.hasRecords(records)
	}
	return d, nil
}

// openStore opens the database, or makes it.
func (d *database) openStore(family string, create bool) error {
	how := C.opening{
		path: C.CString(d.path), family: C.CString(family), options: C.CString(d.own),
		create: truth(create), no_wal: truth(d.noWAL), sync: truth(d.sync),
		statistics: truth(len(d.counters) > 0), cache: C.size_t(d.cache),
	}
	defer C.free(unsafe.Pointer(how.path))
	defer C.free(unsafe.Pointer(how.family))
	defer C.free(unsafe.Pointer(how.options))
	if d.file != "" {
		folder, err := folderOf(d.file)
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		how.options_from = C.CString(folder)
		defer C.free(unsafe.Pointer(how.options_from))
	}
	return failed(C.store_open(&how, &d.store))
}

// folderOf makes a folder with an options file alone, under the name that RocksDB looks for: its C API reads no other.
func folderOf(file string) (string, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp("", "openload-options-")
	if err != nil {
		return "", err
	}
	if err := os.Symlink(path, filepath.Join(folder, "OPTIONS-000001")); err != nil {
		os.RemoveAll(folder)
		return "", err
	}
	return folder, nil
}

func (d *database) hasRecords(records workload.Records) error {
	s := &session{database: d}
	op := workload.Operation{Kind: workload.Read, Field: -1}
	for n := records.Start; n < records.Start+records.Count && n < records.Start+looked; n++ {
		op.Number, op.Key = n, workload.AppendKey(op.Key[:0], n, records.Hashed, records.Padding)
		outcome := s.Do(&op)
		if outcome.Err != nil || !outcome.NotFound {
			return outcome.Err
		}
	}
	return fmt.Errorf("%s has none of the first %d records: load them first, with the same --layout and sizes", d.path, looked)
}

func truth(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

func (d *database) Name() string    { return "rocksdb" }
func (d *database) Library() string { return "librocksdb " + d.version }
func (d *database) InProcess() bool { return true }

// Settle implements target.Settling.
func (d *database) Settle(stopped func() bool) error {
	if err := failed(C.store_flush(d.store)); err != nil {
		return err
	}
	const look, quiet = 20 * time.Millisecond, 5 // a compaction that is due starts within moments
	for idle := 0; idle < quiet && !stopped(); idle++ {
		time.Sleep(look)
		if C.store_busy(d.store) != 0 {
			idle = -1
		}
	}
	return nil
}

// CountEvery implements target.Counting.
func (d *database) CountEvery() time.Duration {
	if len(d.counters) == 0 {
		return 0
	}
	return time.Duration(d.every * float64(time.Second))
}

// Counters implements target.Counting.
func (d *database) Counters() map[string]int64 {
	text := C.store_counters(d.store)
	if text == nil {
		return nil
	}
	defer C.free(unsafe.Pointer(text))
	return countersIn(C.GoString(text), d.counters)
}

// Close is not called while a worker is still in the library: the process ends then.
func (d *database) Close() { C.store_close(d.store) }

func (d *database) Session(int) (target.Session, error) { return &session{database: d}, nil }
