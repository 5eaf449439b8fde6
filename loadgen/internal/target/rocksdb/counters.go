package rocksdb

import (
	"strconv"
	"strings"
)

// countersIn finds counters in what RocksDB prints of its statistics: `rocksdb.bytes.read COUNT : 42`, a line each.
func countersIn(text string, wanted []string) map[string]int64 {
	found := map[string]int64{}
	for _, line := range strings.Split(text, "\n") {
		name, rest, _ := strings.Cut(line, " ")
		for _, each := range wanted {
			if name != each {
				continue
			}
			if count, err := strconv.ParseInt(strings.TrimPrefix(rest, "COUNT : "), 10, 64); err == nil {
				found[name] = count
			}
		}
	}
	return found
}
