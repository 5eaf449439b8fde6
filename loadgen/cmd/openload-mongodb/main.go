// Command openload-mongodb offers load to a MongoDB server.
package main

import (
	"flag"
	"os"

	"benchbrief/loadgen/internal/program"
	"benchbrief/loadgen/internal/target/mongodb"
)

func main() {
	os.Exit(program.Main(program.Program{
		Name: "openload-mongodb", Target: "mongodb",
		Flags: func(flags *flag.FlagSet) program.Opener { return mongodb.Flags(flags) },
		Facts: mongodb.Library,
	}, os.Args[1:]))
}
