//go:build cgo

// Command openload-rocksdb offers load to a RocksDB database in its own process.
package main

import (
	"flag"
	"os"

	"benchbrief/loadgen/internal/program"
	"benchbrief/loadgen/internal/target/rocksdb"
	"benchbrief/loadgen/internal/workload"
)

func main() {
	var adjust func(*workload.Records)
	os.Exit(program.Main(program.Program{
		Name: "openload-rocksdb", Target: "rocksdb",
		Flags: func(flags *flag.FlagSet) (open program.Opener) {
			open, adjust = rocksdb.Flags(flags)
			return open
		},
		Records: func(records *workload.Records) { adjust(records) },
		Facts:   rocksdb.Library,
	}, os.Args[1:]))
}
