//go:build tools

// Pins, by go.mod and go.sum, what go-ycsb's command needs for MongoDB. The command itself is taken from
// the verified module when it is built (see ../setup.sh), less the bindings of some twenty other databases.
package main

import (
	_ "github.com/chzyer/readline"
	_ "github.com/magiconair/properties"
	_ "github.com/pingcap/go-ycsb/pkg/client"
	_ "github.com/pingcap/go-ycsb/pkg/measurement"
	_ "github.com/pingcap/go-ycsb/pkg/prop"
	_ "github.com/pingcap/go-ycsb/pkg/util"
	_ "github.com/pingcap/go-ycsb/pkg/workload"
	_ "github.com/pingcap/go-ycsb/pkg/ycsb"
	_ "github.com/spf13/cobra"
	_ "github.com/pingcap/go-ycsb/db/basic"
	_ "github.com/pingcap/go-ycsb/db/mongodb"
)
