package rocksdb

import (
	"reflect"
	"testing"
)

func TestCountersAreFoundByTheirWholeNames(t *testing.T) {
	text := "rocksdb.bytes.read COUNT : 42\nrocksdb.bytes.read.more COUNT : 7\n" +
		"rocksdb.db.get.micros P50 : 1.0 COUNT : 3 SUM : 5\nrocksdb.stall.micros COUNT : 0\n"
	found := countersIn(text, []string{"rocksdb.bytes.read", "rocksdb.stall.micros", "rocksdb.db.get.micros", "rocksdb.other"})
	if want := map[string]int64{"rocksdb.bytes.read": 42, "rocksdb.stall.micros": 0}; !reflect.DeepEqual(found, want) {
		t.Errorf("%v", found)
	}
}
